package admin

import (
	"reflect"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/accounting"
	"scrim/accounting/record"
)

// logTable is dp.ledger with what has been taken from a statement's WHERE, ORDER BY and LIMIT. The
// statement keeps its WHERE: what is taken from it spares reading and decides nothing.
type logTable struct {
	*table
	a      *Admin
	filter accounting.Filter // its Limit: how many entries the first read asks for
	// whole: every condition of the statement is in the filter. from and to: some of them bound the
	// time, to the second, which is less than exactly.
	whole, from, to bool
}

var _ sql.Table = (*logTable)(nil)

func (a *Admin) ledgerTable() *table {
	return newPaged("ledger", func(ctx *sql.Context) func() ([]sql.Row, error) {
		return a.ledger(ctx, accounting.Filter{}, 0)
	}, ledgerColumns...)
}

// read makes the table read by its filter, and no more than most entries, where that is not 0.
func (t logTable) read(most int) *logTable {
	filter := t.filter
	t.table = newPaged("ledger", func(ctx *sql.Context) func() ([]sql.Row, error) {
		return t.a.ledger(ctx, filter, most)
	}, ledgerColumns...)
	return &t
}

// take puts a condition into the filter, if the filter can say it: a comparison of one column with
// a constant, or IN a list of constants. It returns false for what the filter cannot say, or says
// already. name is what the statement calls the table.
func (t *logTable) take(ctx *sql.Context, name string, e sql.Expression) bool {
	switch e := e.(type) {
	case *expression.Equals:
		column, value, _, ok := comparison(name, e.Left(), e.Right())
		return ok && t.equal(column, []any{value})
	case *expression.GreaterThan:
		return t.compare(ctx, name, e.Left(), e.Right(), true, false)
	case *expression.GreaterThanOrEqual:
		return t.compare(ctx, name, e.Left(), e.Right(), true, true)
	case *expression.LessThan:
		return t.compare(ctx, name, e.Left(), e.Right(), false, false)
	case *expression.LessThanOrEqual:
		return t.compare(ctx, name, e.Left(), e.Right(), false, true)
	case *expression.InTuple:
		column, ok := columnOf(e.Left(), name)
		list, isList := e.Right().(expression.Tuple)
		if !ok || !isList {
			return false
		}
		var values []any
		for _, x := range list {
			l, ok := x.(*expression.Literal)
			if !ok {
				return false
			}
			values = append(values, l.Value())
		}
		return t.equal(column, values)
	}
	return false
}

// comparison returns the column and the constant of a comparison; swapped says that the constant
// comes first.
func comparison(name string, left, right sql.Expression) (column string, value any, swapped, ok bool) {
	if column, ok = columnOf(left, name); !ok {
		left, right, swapped = right, left, true
		column, ok = columnOf(left, name)
	}
	l, isLiteral := right.(*expression.Literal)
	if !ok || !isLiteral {
		return "", nil, false, false
	}
	return column, l.Value(), swapped, true
}

// equal takes column = value, or column IN (values).
func (t *logTable) equal(column string, values []any) bool {
	f := &t.filter
	if column == "id" {
		return len(values) == 1 && t.bound(values[0], true, true) && t.bound(values[0], false, true)
	}
	words := make([]string, len(values))
	for i, v := range values {
		s, ok := v.(string)
		if !ok || s == "" {
			return false
		}
		words[i] = s
	}
	switch column {
	case "entry":
		return only(&f.Kinds, entryKinds, words)
	case "outcome":
		return only(&f.Outcomes, outcomes, words)
	}
	if len(words) != 1 {
		return false
	}
	switch column {
	case "principal":
		return once(&f.Principal, words[0])
	case "account":
		return once(&f.Account, words[0])
	case "table_name":
		return once(&f.Table, words[0])
	case "digest":
		return once(&f.Digest, words[0])
	}
	return false
}

// once sets a field that can be set only once.
func once(field *string, value string) bool {
	if *field != "" {
		return false
	}
	*field = value
	return true
}

// entryKinds and outcomes are what the columns entry and outcome show of what the filter can
// choose.
var (
	entryKinds = map[string]accounting.EntryKind{}
	outcomes   = map[string]record.Outcome{}
)

func init() {
	for _, k := range []accounting.EntryKind{
		accounting.ChargeEntry, accounting.NoteEntry, accounting.SetBudgetEntry, accounting.RemoveBudgetEntry,
		accounting.ResetBudgetEntry, accounting.ReplayEntry,
	} {
		entryKinds[string(k)] = k
	}
	for _, o := range []record.Outcome{record.Unfinished, record.Answered, record.Failed, record.TimedOut, record.Cancelled} {
		outcomes[o.String()] = o
	}
}

// only sets a list that can be set only once, from words that are all known.
func only[T comparable](list *[]T, known map[string]T, words []string) bool {
	var chosen []T
	for _, w := range words {
		v, ok := known[w]
		if !ok {
			return false
		}
		if !slices.Contains(chosen, v) {
			chosen = append(chosen, v)
		}
	}
	if *list != nil {
		return false
	}
	*list = chosen
	return true
}

// compare takes column > value and the like; above says that the column is the greater side.
func (t *logTable) compare(ctx *sql.Context, name string, left, right sql.Expression, above, inclusive bool) bool {
	column, value, swapped, ok := comparison(name, left, right)
	if swapped {
		above = !above
	}
	switch {
	case !ok:
		return false
	case column == "id":
		return t.bound(value, above, inclusive)
	case column == "charged_at":
		return t.boundTime(ctx, value, above)
	}
	return false
}

// bound takes a bound on the id.
func (t *logTable) bound(value any, above, inclusive bool) bool {
	v, ok := integer(value)
	if !ok || v < 1 {
		return false
	}
	id := uint64(v)
	switch {
	case above && inclusive:
		t.filter.AfterID = max(t.filter.AfterID, id-1)
	case above:
		t.filter.AfterID = max(t.filter.AfterID, id)
	case inclusive:
		id++
		fallthrough
	default:
		if t.filter.BeforeID == 0 || id < t.filter.BeforeID {
			t.filter.BeforeID = id
		}
	}
	return true
}

// boundTime takes a bound on the time, a second wider than it says: SQL knows microseconds, the
// ledger nanoseconds, and a text may have fractions of either.
func (t *logTable) boundTime(ctx *sql.Context, value any, above bool) bool {
	v, in, err := types.DatetimeMaxPrecision.Convert(ctx, value)
	at, ok := v.(time.Time)
	if err != nil || in != sql.InRange || !ok {
		return false
	}
	if above {
		t.from = true
		if at = at.Add(-time.Second); at.After(t.filter.Since) {
			t.filter.Since = at
		}
		return true
	}
	t.to = true
	if at = at.Add(time.Second); t.filter.Until.IsZero() || at.Before(t.filter.Until) {
		t.filter.Until = at
	}
	return true
}

// integer returns an integer constant.
func integer(v any) (int64, bool) {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid() || r.Type().PkgPath() != "": // a time is a number, too
		return 0, false
	case r.CanInt():
		return r.Int(), true
	case r.CanUint():
		return int64(r.Uint()), r.Uint() < 1<<62
	}
	return 0, false
}
