// Package survey tells what a statement is before it is planned: the tables and place holders of
// its bound tree, the hints and the form of its text, and what is not a query.
//
// Statements that would take private rows elsewhere (INSERT, CREATE TABLE … SELECT, SET, ANALYZE
// TABLE) are refused here.
package survey
