package functions

import (
	"slices"
	"strings"
	"testing"
)

// TestIncompleteRowsDoNotStart: a row that could not be answered is an error of the table.
func TestIncompleteRowsDoNotStart(t *testing.T) {
	good := func() *Function {
		return &Function{Name: "DP_NEW", Role: Private, Measure: sums, Signature: "DP_NEW(x)", MinArgs: 1, MaxArgs: 1, Doc: "New.", Example: "SELECT DP_NEW(x) FROM t"}
	}
	if _, err := index(append(slices.Clone(table), good())); err != nil {
		t.Fatalf("a complete row: %v", err)
	}
	for name, spoil := range map[string]func(*Function){
		"no estimator":      func(f *Function) { f.Measure = Measure{} },
		"no name":           func(f *Function) { f.Name = "" },
		"lower case":        func(f *Function) { f.Name = "dp_new" },
		"another's name":    func(f *Function) { f.Name = "DP_SUM" },
		"another's alias":   func(f *Function) { f.Aliases = []string{"DP_AVG"} },
		"a scalar's name":   func(f *Function) { f.Name = "DP_VECTOR" },
		"a bar's name":      func(f *Function) { f.Name = "DP_LOW" },
		"a report's name":   func(f *Function) { f.Name = "LDP_MEAN" },
		"no signature":      func(f *Function) { f.Signature = "" },
		"no documentation":  func(f *Function) { f.Doc = "" },
		"no example":        func(f *Function) { f.Example = "" },
		"arguments":         func(f *Function) { f.MinArgs = 2 },
		"unread constant":   func(f *Function) { f.MaxArgs = 2 },
		"unknown option":    func(f *Function) { f.Options = []string{"colour"} },
		"an instead":        func(f *Function) { f.Instead = "DP_SUM" },
		"a private form":    func(f *Function) { f.DPForm = "DP_SUM" },
		"plain, no form":    func(f *Function) { f.Role, f.Instead = Rewritten, "DP_SUM" },
		"plain, wrong form": func(f *Function) { f.Role, f.Instead, f.DPForm = Rewritten, "DP_SUM", "SUM" },
		"no instead":        func(f *Function) { f.Role, f.DPForm = Rewritten, "DP_SUM" },
	} {
		f := good()
		spoil(f)
		if _, err := index(append(slices.Clone(table), f)); err == nil || !strings.HasPrefix(err.Error(), "functions: ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestPrivateForms: a plain aggregate and its private form estimate the same.
func TestPrivateForms(t *testing.T) {
	for name, want := range map[string]string{
		"COUNT": "DP_COUNT", "SUM": "DP_SUM", "AVG": "DP_MEAN", "VAR_SAMP": "DP_VARIANCE", "STD": "DP_STDDEV", "DP_MEDIAN": "DP_MEDIAN", "MIN": "DP_MIN", "BIT_OR": "BIT_OR",
	} {
		f, _ := ByName(name)
		if got := f.Private().Name; got != want {
			t.Errorf("%s: private form %s, want %s", name, got, want)
		}
	}
}
