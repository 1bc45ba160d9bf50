// Package refuse is the vocabulary of refusals: one table of codes, each with a SQLSTATE, the
// cause in general and the remedy, and the error type that carries one refusal to the client.
//
// A refusal may speak of the query, the catalogue, the parameters and the budget; never of rows,
// counts or messages of the backing store. Everything that is not a refusal is turned into one
// fixed error by package engine before a client sees it.
package refuse
