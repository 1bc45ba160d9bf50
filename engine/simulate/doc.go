// Package simulate runs a collection in memory over the values of a query, before anybody
// contributes to it. Over public tables the values are read as the client may read them. Over a
// protected table they are charged for, and nothing is told that the collection itself would not
// tell.
package simulate
