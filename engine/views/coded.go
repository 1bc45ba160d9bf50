package views

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/catalog"
	"scrim/engine/estimator/synthetic"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/keys"
)

// coded is a column of a synthetic table: its public values, or bins of them, are numbered.
type coded struct {
	name  string
	typ   sql.Type
	cases []string // the condition of each code; the first that holds counts
	// value is one of the values of a code
	value func(code int, r *rand.Rand) any
}

// expression is the SQL of the column's code: NULL where a row has none of the values.
func (c coded) expression() string {
	var b strings.Builder
	b.WriteString("CASE")
	for code, when := range c.cases {
		fmt.Fprintf(&b, " WHEN %s THEN %d", when, code)
	}
	b.WriteString(" END")
	return b.String()
}

// code numbers the values of a column with a domain; false where the domain is not public values or
// a range.
func (v *Views) code(ctx *sql.Context, c *sql.Column, d catalog.Domain, bins int) (coded, bool, error) {
	out := coded{name: c.Name, typ: c.Type}
	switch {
	case types.IsBinaryType(c.Type) || types.IsJSON(c.Type):
		return out, false, notSynthetic(fmt.Sprintf("The column %s is of type %s, which synthetic rows do not have.", c.Name, c.Type), "Leave it out with the option columns.")
	case d.Values != nil:
		return out, true, out.list(ctx, d.Values)
	case d.Source != nil:
		if v.Policy(d.Source.Table).State != catalog.Public {
			return out, false, nil
		}
		values, err := v.Domains.Values(ctx, *d.Source, synthetic.MaxValues)
		if err != nil {
			return out, false, err
		}
		return out, true, out.list(ctx, values)
	case d.Range != nil && types.IsInteger(c.Type) && max(-d.Range.Min, d.Range.Max) > widest:
		return out, false, notSynthetic(fmt.Sprintf("The range of %s is too wide.", c.Name), "Declare one within ±2^53, as dp_set_domain has it, or leave the column out with the option columns.")
	case d.Range != nil && types.IsInteger(c.Type):
		out.integers(int64(math.Ceil(d.Range.Min)), int64(math.Floor(d.Range.Max)), bins)
	case d.Range != nil && types.IsNumber(c.Type):
		out.numbers(d.Range.Min, d.Range.Max, bins)
	case d.Span != nil && types.IsTime(c.Type):
		out.moments(d.Span.Min, d.Span.Max, bins)
	default:
		return out, false, nil
	}
	if out.withNull(d.Null); len(out.cases) == 0 {
		return out, false, nil
	}
	return out, true, nil
}

// widest bounds the whole numbers of a range, which a declaration has as DOUBLE.
const widest = 1 << 53

// withNull adds NULL to the values of a range.
func (c *coded) withNull(is bool) {
	if !is {
		return
	}
	last, value := len(c.cases), c.value
	c.cases = append(c.cases, sqltext.Name(c.name)+" IS NULL")
	c.value = func(code int, r *rand.Rand) any {
		if code == last {
			return nil
		}
		return value(code, r)
	}
}

// list numbers listed values, each once.
func (c *coded) list(ctx *sql.Context, values []any) error {
	if len(values) > synthetic.MaxValues {
		return notSynthetic(fmt.Sprintf("The column %s has more than %d public values.", c.name, synthetic.MaxValues), "Leave it out with the option columns, or declare a range or fewer values.")
	}
	var known []any
	seen := map[string]bool{}
	for _, x := range values {
		when := sqltext.Name(c.name) + " IS NULL"
		if x != nil {
			typed, in, err := c.typ.Convert(ctx, x)
			if err != nil || in != sql.InRange {
				return notSynthetic(fmt.Sprintf("The domain of %s has a value that is not of type %s.", c.name, c.typ), "Declare it again with dp_set_domain.")
			}
			x = typed
			when = sqltext.Name(c.name) + " = " + c.literal(x)
		}
		if !seen[when] {
			seen[when] = true
			known, c.cases = append(known, x), append(c.cases, when)
		}
	}
	c.value = func(code int, _ *rand.Rand) any { return known[code] }
	return nil
}

// literal writes a value of the column's type.
func (c *coded) literal(x any) string {
	text, _ := keys.Text(c.typ, x).(string)
	if types.IsNumber(c.typ) {
		return text
	}
	return sqltext.Text(text)
}

// under numbers bins by the values that each ends before; the last one holds the end of the range.
func (c *coded) under(first string, ends []string, last string) {
	name := sqltext.Name(c.name)
	for i, end := range ends {
		when := name + " < " + end
		if i == 0 {
			when = name + " >= " + first + " AND " + when
		}
		c.cases = append(c.cases, when)
	}
	when := name + " <= " + last
	if len(ends) == 0 {
		when = name + " >= " + first + " AND " + when
	}
	c.cases = append(c.cases, when)
}

// evenly divides n values, from 0, into at most so many bins: where each begins.
func evenly(n int64, bins int) []int64 {
	if n < 1 {
		return nil
	}
	k := min(n, int64(bins))
	out := make([]int64, k)
	for i := range out {
		hi, lo := int64(i)*(n/k), int64(i)*(n%k)/k
		out[i] = hi + lo
	}
	return out
}

// drawn is one of the n values, from 0, that are in a bin.
func drawn(begins []int64, n int64, bin int, r *rand.Rand) int64 {
	end := n
	if bin+1 < len(begins) {
		end = begins[bin+1]
	}
	return begins[bin] + r.Int64N(end-begins[bin])
}

// integers bins whole numbers.
func (c *coded) integers(lo, hi int64, bins int) {
	n := hi - lo + 1
	begins := evenly(n, bins)
	if len(begins) == 0 {
		return
	}
	c.under(strconv.FormatInt(lo, 10), lists.Map(begins[1:], func(b int64) string { return strconv.FormatInt(lo+b, 10) }), strconv.FormatInt(hi, 10))
	c.value = func(code int, r *rand.Rand) any { return lo + drawn(begins, n, code, r) }
}

// numbers bins a range of other numbers. What is drawn of a bin is rounded to the type afterwards.
func (c *coded) numbers(lo, hi float64, bins int) {
	if !(lo <= hi) {
		return
	}
	edge := func(i int) float64 { return lo + (hi-lo)*float64(i)/float64(bins) }
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	var ends []string
	for i := 1; i < bins; i++ {
		ends = append(ends, text(edge(i)))
	}
	c.under(text(lo), ends, text(hi))
	c.value = func(code int, r *rand.Rand) any {
		x := edge(code) + r.Float64()*(edge(code+1)-edge(code))
		if d, ok := c.typ.(sql.DecimalType); ok {
			return strconv.FormatFloat(x, 'f', int(d.Scale()), 64)
		}
		return x
	}
}

// moments bins dates by days, and moments by microseconds.
func (c *coded) moments(first, last time.Time, bins int) {
	step, layout, as := time.Microsecond, "2006-01-02 15:04:05.999999", "DATETIME(6)"
	if types.IsDateType(c.typ) {
		step, layout, as = 24*time.Hour, time.DateOnly, "DATE"
		first = first.Truncate(step)
	}
	n := int64(last.Sub(first)/step) + 1
	begins := evenly(n, bins)
	if len(begins) == 0 {
		return
	}
	text := func(t time.Time) string { return "CAST(" + sqltext.Text(t.Format(layout)) + " AS " + as + ")" }
	at := func(k int64) time.Time { return first.Add(time.Duration(k) * step) }
	c.under(text(first), lists.Map(begins[1:], func(b int64) string { return text(at(b)) }), text(at(n-1)))
	c.value = func(code int, r *rand.Rand) any { return at(drawn(begins, n, code, r)) }
}

// codes are the columns of a synthetic table: those asked for, or all but the persons' own.
func (v *Views) codes(ctx *sql.Context, table string, o SyntheticOptions) ([]coded, error) {
	schema, policy := v.Tables.Columns(ctx, table), v.Policy(table)
	if policy.State != catalog.Protected {
		return nil, notSynthetic("The table "+table+" is not a protected one.", "CALL dp_protect declares whom its rows belong to.")
	}
	var out []coded
	var without []string
	asked := lists.Set(lists.Map(o.Columns, strings.ToLower))
	for _, c := range schema {
		name := strings.ToLower(c.Name)
		if o.Columns == nil && identifies(policy, name) || o.Columns != nil && !asked[name] {
			continue
		}
		delete(asked, name)
		if identifies(policy, name) {
			return nil, notSynthetic("The column "+c.Name+" says whose a row is, and synthetic rows are nobody's.", "Leave it out of the option columns.")
		}
		coded, ok, err := v.code(ctx, c, policy.Domains[name], o.Bins)
		if err != nil {
			return nil, err
		}
		if !ok {
			without = append(without, c.Name)
			continue
		}
		out = append(out, coded)
	}
	switch {
	case len(asked) > 0:
		for _, name := range o.Columns {
			if asked[strings.ToLower(name)] {
				return nil, notSynthetic(fmt.Sprintf("The table %s has no column %.64s.", table, name), "Name columns of the table in the option columns.")
			}
		}
	case len(without) > 0:
		return nil, withoutDomains(table, without)
	case len(out) == 0:
		return nil, notSynthetic("The table "+table+" has no column but those that say whose a row is.", "Make a synthetic table of one that has.")
	case len(out) > synthetic.MaxColumns:
		return nil, notSynthetic(fmt.Sprintf("A synthetic table has at most %d columns, and this one would have %d.", synthetic.MaxColumns, len(out)), `Name fewer with the option columns: '{"epsilon": 1, "columns": ["a", "b"]}'.`)
	}
	return out, nil
}

// identifies reports whether a column says whom a row belongs to.
func identifies(t catalog.Table, name string) bool {
	return slices.ContainsFunc(t.Owners(), func(o catalog.Owner) bool {
		return strings.EqualFold(o.Unit.Column, name) || o.Unit.Link != nil && strings.EqualFold(o.Unit.Link.Column, name)
	})
}

// withoutDomains names the columns whose values nobody has declared, with what declares them.
func withoutDomains(table string, columns []string) error {
	calls := lists.Map(columns, func(c string) string { return fmt.Sprintf("CALL dp_set_domain('%s', '%s', '…')", table, c) })
	return refuse.New(refuse.View, "No public values are declared of %s.", strings.Join(columns, ", ")).
		With(`Declare a list as '["a","b"]' or a range as '{"min":0,"max":100}': %s. Or leave columns out with the option columns.`, strings.Join(calls, "; "))
}

func notSynthetic(cause, remedy string) error {
	return refuse.New(refuse.View, "%s", cause).With("%s", remedy)
}
