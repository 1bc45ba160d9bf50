// Package intake takes reports of collections over HTTP: at the server those of the local model, at
// a shuffler sealed bundles. docs/collections/http.md is its specification.
//
//	GET  /v1/collections/NAME/round?round=1&stratum=north   the canonical parameters, whose SHA-256 is the fingerprint
//	POST /v1/collections/NAME/reports {"token": …, "report": …}    taken once, durable when it is answered
//	GET  /report                                            at the server: the page behind a link
//
// What it does is what an INSERT into dp_in, or into a shuffler's inbox, does: the same Backend
// checks the same things in the same transaction. There is no account: the token is the credential.
//
// # What it tells
//
// The parameters are public. Of a report it tells that it was taken, or one of the refusals of
// handler.go, each with fixed words; they follow from the token, the bytes that were sent and the
// public state of the collection, and no row is looked at. Nothing is logged of who asked:
// addresses are held in memory, to bound connections and requests, and stand beside no report.
package intake
