package tpch

import (
	"fmt"
	"path"
	"strings"

	"scrim/testdata"
)

// Query is one of the 22.
type Query struct {
	Name string // q01 to q22
	Text string // without a semicolon
	// Values are the columns that are sums, counts and means; the others are keys. None where the
	// answer is a list of rows.
	Values []string
	// Persons is an exact query with the same answer that adds up per customer first, as a private
	// answer has to; "": none.
	Persons string
	// Instead is a question of the same kind about many customers, with its values, where the query
	// lists customers or has a few in each row; "": none.
	Instead       string
	InsteadValues []string
	// InsteadBoth is the same where suppliers are protected, too.
	InsteadBoth       string
	InsteadBothValues []string
}

// values are the columns of each query that are sums, counts and means.
var values = [22]string{
	0:  "sum_qty sum_base_price sum_disc_price sum_charge avg_qty avg_price avg_disc count_order",
	2:  "revenue",
	3:  "order_count",
	4:  "revenue",
	5:  "revenue",
	6:  "revenue",
	7:  "mkt_share",
	8:  "sum_profit",
	9:  "revenue",
	10: "value",
	11: "high_line_count low_line_count",
	12: "custdist",
	13: "promo_revenue",
	14: "total_revenue",
	15: "supplier_cnt",
	16: "avg_yearly",
	17: "SUM(l_quantity)",
	18: "revenue",
	20: "numwait",
	21: "numcust totacctbal",
}

// insteadValues are those of the questions under instead, by the place of the query.
var insteadValues = map[int]string{2: "revenue", 9: "revenue", 14: "revenue", 16: "avg_yearly", 17: "large_orders quantity", 19: "quantity", 20: "numwait", 21: "numcust totacctbal"}

// insteadBothValues are those of the questions under instead_both.
var insteadBothValues = map[int]string{
	0: "count_order sum_qty sum_disc_price avg_disc", 1: "offers cost", 3: "high_late_lines low_late_lines", 8: "sum_profit", 9: "revenue returned", 14: "revenue",
	17: "large_orders total", 19: "quantity", 20: "numwait",
}

// Queries are the 22 queries with the parameters of the validation run.
func Queries() []Query {
	out := make([]Query, len(values))
	for i := range out {
		name := fmt.Sprintf("q%02d", i+1)
		out[i] = Query{Name: name, Text: file(name), Values: strings.Fields(values[i]), Persons: file("persons/" + name), Instead: file("instead/" + name),
			InsteadValues: strings.Fields(insteadValues[i]), InsteadBoth: file("instead_both/" + name), InsteadBothValues: strings.Fields(insteadBothValues[i])}
		if out[i].InsteadBoth == "" {
			out[i].InsteadBoth, out[i].InsteadBothValues = out[i].Instead, out[i].InsteadValues
		}
	}
	return out
}

// file is a file of the program, "" for none.
func file(name string) string {
	b, err := testdata.TPCH.ReadFile(path.Join("tpch", name+".sql"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
