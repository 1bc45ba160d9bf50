// Package result makes of the rows of a statement what MySQL sends: columns, values as text, and
// batches of rows, of which the first is held back until the statement can hardly fail any more.
package result
