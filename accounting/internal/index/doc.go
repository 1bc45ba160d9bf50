// Package index finds records without reading them: sets of record numbers by principal, account,
// table, kind, outcome, digest and number of lines, and columns by record number. The index of a
// part of the records is made apart, is kept in a file as a segment, and joined in its order.
package index
