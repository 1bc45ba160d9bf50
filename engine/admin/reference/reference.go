// Package reference writes docs/reference.md and a part of docs/dialect.md from the tables that the
// server itself uses: functions, procedures, variables, the dp database and refusals; and who
// evaluates which of MySQL's functions, types and statements.
package reference

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/admin"
	"scrim/engine/mysql/dialect"
	"scrim/engine/mysql/gate"
	"scrim/engine/mysql/tables"
	"scrim/functions"
	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/internal/remark"
	"scrim/planner/lower"
)

// parts are what a document may hold between the lines <!-- NAME:begin --> and <!-- NAME:end -->.
var parts = map[string]func() string{"reference": Text, "dialect": Dialect}

func begin(name string) string { return "<!-- " + name + ":begin -->\n" }
func end(name string) string   { return "<!-- " + name + ":end -->\n" }

// Replace returns the document with the text between its marks written anew.
func Replace(document string) (string, error) {
	for name, text := range parts {
		head, rest, ok := strings.Cut(document, begin(name))
		_, tail, ok2 := strings.Cut(rest, end(name))
		if ok && ok2 {
			return head + begin(name) + text() + end(name) + tail, nil
		}
	}
	return "", errors.New("reference: the document does not have the marks <!-- reference:begin --> and <!-- reference:end -->, or those of the dialect")
}

// Text returns the whole reference as Markdown.
func Text() string {
	var b strings.Builder
	section := func(title, text string) { fmt.Fprintf(&b, "## %s\n\n%s\n", title, text) }
	section("Functions", functions.Reference())
	section("Procedures", "For DBAs; callable with and without a current database.\n\n"+admin.Reference())
	section("Session variables", variables())
	section("Tables of the database `dp`", shown())
	section("Warnings", warnings())
	section("Refusals", refusals())
	return b.String()
}

func variables() string {
	var b strings.Builder
	b.WriteString("| variable | range | unit | meaning |\n| --- | --- | --- | --- |\n")
	for _, p := range params.At(params.Session) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.Range(), p.Unit, p.Doc)
	}
	return b.String()
}

func shown() string {
	var b strings.Builder
	b.WriteString("| table | columns | what it shows |\n| --- | --- | --- |\n")
	for _, t := range admin.Tables() {
		fmt.Fprintf(&b, "| `dp.%s` | %s | %s |\n", t.Name, strings.Join(t.Columns, ", "), t.Doc)
	}
	return b.String()
}

func warnings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Warnings and notes on answers have the number %d as well; their messages begin with the code.\n\n| code | level | cause | remedy |\n| --- | --- | --- | --- |\n", refuse.MySQLErrno)
	for _, e := range remark.Table {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Code, e.Level, e.Cause, e.Remedy)
	}
	return b.String()
}

func refusals() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Error number %d with these SQLSTATEs; everything else has MySQL's own number.\n\n| SQLSTATE | cause | remedy |\n| --- | --- | --- |\n", refuse.MySQLErrno)
	for _, e := range refuse.Table {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", e.SQLState, e.Cause, e.Remedy)
	}
	return b.String()
}

// Dialect returns what the tables in the code say of MySQL's functions, types and statements, as
// Markdown.
func Dialect() string {
	var b strings.Builder
	section := func(title, text string) { fmt.Fprintf(&b, "## %s\n\n%s\n", title, text) }
	section("Functions and operators", placed())
	section("Aggregates", aggregates())
	section("Types in the store", storeTypes())
	section("Collations", collations())
	section("Statements that are refused", refusedForms())
	return b.String()
}

// collations lists the collations that texts may have.
func collations() string {
	var b strings.Builder
	b.WriteString("Columns, tables and databases, `COLLATE` and connections have one of these; others are refused. A text that is declared without one has its table's, which has its database's, " +
		"which has that of the option `collation-server`: `" + sql.Collation_utf8mb4_0900_ai_ci.Name() + "`. [How](decisions/collations.md)\n\n| character set | collation | equal | spaces at the end |\n| --- | --- | --- | --- |\n")
	for _, c := range collation.All() {
		equal, spaces := "by weights", "count"
		if collation.ByBytes(c) {
			equal = "by bytes"
		}
		if collation.Pads(c) {
			spaces = "do not count"
		}
		name := "`" + c.Name() + "`"
		if c.CharacterSet().DefaultCollation() == c {
			name += ", the character set's own"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.CharacterSet().Name(), name, equal, spaces)
	}
	return b.String()
}

// named writes names of functions as they are called; a mark follows those of ours.
func named(names []string, own []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = strings.ToUpper(n)
		if slices.Contains(own, strings.ToLower(n)) {
			list[i] += "*"
		}
	}
	return strings.Join(list, ", ")
}

// word reports whether a client can write a name: rules of the grammar write others.
func word(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' })
}

// placed says of every function and operator who evaluates it.
func placed() string {
	own := standard.Names()
	var seen, same []string // in lower case
	var b strings.Builder
	b.WriteString(`A block of a query over public tables is one SELECT of the store, where the store gives MySQL's values for all of it. Otherwise go-mysql-server evaluates
it over the store's rows; where its function is missing or wrong, one of ours takes its place (marked *; package ` + "`functions/standard`" + `). On protected rows all that
is computed of a row is computed by the store, and no row may raise: where MySQL would report an error, the value is NULL.

**Evaluated by the store**, on public and on protected rows; on protected rows with these differences to MySQL:

| expression | on protected rows |
| --- | --- |
`)
	for _, f := range lower.Functions() {
		star := ""
		for _, n := range f.Names {
			seen = append(seen, strings.ToLower(n))
			if slices.Contains(own, strings.ToLower(n)) {
				star = "*"
			}
		}
		signature := strings.ReplaceAll(f.Signature, "|", `\|`)
		switch {
		case f.Names == nil:
			if f.Remark == "" {
				same = append(same, f.Name)
				continue
			}
			if strings.Contains(f.Name, ", ") && !strings.Contains(f.Signature, "(") { // several operators, and an example of one
				signature = f.Name
			}
		case f.Remark == "" || strings.HasPrefix(f.Remark, "also ") && !strings.Contains(f.Remark, ";"):
			same = append(same, named(f.Names, own))
			continue
		}
		fmt.Fprintf(&b, "| `%s`%s | %s |\n", signature, star, f.Remark)
	}
	fmt.Fprintf(&b, "\nand without any: %s.\n\n", strings.Join(same, ", "))
	fmt.Fprintf(&b, "**Constants of the statement**, evaluated once when it is planned: %s, `@variable`, `@@variable`.\n\n", named(lower.Constants(), own))
	seen = append(seen, lists.Map(lower.Constants(), strings.ToLower)...)
	seen = append(seen, standard.OnlyOver()...)
	for _, f := range functions.All() {
		seen = append(seen, strings.ToLower(f.Name))
		seen = append(seen, lists.Map(slices.Concat(f.Aliases, f.Bound), strings.ToLower)...)
	}

	var ours, theirs []string
	why := map[string][]string{}
	var reasons []string
	all := slices.Clone(own)
	all = append(all, lists.Map(gms.BuiltIns, sql.Function.FunctionName)...)
	slices.Sort(all)
	for _, n := range slices.Compact(all) {
		switch {
		case !word(n) || slices.Contains(seen, n):
		case slices.Contains(gate.ForNobody, n) || slices.Contains(gate.ForDBAs, n):
		case lower.Forbidden(n) != "":
			r := lower.Forbidden(n)
			if why[r] == nil {
				reasons = append(reasons, r)
			}
			why[r] = append(why[r], n)
		case slices.Contains(own, n):
			ours = append(ours, n)
		default:
			theirs = append(theirs, n)
		}
	}
	fmt.Fprintf(&b, "**Evaluated by functions of ours** on public rows and over answers; refused on protected rows (`%s`): %s.\n\n",
		strings.Replace(refusedOn(call("bin", gms.BuiltIns, column(1, types.Int64))), "BIN", "NAME", 1), named(ours, nil))
	fmt.Fprintf(&b, "**Evaluated by go-mysql-server** on public rows and over answers; refused on protected rows likewise: %s.\n\n", named(theirs, nil))
	b.WriteString("**Refused on protected rows for what they do**:\n\n| functions | why |\n| --- | --- |\n")
	slices.Sort(reasons)
	for _, r := range reasons {
		fmt.Fprintf(&b, "| %s | %s |\n", named(why[r], own), r)
	}
	fmt.Fprintf(&b, "| %s | for DBAs only, on any rows |\n| %s | for nobody |\n", named(gate.ForDBAs, nil), named(gate.ForNobody, nil))
	b.WriteString("\n**Operators that are refused on protected rows**; on public rows go-mysql-server evaluates them:\n\n| operator | error |\n| --- | --- |\n")
	for _, o := range operators() {
		if text := refusedOn(o.of); text != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(o.text, "|", `\|`), text)
		}
	}
	return b.String()
}

// probe is an operator with an example of it on two columns.
type probe struct {
	text string
	of   sql.Expression
}

// column is a column of a table that expressions are tried on.
func column(id int, t sql.Type) sql.Expression {
	return expression.NewGetFieldWithTable(id, 0, t, "d", "t", "c", true)
}

func operators() []probe {
	a, b, text := column(1, types.Int64), column(2, types.Int64), column(3, types.LongText)
	return []probe{
		{"a & b, a | b, a ^ b, a << b, a >> b", expression.NewBitAnd(a, b)},
		{"@v := a", call(dialect.AssignFunction, dialect.Functions(), expression.NewLiteral("v", types.Text), a)},
		{"~a", call(dialect.InvertFunction, dialect.Functions(), a)},
		{"s COLLATE utf8mb4_0900_ai_ci", expression.NewCollatedExpression(text, sql.Collation_utf8mb4_0900_ai_ci)},
		{"(a, b) < (c, d)", expression.NewLessThan(expression.NewTuple(a, b), expression.NewTuple(b, a))},
		{"a + b", expression.NewPlus(a, b)}, {"a / b", expression.NewDiv(a, b)}, {"a AND b", expression.NewAnd(a, b)}, {"a XOR b", expression.NewXor(a, b)},
		{"a <=> b", expression.NewNullSafeEquals(a, b)}, {"a BETWEEN b AND c", expression.NewBetween(a, b, a)}, {"a IN (b, c)", expression.NewInTuple(a, expression.NewTuple(b, a))},
		{"-a", expression.NewUnaryMinus(a)}, {"BINARY s", expression.NewBinary(text)},
	}
}

// call is a call of one of the functions.
func call(name string, of []sql.Function, args ...sql.Expression) sql.Expression {
	for _, f := range of {
		if f.FunctionName() == name {
			if e, err := f.NewInstance(sql.NewEmptyContext(), args); err == nil {
				return e
			}
		}
	}
	panic("reference: no function " + name)
}

// refusedOn returns the message that an expression is refused with on protected rows, "" where it
// is translated.
func refusedOn(e sql.Expression) string {
	ctx := sql.NewEmptyContext()
	_, err := lower.Lower(ctx, e, new(lower.Binder), func(f *expression.GetField) (lower.Expr, bool) {
		t, err := lower.DuckDBType(f.Type(ctx))
		return lower.ReadColumn(`"`+f.Name()+`"`, t), err == nil
	})
	if r, ok := refuse.As(err); ok {
		return strings.Join(strings.Fields(r.Cause+" "+r.Remedy), " ")
	}
	return ""
}

// aggregates says what becomes of MySQL's aggregates on protected rows.
func aggregates() string {
	var b strings.Builder
	var private []string
	for _, f := range functions.All() {
		if f.Role == functions.Rewritten {
			private = append(private, fmt.Sprintf("%s (`%s`)", strings.Join(append([]string{f.Name}, f.Aliases...), ", "), f.DPForm))
		}
	}
	fmt.Fprintf(&b, "On public rows and over answers they are MySQL's. On protected rows these are private, over rows, by the function in brackets: %s. These are refused:\n\n"+
		"| aggregate | instead |\n| --- | --- |\n", strings.Join(private, ", "))
	for _, f := range functions.All() {
		if f.Role == functions.Refused {
			fmt.Fprintf(&b, "| %s | `%s` |\n", strings.Join(append([]string{f.Name}, f.Aliases...), ", "), f.Instead)
		}
	}
	fmt.Fprintf(&b, "\nWith `OVER (…)` only, over public rows, private answers and views: %s.\n", named(standard.OnlyOver(), nil))
	return b.String()
}

// declared are MySQL's types as clients declare them.
var declared = []string{
	"tinyint", "smallint", "mediumint", "int", "bigint", "tinyint unsigned", "smallint unsigned", "mediumint unsigned", "int unsigned", "bigint unsigned",
	"bit(8)", "year", "float", "double", "decimal(10,2)", "decimal(50,2)",
	"char(10)", "varchar(10)", "tinytext", "text", "mediumtext", "longtext", "enum('a','b')", "set('a','b')",
	"binary(10)", "varbinary(10)", "tinyblob", "blob", "mediumblob", "longblob",
	"date", "datetime", "timestamp", "time", "json", "vector(3)", "geometry",
}

// kinds are what protected rows' values are to an expression.
var kinds = map[lower.Kind]string{
	lower.Bool: "a truth value", lower.Int: "a whole number", lower.UInt: "a whole number without a sign", lower.Decimal: "a DECIMAL", lower.Double: "a DOUBLE", lower.String: "a text",
	lower.Date: "a date", lower.Datetime: "a moment", lower.Time: "a TIME, which few functions take", lower.JSON: "a document, which few functions take",
	lower.Bytes: "bytes, which few functions take", lower.Array: "a vector, for `DP_VALUE` and aggregates of vectors",
}

// storeTypes says how columns are stored and read.
func storeTypes() string {
	ctx := sql.NewEmptyContext()
	var b strings.Builder
	b.WriteString("| declared | stored as | in expressions on protected rows |\n| --- | --- | --- |\n")
	type group struct{ declared, stored []string }
	groups := map[string]*group{}
	var order, without []string
	for _, d := range declared {
		t, err := planbuilder.ParseColumnTypeString(ctx, d)
		if err != nil {
			panic("reference: " + d + ": " + err.Error())
		}
		stored, err := tables.StoredAs(t)
		if err != nil {
			r, _ := refuse.As(err)
			without = append(without, fmt.Sprintf("| %s | refused: %s %s | |\n", d, r.Cause, r.Remedy))
			continue
		}
		kind := kinds[lower.ReadColumn("c", stored).Type.Kind]
		g := groups[kind]
		if g == nil {
			g = &group{}
			groups[kind], order = g, append(order, kind)
		}
		g.declared = append(g.declared, d)
		if stored = "`" + stored + "`"; !slices.Contains(g.stored, stored) {
			g.stored = append(g.stored, stored)
		}
	}
	for _, kind := range order {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(groups[kind].declared, ", "), strings.Join(groups[kind].stored, ", "), kind)
	}
	b.WriteString(strings.Join(without, ""))
	return b.String()
}

// refusedForms are the statements that no account may send.
func refusedForms() string {
	var b strings.Builder
	b.WriteString("| statement | why | instead |\n| --- | --- | --- |\n")
	for _, f := range dialect.Forms {
		if f.Refusal != nil {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.ReplaceAll(f.Pattern, "<rest>", "…"), f.Refusal.Cause, f.Refusal.Remedy)
		}
	}
	return b.String()
}
