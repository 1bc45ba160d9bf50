// Package private asks a server the 22 queries of TPC-H as an analyst does who may see no customer,
// and compares the answers with the exact ones.
//
//	Setup     whose rows are protected: those of customers, by links
//	Run       loads the tables, asks each query several times, and each in its exact forms
//	Row       one query: its outcome, its error, its intervals, its times
//	Markdown  the rows as a table
//
// Each run asks for a slightly different ε, so that none is a replay of a stored answer.
package private
