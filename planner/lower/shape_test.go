package lower_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// TestShape prints the SQL, its type and the values that it binds, or the refusal.
func TestShape(t *testing.T) {
	b := newBinder(t)
	datadriven.Walk(t, "testdata/shape", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, text := range strings.Split(d.Input, "\n") {
				fmt.Fprintln(&out, shape(b, text, d.Cmd == "predicate"))
			}
			return out.String()
		})
	})
}

func shape(b *binder, text string, predicate bool) string {
	e, err := b.bind(text)
	if err != nil {
		return "bind: " + err.Error()
	}
	f := lower.Lower
	if predicate {
		f = lower.LowerPredicate
	}
	var args lower.Binder
	x, err := f(b.ctx, e, &args, resolve)
	if err != nil {
		var r *refuse.Error
		if !errors.As(err, &r) {
			return "unexpected: " + err.Error()
		}
		return string(r.Code) + ": " + r.Cause
	}
	null := ""
	if x.Nullable {
		null = " null"
	}
	kind := fmt.Sprint(x.Type.Kind)
	if x.Type.Kind == lower.Decimal {
		kind += fmt.Sprintf("(%d,%d)", x.Type.Precision, x.Type.Scale)
	}
	return fmt.Sprintf("%s%s: %s %q", kind, null, x.SQL, args.Args())
}

func TestBindVar(t *testing.T) {
	b := newBinder(t)
	gf := expression.NewGetField(1, types.Int64, "i", true)
	e := expression.NewPlus(gf, expression.NewBindVar("v1"))
	if _, err := lower.Lower(b.ctx, e, &lower.Binder{}, resolve); !errors.Is(err, lower.ErrBindVar) {
		t.Errorf("got %v, want ErrBindVar", err)
	}
}

// TestConstants checks that constants of the statement become values.
func TestConstants(t *testing.T) {
	b := newBinder(t)
	for text, kind := range map[string]lower.Kind{
		"NOW()": lower.Datetime, "CURRENT_TIMESTAMP(3)": lower.Datetime, "CURDATE()": lower.Date, "USER()": lower.String, "DATABASE()": lower.String,
		"@@max_connections": lower.Int, "@@time_zone": lower.String, "PI()": lower.Double, "UNIX_TIMESTAMP()": lower.Int,
		"@unset": lower.Null, "DATE_SUB(CURDATE(), INTERVAL 30 DAY)": lower.Date, "YEAR(NOW())": lower.Int,
	} {
		e, err := b.bind(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		x, err := lower.Lower(b.ctx, e, &lower.Binder{}, resolve)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if x.Type.Kind != kind {
			t.Errorf("%s: kind %d, want %d (%s)", text, x.Type.Kind, kind, x.SQL)
		}
	}
}

// TestForeignColumn checks that a column of another relation is refused, not guessed.
func TestForeignColumn(t *testing.T) {
	b := newBinder(t)
	none := func(*expression.GetField) (lower.Expr, bool) { return lower.Expr{}, false }
	_, err := lower.Lower(b.ctx, expression.NewGetField(0, types.Int64, "i", true), &lower.Binder{}, none)
	if r, ok := refuse.As(err); !ok || r.Code != refuse.Expression {
		t.Errorf("got %v", err)
	}
}

// TestLimits checks that what is too deep or too large is refused when it is planned.
func TestLimits(t *testing.T) {
	b := newBinder(t)
	deep := func(n int) string { return strings.Repeat("ABS(", n) + "i" + strings.Repeat(")", n) }
	for text, ok := range map[string]bool{
		deep(38): true,
		deep(90): false,
		"i IN (" + strings.Repeat("1,", 5000) + "2)":                              true,
		"s IN (" + strings.Repeat("'"+strings.Repeat("x", 9)+"',", 20000) + "'')": false,
		"i = 1" + strings.Repeat(" OR i = 2", 500):                                true,
	} {
		e, err := b.bind(text)
		if err != nil {
			t.Fatalf("%.40s: %v", text, err)
		}
		var args lower.Binder
		x, err := lower.Lower(b.ctx, e, &args, resolve)
		if (err == nil) != ok {
			t.Errorf("%.40s: %v", text, err)
		}
		if err == nil {
			db := openStore(t)
			if err := total(db, x, args.Args()); err != nil {
				t.Errorf("%.40s: %v", text, err)
			}
		}
	}
}

// TestDeepest runs the worst nesting that is allowed, so that the store's own limit is never met.
func TestDeepest(t *testing.T) {
	b := newBinder(t)
	db := openStore(t)
	for _, form := range []string{"ROUND(%s, 1)", "(%s + 1)", "(%s / 3)", "CONCAT(%s, 'a')", "SUBSTRING(%s, k)", "IF(%s, 1, 0)", "DATE_ADD(%s, INTERVAL k MONTH)", "(CASE %s WHEN i THEN 1 ELSE x END)", "(NOT %s)", "GREATEST(%s, i, m)", "WEEK(%s)", "LPAD(%s, k, s)", "CAST(%s AS DECIMAL(20,4))"} {
		text := "s"
		for range 36 {
			text = fmt.Sprintf(form, text)
		}
		e, err := b.bind(text)
		if err != nil {
			t.Fatal(err)
		}
		var args lower.Binder
		x, err := lower.Lower(b.ctx, e, &args, resolve)
		if err != nil {
			t.Logf("%s: %v", form, err)
			continue
		}
		if err := total(db, x, args.Args()); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
}

func TestFunctions(t *testing.T) {
	fs := lower.Functions()
	if len(fs) < 100 {
		t.Errorf("%d entries", len(fs))
	}
	for _, f := range fs {
		if f.Name == "" || f.Signature == "" {
			t.Errorf("entry %+v", f)
		}
	}
}

func TestIdentifier(t *testing.T) {
	if got := sqltext.StoreName(`a"b`); got != `"a""b"` {
		t.Error(got)
	}
}

// TestLiteral checks constants that no client can write but that a statement's variables can hold.
func TestLiteral(t *testing.T) {
	b := newBinder(t)
	for _, v := range []any{"\xff", "a\x00b"} {
		if _, err := lower.Literal(b.ctx, v, types.LongText, &lower.Binder{}); err == nil {
			t.Errorf("%q passed", v)
		}
	}
	var args lower.Binder
	x, err := lower.Literal(b.ctx, "it's", types.LongText, &args)
	if err != nil || x.SQL != "CAST($1 AS VARCHAR)" || args.Args()[0] != "it's" {
		t.Errorf("%+v %v", x, err)
	}
}

func TestConvert(t *testing.T) {
	db := openStore(t)
	for _, c := range columns {
		for _, k := range []lower.Type{{Kind: lower.Int}, {Kind: lower.Double}, {Kind: lower.String}, {Kind: lower.Datetime}, {Kind: lower.Date}, {Kind: lower.Bool}, {Kind: lower.UInt}, {Kind: lower.Decimal, Precision: 38, Scale: 20}, {Kind: lower.JSON}} {
			x := lower.Convert(lower.ReadColumn("t."+sqltext.StoreName(c[0]), c[1]), k)
			if x.Type != k {
				t.Errorf("%s: %+v", c[0], x.Type)
			}
			if err := total(db, x, nil); err != nil {
				t.Errorf("%s to %d: %v", c[0], k.Kind, err)
			}
		}
	}
}
