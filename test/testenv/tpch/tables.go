package tpch

import "math"

// Table is one table of the benchmark.
type Table struct {
	Name    string
	Columns string // as in CREATE TABLE name (Columns)
}

// Tables are all tables, those first that others refer to. A key of one column is declared; the
// store would check one of several at each row, and no query needs it.
func Tables() []Table {
	return []Table{
		{"region", "r_regionkey INTEGER PRIMARY KEY, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152)"},
		{"nation", "n_nationkey INTEGER PRIMARY KEY, n_name CHAR(25) NOT NULL, n_regionkey INTEGER NOT NULL, n_comment VARCHAR(152)"},
		{"supplier", "s_suppkey BIGINT PRIMARY KEY, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL, s_nationkey INTEGER NOT NULL, " +
			"s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL, s_comment VARCHAR(101) NOT NULL"},
		{"part", "p_partkey BIGINT PRIMARY KEY, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL, p_brand CHAR(10) NOT NULL, p_type VARCHAR(25) NOT NULL, " +
			"p_size INTEGER NOT NULL, p_container CHAR(10) NOT NULL, p_retailprice DECIMAL(15,2) NOT NULL, p_comment VARCHAR(23) NOT NULL"},
		{"partsupp", "ps_partkey BIGINT NOT NULL, ps_suppkey BIGINT NOT NULL, ps_availqty INTEGER NOT NULL, ps_supplycost DECIMAL(15,2) NOT NULL, " +
			"ps_comment VARCHAR(199) NOT NULL"},
		{"customer", "c_custkey BIGINT PRIMARY KEY, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL, c_nationkey INTEGER NOT NULL, " +
			"c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL, c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL"},
		{"orders", "o_orderkey BIGINT PRIMARY KEY, o_custkey BIGINT NOT NULL, o_orderstatus CHAR(1) NOT NULL, o_totalprice DECIMAL(15,2) NOT NULL, " +
			"o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL, o_clerk CHAR(15) NOT NULL, o_shippriority INTEGER NOT NULL, o_comment VARCHAR(79) NOT NULL"},
		{"lineitem", "l_orderkey BIGINT NOT NULL, l_partkey BIGINT NOT NULL, l_suppkey BIGINT NOT NULL, l_linenumber INTEGER NOT NULL, " +
			"l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL, l_discount DECIMAL(15,2) NOT NULL, l_tax DECIMAL(15,2) NOT NULL, " +
			"l_returnflag CHAR(1) NOT NULL, l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL, l_receiptdate DATE NOT NULL, " +
			"l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL, l_comment VARCHAR(44) NOT NULL"},
	}
}

// Sizes are the numbers of rows that a scale factor gives; lineitem has one to seven an order.
type Sizes struct {
	Suppliers, Parts, Customers, Orders int
}

// SizesOf returns the sizes at a scale factor, none below what the formulas of keys need.
func SizesOf(scale float64) Sizes {
	rows := func(one float64, least int) int { return max(int(math.Round(one*scale)), least) }
	return Sizes{Suppliers: rows(10_000, suppliersPerPart), Parts: rows(200_000, suppliersPerPart), Customers: rows(150_000, 2), Orders: rows(1_500_000, 1)}
}
