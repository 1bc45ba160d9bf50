// Package tpch makes the data of the TPC-H benchmark and holds its 22 queries.
//
//	Tables   the eight tables, as a MySQL server makes them
//	Write    a CSV file of each, a function of the scale factor and the seed alone
//	Queries  the queries with the parameters of the validation run, in MySQL's dialect
//
// Numbers of rows, keys, ranges, dates, prices, words and the shares of comments with the phrases
// that queries look for are those of the specification (TPC-H, section 4.2). The random numbers are
// not those of its generator, so answers are near to those that are published and not the same.
package tpch
