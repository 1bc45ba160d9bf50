// Package standard holds scalar functions of MySQL that go-mysql-server lacks, or computes
// otherwise than MySQL 8.0 documents them. Where it has a function of the same name, the one here
// takes its place: it has the same name and the same arguments in the same order, so that what
// translates calls by name, as the planner does on stored rows, does not see the difference.
//
// A function is an entry of a table (function): name, number of arguments, type, and what it is of
// its arguments' values. An argument that is NULL makes it NULL, unless the entry says otherwise.
// What MySQL answers with NULL and a warning is NULL here.
package standard

import (
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/internal/lists"
)

// function is an entry of the table.
type function struct {
	name     string // lower case
	min, max int    // arguments
	doc      string
	typ      sql.Type
	typeOf   func(ctx *sql.Context, args []sql.Expression) sql.Type // in typ's place
	eval     func(ctx *sql.Context, args []any) (any, error)        // no argument is nil
	nulls    bool                                                   // eval takes NULL, too
	unseen   bool                                                   // it is no part of an expression's text
	texts    *textual                                               // in eval's place
}

var byName = map[string]*function{}

// define adds entries to the table.
func define(list ...function) {
	for i := range list {
		f := &list[i]
		if byName[f.name] != nil {
			panic("standard: function defined twice: " + f.name)
		}
		byName[f.name] = f
	}
}

// Function finds a function by its name in lower case.
func Function(name string) (sql.Function, bool) {
	if f := bounded(name); f != nil {
		return f, true
	}
	f, w := byName[name], wrapped[name]
	if f == nil && w == nil {
		return nil, false
	}
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if w != nil {
			if e, err := w(ctx, args); e != nil || err != nil {
				return e, err
			}
		}
		return f.instance(ctx, args)
	}}, true
}

// Names lists the functions here that statements name, in lower case: not those whose length alone
// is bounded here.
func Names() []string {
	var list []string
	for name := range byName {
		list = append(list, name)
	}
	for name := range wrapped {
		if byName[name] == nil && !strings.Contains(name, " ") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// function is the entry as go-mysql-server calls it.
func (f *function) function() sql.Function {
	return sql.FunctionN{Name: f.name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		return f.instance(ctx, args)
	}}
}

func (f *function) instance(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
	if len(args) < f.min || len(args) > f.max {
		return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(f.name), f.counts(), len(args))
	}
	return newCall(ctx, f, args), nil
}

func (f *function) counts() string {
	if f.min == f.max {
		return string(rune('0' + f.min))
	}
	return "other numbers of"
}

// call is a function with its arguments.
type call struct {
	f    *function
	args []sql.Expression
	typ  sql.Type
}

var _ sql.FunctionExpression = (*call)(nil)

func newCall(ctx *sql.Context, f *function, args []sql.Expression) *call {
	c := &call{f: f, args: args, typ: f.typ}
	if f.typeOf != nil {
		c.typ = f.typeOf(ctx, args)
	}
	return c
}

// Eval implements sql.Expression.
func (c *call) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	values := make([]any, len(c.args))
	for i, a := range c.args {
		v, err := evaluated(ctx, a, row)
		if err != nil {
			return nil, err
		}
		if v == nil && !c.f.nulls {
			return nil, nil
		}
		if d, text := v.(string); text && temporal(a.Type(ctx)) { // of DATE 'text' and TIME 'text'
			if m, ok := moment(ctx, d); ok && types.IsTime(a.Type(ctx)) {
				v = m
			} else if us, ok := span(ctx, d); ok && !types.IsTime(a.Type(ctx)) {
				v = timeOf(us)
			}
		}
		values[i] = v
	}
	if c.f.texts != nil {
		return c.f.texts.call(ctx, c.args, values)
	}
	return c.f.eval(ctx, values)
}

// FunctionName implements sql.FunctionExpression.
func (c *call) FunctionName() string { return c.f.name }

// Description implements sql.FunctionExpression.
func (c *call) Description() string { return c.f.doc }

// Type implements sql.Expression.
func (c *call) Type(*sql.Context) sql.Type { return c.typ }

// IsNullable implements sql.Expression.
func (c *call) IsNullable(*sql.Context) bool { return true }

// Resolved implements sql.Expression.
func (c *call) Resolved() bool { return expression.ExpressionsResolved(c.args...) }

// Children implements sql.Expression.
func (c *call) Children() []sql.Expression { return c.args }

// WithChildren implements sql.Expression.
func (c *call) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(c.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), len(c.args))
	}
	return newCall(ctx, c.f, children), nil
}

func (c *call) String() string {
	list := lists.Map(c.args, func(a sql.Expression) string { return a.String() })
	if c.f.unseen {
		return list[0]
	}
	return c.f.name + "(" + strings.Join(list, ",") + ")"
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *call) CollationCoercibility(ctx *sql.Context) (collation sql.CollationID, coercibility byte) {
	if c.f.texts != nil && types.IsText(c.typ) {
		return c.f.texts.collation(ctx, c.args)
	}
	if types.IsText(c.typ) {
		return ctx.GetCollation(), 4
	}
	return sql.Collation_binary, 5
}

func init() {
	define(function{name: "timediff", min: 2, max: 2, typeOf: spanOf, eval: timeDiff, doc: "returns the time between two moments, or two times."})
	define(function{name: "timestamp", min: 1, max: 2, typeOf: timestampType, eval: timestamp,
		doc: "reads a date with a time, and adds a time to it."})
}

// wrapped are the functions of go-mysql-server that serve for some arguments only: nil leaves the
// others to the table.
var wrapped = map[string]func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error){}

func wrap(name string, f func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error)) {
	wrapped[name] = f
}

// timestampType is a DATETIME with the digits that the arguments have.
func timestampType(ctx *sql.Context, args []sql.Expression) sql.Type {
	return types.MustCreateDatetimeType(sqltypes.Datetime, mostDigits(ctx, args))
}

// timeDiff is TIMEDIFF: of two moments or of two TIMEs, which a text or a number may be; NULL of
// one of each.
func timeDiff(ctx *sql.Context, a []any) (any, error) {
	var us [2]int64
	var moments [2]bool
	for i, v := range a {
		s, _ := words(ctx, v, types.LongText)
		s = strings.TrimSpace(s)
		_, date := v.(time.Time)
		if moments[i] = date || len(s) >= len("2006-01-02 1") && (dated(s) || strings.Trim(s, "0123456789.") == ""); moments[i] {
			t, ok := moment(ctx, v)
			if !ok {
				return nil, nil
			}
			us[i] = t.UnixMicro()
			continue
		}
		var ok bool
		if us[i], ok = span(ctx, v); !ok {
			return nil, nil
		}
	}
	if moments[0] != moments[1] {
		return nil, nil
	}
	return timeOf(us[0] - us[1]), nil
}

// timestamp is TIMESTAMP(date) and TIMESTAMP(date, time).
func timestamp(ctx *sql.Context, a []any) (any, error) {
	t, ok := momentOrToday(ctx, a[0])
	if len(a) > 1 && ok {
		var by int64
		if by, ok = span(ctx, a[1]); ok {
			t = t.Add(time.Duration(by) * time.Microsecond)
		}
	}
	if !ok {
		return nil, nil
	}
	return t, nil
}

func init() {
	user := func(ctx *sql.Context, _ []any) (any, error) {
		c := ctx.Session.Client()
		return c.User + "@" + c.Address, nil
	}
	define(
		function{name: "session_user", typ: types.LongText, eval: user, doc: "returns the account of the session, as USER() does."},
		function{name: "system_user", typ: types.LongText, eval: user, doc: "returns the account of the session, as USER() does."},
		function{name: "interval", min: 2, max: 256, typ: types.Int64, nulls: true, eval: interval,
			doc: "returns how many of the numbers behind the first, which ascend, it reaches."},
	)
}

// interval is INTERVAL(n, a, b, …), whose numbers ascend; -1 for NULL.
func interval(ctx *sql.Context, a []any) (any, error) {
	if a[0] == nil {
		return int64(-1), nil
	}
	n, ok := float(ctx, a[0])
	if !ok {
		return int64(0), nil
	}
	for i, v := range a[1:] {
		if v == nil {
			continue
		}
		if x, ok := float(ctx, v); ok && n < x {
			return int64(i), nil
		}
	}
	return int64(len(a) - 1), nil
}
