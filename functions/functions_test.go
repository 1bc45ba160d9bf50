package functions

import (
	"math/big"
	"reflect"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/quantile"
	"scrim/engine/estimator/variance"
	"scrim/internal/refuse"
)

func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, f := range All() {
		for _, n := range append([]string{f.Name}, f.Aliases...) {
			if names[n] || n != strings.ToUpper(n) {
				t.Errorf("%s is there twice or not in upper case", n)
			}
			names[n] = true
			if g, ok := ByName(strings.ToLower(n)); !ok || g != f {
				t.Errorf("ByName(%s) does not find it", n)
			}
		}
		if f.Doc == "" || f.Signature == "" || f.MinArgs > f.MaxArgs {
			t.Errorf("%s is not documented, or its arguments make no sense", f.Name)
		}
		if (f.Role == Private) != (f.Instead == "") || (f.Role != Refused) != (f.Example != "") {
			t.Errorf("%s: want an example, or for a function that is not private what serves instead", f.Name)
		}
		for _, o := range f.Options {
			documented(o) // panics when it is not
		}
	}
	for _, n := range []string{
		"DP_COUNT", "DP_SUM", "DP_MEAN", "DP_AVG", "DP_VARIANCE", "DP_STDDEV", "DP_QUANTILE", "DP_QUANTILES", "DP_MEDIAN",
		"COUNT", "SUM", "AVG", "VAR_POP", "VARIANCE", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP", "STDDEV", "STD",
		"CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "DP_CORR", "DP_COVAR_POP", "DP_COVAR_SAMP", "DP_REGR_SLOPE", "DP_REGR_INTERCEPT", "DP_REGR_R2",
		"MIN", "MAX", "GROUP_CONCAT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "BIT_AND", "BIT_OR", "BIT_XOR", "ANY_VALUE", "FIRST", "LAST",
	} {
		if !names[n] {
			t.Errorf("%s is missing", n)
		}
	}
	if _, ok := ByName("DP_NOTHING"); ok {
		t.Error("ByName finds what is not there")
	}
}

// TestPlainAggregatesKeepTheirMeaning checks what SQL says about each rewritten aggregate.
func TestPlainAggregatesKeepTheirMeaning(t *testing.T) {
	p := estimator.Params{Rho: 0.5, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1000, Hi: 1000}}
	for name, want := range map[string]struct{ clamp, stddev, population bool }{
		"COUNT": {clamp: true}, "SUM": {clamp: true}, "AVG": {},
		"VAR_POP": {population: true}, "VARIANCE": {population: true}, "VAR_SAMP": {},
		"STDDEV_POP": {false, true, true}, "STDDEV": {false, true, true}, "STD": {false, true, true}, "STDDEV_SAMP": {false, true, false},
		"DP_COUNT": {}, "DP_VARIANCE": {}, "DP_STDDEV": {stddev: true},
	} {
		f, _ := ByName(name)
		if f.AtLeastZero != want.clamp {
			t.Errorf("%s: got clamp %v", name, f.AtLeastZero)
		}
		if f.Squares {
			got, err := Call{Function: f}.Estimator(p)
			if right, _ := variance.NewRows(p, variance.Options{Stddev: want.stddev, Population: want.population}); err != nil || !reflect.DeepEqual(got, right) {
				t.Errorf("%s: got %+v, %v, want stddev %v, population %v", name, got, err, want.stddev, want.population)
			}
		}
		if f.Role == Rewritten && f.Weight != ByRow {
			t.Errorf("%s does not weigh rows", name)
		}
		if f.Role == Private && f.Weighed && f.Weight != ByPerson {
			t.Errorf("%s does not weigh persons", name)
		}
	}
}

func TestParseOptions(t *testing.T) {
	f, _ := ByName("DP_MEAN")
	o, err := ParseOptions(f, " Lower = -1.5 ,UPPER=2e2, Weight=ROW, method=Auto, epsilon=0.25 ")
	if err != nil {
		t.Fatal(err)
	}
	if o.Lower.Cmp(big.NewRat(-3, 2)) != 0 || o.Upper.Cmp(big.NewRat(200, 1)) != 0 || o.Weight != ByRow || o.Method != "auto" || o.Epsilon != 0.25 || o.Rho != 0 {
		t.Errorf("got %+v", o)
	}
	if o, err := ParseOptions(f, ""); err != nil || o.Weight != ByPerson || o.Lower != nil || o.Epsilon != 0 {
		t.Errorf("no options: got %+v, %v", o, err)
	}
	for _, bad := range []string{
		"lower=1", "upper=1", "lower=2, upper=1", "lower=1, upper=1", "lower=nan, upper=1", "lower=-inf, upper=inf",
		"lower=1e999, upper=2e999", "lower=0, upper=9e18", "lower=1/3, upper=1", "lower=0x1, upper=9",
		"epsilon=0", "epsilon=-1", "epsilon=nan", "epsilon=inf", "epsilon=1e308", "epsilon=1e-300", "epsilon=", "epsilon=x", "epsilon=0x1p3", "epsilon=101",
		"rho=0", "rho=1e4", "epsilon=1, rho=1", "epsilon=1, epsilon=1", "Epsilon=1, epsilon=2",
		"weight=both", "weight", "=1", "method=best", "p=0.9", "p=inf", "tail=long", "rotate=yes", "quantile=sort", "scale=some", "pairs=0", "pairs=1.5", "rounds=17",
		"radius=-1", "sigma=", "sigma=[]", "sigma=[1,]", "sigma=[1", "sigma=1]", "sigma=[1,nan]", "sigma_min=2, sigma_max=1", "dimension=0", "dimension=1e3", "dimension=1048577", "answer=csv", "relative=1", "colour=red", "max_rows=3", "lower=1, upper=2, lower=1", "epsilon=1; rho=1", `{"epsilon":1}`,
	} {
		_, err := ParseOptions(f, bad)
		e, ok := refuse.As(err)
		if !ok || e.Code != refuse.Option {
			t.Errorf("%q: got %v, want %s", bad, err, refuse.Option)
			continue
		}
		for _, name := range f.Options {
			if !strings.Contains(e.Error(), name) {
				t.Errorf("%q: the message does not list the option %s: %s", bad, name, e)
			}
		}
		if len(e.Error()) > 500 {
			t.Errorf("%q: the message has %d bytes", bad, len(e.Error()))
		}
	}
	if _, err := ParseOptions(f, strings.Repeat("x", 1<<20)); err == nil || len(err.Error()) > 500 {
		t.Error("a long option is echoed in full")
	}
	count, _ := ByName("DP_COUNT")
	if _, err := ParseOptions(count, "lower=0, upper=1"); err == nil {
		t.Error("DP_COUNT takes bounds")
	}
	plain, _ := ByName("SUM")
	if _, err := ParseOptions(plain, "epsilon=1"); err == nil {
		t.Error("SUM takes options")
	}
}

func TestFractions(t *testing.T) {
	q, _ := ByName("DP_QUANTILE")
	for text, want := range map[string]quantile.Fraction{"0.9": {Num: 9, Den: 10}, " .25": {Num: 1, Den: 4}, "1e-3": {Num: 1, Den: 1000}} {
		c, err := NewCall(q, text, "")
		if err != nil || len(c.Fractions) != 1 || c.Fractions[0] != want {
			t.Errorf("%q: got %v, %v, want %v", text, c.Fractions, err, want)
		}
	}
	for _, bad := range []string{"", "0", "1", "0.0", "1.0", "-0.1", "1.1", "nan", "inf", "1e-300", "0.00000001", "half", "1e999999999"} {
		_, err := NewCall(q, bad, "")
		if e, ok := refuse.As(err); !ok || e.Code != refuse.Option || !strings.Contains(e.Error(), "belong to one person") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
	many, _ := ByName("DP_QUANTILES")
	c, err := NewCall(many, "[0.75, 0.25, 0.5]", "lower=0, upper=9")
	if err != nil || len(c.Fractions) != 3 || c.Fractions[0] != (quantile.Fraction{Num: 3, Den: 4}) {
		t.Errorf("got %v, %v", c.Fractions, err)
	}
	for _, bad := range []string{"", "[]", "[0.5", "[0.5]]", "[0.5] 1", "[0.5, 1]", "[null]", `["a"]`, "0.5", "{}", "[" + strings.Repeat("0.5,", 64) + "0.5]"} {
		if _, err := NewCall(many, bad, ""); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	median, _ := ByName("DP_MEDIAN")
	if c, err := NewCall(median, "", ""); err != nil || len(c.Fractions) != 1 || c.Fractions[0] != quantile.Median {
		t.Errorf("DP_MEDIAN: got %v, %v", c.Fractions, err)
	}
}

// TestEstimators builds every function's estimator and checks which columns it reads: what is
// weighed by persons must not read more than one value a person.
func TestEstimators(t *testing.T) {
	lo, hi := int64(0), int64(100)
	grid := estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 43, Hi: 1 << 43}
	params := estimator.Params{Rho: 0.5, Grid: grid}
	bounded := estimator.Params{Rho: 0.5, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: lo, Hi: hi}, Lower: &lo, Upper: &hi, MaxRows: 3}
	for _, f := range All() {
		if f.Role == Refused {
			continue
		}
		q := map[string]string{"DP_QUANTILE": "0.5", "DP_QUANTILES": "[0.1, 0.9]"}[f.Name]
		c, err := NewCall(f, q, "")
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		for _, p := range []estimator.Params{params, bounded} {
			if f.Two {
				p.Other = &estimator.Other{Grid: p.Grid, Lower: p.Lower, Upper: p.Upper}
			}
			e, err := c.Estimator(p)
			if err != nil {
				t.Errorf("%s: %v", f.Name, err)
				continue
			}
			if got := e.Loss().Rho.Float(); !(got > 0) || got > p.Rho*(1+1e-9) {
				t.Errorf("%s costs rho %v of %v", f.Name, got, p.Rho)
			}
			for _, k := range e.Columns() {
				if k == estimator.Value {
					t.Errorf("%s reads rows one by one", f.Name)
				}
			}
		}
	}
	units, _ := ByName("COUNT")
	c, _ := NewCall(units, "", "")
	c.Units = true
	if _, err := c.Estimator(estimator.Params{Rho: 0.5}); err != nil {
		t.Errorf("COUNT(DISTINCT unit): %v", err)
	}
}

// TestRowQuantilesNeedABound: without a public bound on a person's rows, one person could be any
// share of the rows.
func TestRowQuantilesNeedABound(t *testing.T) {
	f, _ := ByName("DP_MEDIAN")
	c, err := NewCall(f, "", "weight=row")
	if err != nil {
		t.Fatal(err)
	}
	p := estimator.Params{Rho: 0.5, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1000, Hi: 1000}}
	_, err = c.Estimator(p)
	if e, ok := refuse.As(err); !ok || e.Code != refuse.Option || !strings.Contains(e.Error(), "max_rows_per_unit") {
		t.Errorf("got %v", err)
	}
	p.MaxRows = 4
	e, err := c.Estimator(p)
	if err != nil {
		t.Fatal(err)
	}
	if cols := e.Columns(); len(cols) != 1 || cols[0] != estimator.Value {
		t.Errorf("row-weighted quantiles read %v", cols)
	}
}

func TestReference(t *testing.T) {
	text, rows := Reference(), Rows()
	if n := len(All()) + len(errorBarFunctions) + len(scalars) + len(reportFunctions); len(rows) != n {
		t.Errorf("dp.functions has %d rows for %d functions", len(rows), n)
	}
	for _, f := range errorBarFunctions {
		if !strings.Contains(text, "`"+f.Signature+"`") || f.Doc == "" || f.Example == "" {
			t.Errorf("the reference misses %s", f.Name)
		}
	}
	for _, f := range reportFunctions {
		if !strings.Contains(text, "`"+f.Signature+"`") || strings.Contains(f.Doc, "%") || f.Example == "" {
			t.Errorf("the reference misses %s", f.Name)
		}
	}
	for _, f := range scalars {
		if !strings.Contains(text, "`"+f.Signature+"`") || f.Doc == "" || f.Example == "" {
			t.Errorf("the reference misses %s", f.Name)
		}
	}
	for i, f := range All() {
		for _, o := range f.Options {
			if !strings.Contains(rows[i].Options, o+" = "+documented(o).Values) {
				t.Errorf("dp.functions does not document the option %s of %s", o, f.Name)
			}
		}
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if !strings.Contains(text, "`"+name) {
				t.Errorf("the reference misses %s", name)
			}
		}
	}
	for _, o := range optionTable {
		if !strings.Contains(text, "| `"+o.Name+"` |") {
			t.Errorf("the reference misses the option %s", o.Name)
		}
	}
	for i, line := range strings.Split(text, "\n") {
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "|") && n != 4 && n != 5 {
			t.Errorf("line %d has %d cells: %s", i+1, n-1, line)
		}
	}
}
