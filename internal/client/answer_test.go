package client

import (
	"reflect"
	"testing"
)

// TestRounded: DOUBLEs have the digits that are asked for, everything else stays, and so does the
// answer itself.
func TestRounded(t *testing.T) {
	a := Answer{Columns: []string{"spent", "left", "of"}, Types: []string{"DOUBLE", "BIGINT", "TEXT"},
		Rows: [][]any{{0.80213345, int64(123456), "1.23456"}, {123456.7, nil, nil}, {9.9999, int64(1), "x"}}}
	want := [][]any{{0.802, int64(123456), "1.23456"}, {123000.0, nil, nil}, {10.0, int64(1), "x"}}
	if got := a.Rounded(3); !reflect.DeepEqual(got.Rows, want) || a.Rows[0][0] != 0.80213345 {
		t.Errorf("got %v of %v, want %v", got.Rows, a.Rows, want)
	}
}
