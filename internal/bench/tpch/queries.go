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
}

// Queries are the 22 queries with the parameters of the validation run.
func Queries() []Query {
	out := make([]Query, 22)
	for i := range out {
		name := fmt.Sprintf("q%02d", i+1)
		text, err := testdata.TPCH.ReadFile(path.Join("tpch", name+".sql"))
		if err != nil {
			panic(err) // the file is part of the program
		}
		out[i] = Query{name, strings.TrimSpace(string(text))}
	}
	return out
}
