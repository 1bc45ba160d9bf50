// Package testdata embeds the small public data sets that the demonstration and the tests load, and
// the queries of TPC-H. SOURCE.md says where they come from.
package testdata

import "embed"

// Files holds adult.csv.gz and visits.csv.gz.
//
//go:embed adult.csv.gz visits.csv.gz
var Files embed.FS

// TPCH holds tpch/q01.sql to tpch/q22.sql; under tpch/persons exact queries that add up the same
// per person first; under tpch/instead questions in the place of those that are refused, or that
// have too few persons a row; under tpch/instead_both those where suppliers are protected, too.
//
//go:embed tpch/*.sql tpch/*/*.sql
var TPCH embed.FS
