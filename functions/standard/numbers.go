package standard

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
)

// Guard bounds what operators and casts compute of texts in one value, within which nothing
// interrupts go-mysql-server: a DECIMAL of '1e9' takes a thousand million digits. It comes behind
// the planner, which knows what it replaces, and before anything is evaluated.
func Guard(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		if t, ok := n.(*plan.JSONTable); ok {
			checkColumns(t.Cols)
		}
		return true
	})
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		x, ok := n.(sql.Expressioner)
		if !ok {
			return n, transform.SameTree, nil
		}
		list, all, err := guardedEach(ctx, x.Expressions())
		if err != nil {
			return n, all, err
		}
		switch n.(type) {
		case *plan.Filter, *plan.Having, *plan.JoinNode:
			for i, e := range list {
				if truthless(e.Type(ctx)) {
					list[i], all = inTruth(ctx, e), transform.NewTree
				}
			}
		}
		if all {
			return n, all, nil
		}
		out, err := x.WithExpressions(ctx, list...)
		return out, all, err
	})
}

// Guarded is an expression as Guard makes those of a tree.
func Guarded(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	e, _, err := guardedWhole(ctx, e)
	return e, err
}

// guardedWhole is an expression and all below it, which keep the ids of their columns.
func guardedWhole(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	list, all, err := guardedEach(ctx, e.Children())
	if err != nil {
		return e, all, err
	}
	if !all {
		if _, ok := e.(sql.Aggregation); ok { // nodes above know an aggregate by its text
			for i, c := range e.Children() {
				if text := c.String(); text != list[i].String() {
					list[i] = &spelledSo{texted{list[i]}, text}
				}
			}
		}
		if e, err = withOperands(ctx, e, list); err != nil {
			return e, all, err
		}
	}
	out, same, err := guarded(ctx, e)
	return out, all && same, err
}

// guardedEach is guardedWhole of each of a list, which it copies.
func guardedEach(ctx *sql.Context, list []sql.Expression) (out []sql.Expression, all transform.TreeIdentity, err error) {
	out, all = slices.Clone(list), transform.SameTree
	for i, e := range out {
		var same transform.TreeIdentity
		if out[i], same, err = guardedWhole(ctx, e); err != nil {
			return nil, same, err
		}
		all = all && same
	}
	return out, all, nil
}

// guards are what may take the place of an expression, in this order; nil leaves it.
var guards = []func(*sql.Context, sql.Expression) (sql.Expression, error){asTexts, operands, documents}

// guarded is one expression whose operands are guarded.
func guarded(ctx *sql.Context, e sql.Expression) (out sql.Expression, same transform.TreeIdentity, err error) {
	same = transform.SameTree
	for _, step := range guards {
		if x, err := step(ctx, e); err != nil {
			return e, same, err
		} else if x != nil {
			e, same = x, transform.NewTree
		}
	}
	switch x := e.(type) {
	case *expression.InTuple:
		out, err = inTuple(ctx, x)
	case *plan.InSubquery:
		out, err = inSubquery(ctx, x)
	default:
		out, err = chained(ctx, e)
	}
	if out != nil || err != nil {
		return out, transform.NewTree, err
	}
	switch x := e.(type) {
	case *plan.Subquery:
		q, same, err := Guard(ctx, x.Query)
		return x.WithQuery(q), same, err
	case *gms.RegexpLike:
		out, err = bounded("regexp_like").NewInstance(ctx, x.Children())
	case *gms.Substring:
		out, err = bounded("substring").NewInstance(ctx, x.Children())
	case *gms.Trim: // of bytes, which go-mysql-server takes for UTF-8
		if f := trimmed(x); f.isBinary(ctx, x.Children()) {
			out = newCall(ctx, &function{name: "trim", typeOf: f.typeOf, texts: &f}, x.Children())
		} else {
			return e, same, nil
		}
	case *expression.Like:
		list := x.Children()[:2]
		for i, c := range list {
			if types.IsFloat(c.Type(ctx)) {
				list[i] = inText(ctx, c)
			}
		}
		like := func(_ *sql.Context, a, b sql.Expression) sql.Expression { return expression.NewLike(a, b, x.Escape) }
		out, err = newBoundedCall(ctx, &boundedFunction{bound{steps: squares(1, 1)}, sql.Function2{Name: "like", Fn: like}}, list)
	case *aggregation.GroupConcat: // whose indexes of fields would be moved for one that it adds, and Joined does not
		return &summary{Aggregation: x}, transform.NewTree, nil
	case *boundedCall, sql.Aggregation, sql.WindowAggregation, expression.Tuple, *checked, *inRows:
		return e, same, nil
	default:
		e, inner, err := check(ctx, e)
		if c, own := e.(*call); err == nil && own {
			if b, ok := bounds[c.f.name]; ok { // that took a bounded call's place
				e, err = newBoundedCall(ctx, &boundedFunction{b, c.f.function()}, c.args)
				return e, transform.NewTree, err
			}
		}
		if x := stopping(ctx, e); x != nil && err == nil {
			return x, transform.NewTree, nil
		}
		return e, same && inner, err
	}
	return out, transform.NewTree, err
}

// stopping is a comparison that does not evaluate what may raise behind a NULL on its left, as
// MySQL's does not; nil of others, and of those by which a join finds its rows. It evaluates its
// left side twice, which is of columns, literals and what is computed of them.
func stopping(ctx *sql.Context, e sql.Expression) sql.Expression {
	_, safe := e.(*expression.NullSafeEquals)
	_, between := e.(*expression.Between)
	_, compares := e.(expression.Comparer)
	if safe || !between && !compares || Joins(ctx, e) {
		return nil
	}
	computed := func(_ *sql.Context, e sql.Expression) bool {
		_, exact := e.(*typed)
		_, other := e.(*retyped)
		return exact || other
	}
	other := func(ctx *sql.Context, e sql.Expression) bool {
		switch e.(type) {
		case *expression.GetField, *expression.Literal, *expression.Arithmetic, expression.Tuple:
			return false
		}
		return !computed(ctx, e)
	}
	if list := e.Children(); transform.InspectExpr(ctx, list[0], other) ||
		!slices.ContainsFunc(list[1:], func(e sql.Expression) bool { return transform.InspectExpr(ctx, e, computed) }) {
		return nil
	}
	f := &function{name: "stopping", typ: types.Boolean, eval: func(_ *sql.Context, a []any) (any, error) { return a[1], nil }}
	return &spelledSo{texted{newCall(ctx, f, []sql.Expression{e.Children()[0], e})}, e.String()}
}

// Joins reports whether an expression reads columns of several tables.
func Joins(ctx *sql.Context, e sql.Expression) bool {
	table := ""
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		f, ok := e.(*expression.GetField)
		other := ok && table != "" && table != f.Table()
		if ok {
			table = f.Table()
		}
		return other
	})
}

// spelledSo is an expression with the text of another.
type spelledSo struct {
	texted
	text string
}

func (s *spelledSo) String() string { return s.text }

// WithChildren implements sql.Expression.
func (s *spelledSo) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := s.Expression.WithChildren(ctx, children...)
	return &spelledSo{texted{e}, s.text}, err
}

// measured are functions that give texts, and read times.
var measured = strings.Fields("date_format time_format dayname monthname date_add date_sub adddate subdate addtime subtime str_to_date convert_tz")

// check has the texts checked that an expression reads as numbers or times: because it is one, or
// compares them with one.
func check(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	counts := func(e sql.Expression) bool {
		t := e.Type(ctx)
		return types.IsTuple(t) || types.IsNumber(t) && !types.IsBoolean(t) || types.IsTime(t) || IsTimespan(t)
	}
	out, same := slices.Clone(e.Children()), transform.SameTree
	bound := Untyped(e)
	choice, chooses := bound.(*expression.Case)
	_, isIn := bound.(*plan.InSubquery)
	f, named := e.(sql.FunctionExpression)
	reads := len(out) > 0 && e.Resolved()
	switch bound.(type) {
	case expression.Comparer, *expression.Between, *expression.InTuple, *plan.InSubquery, *gms.NullIf, *expression.Case:
		reads = reads && slices.ContainsFunc(out, counts) && (!chooses || choice.Expr != nil)
	default:
		reads = reads && (counts(e) || named && slices.Contains(measured, f.FunctionName()))
	}
	if !reads {
		return e, same, nil
	}
	var wrap func(x sql.Expression) sql.Expression
	wrap = func(x sql.Expression) sql.Expression {
		_, done := x.(*checked)
		if l, ok := x.(*expression.Literal); ok && tooLongForOne(ctx, l.Value()) == nil {
			return x // which functions look at before they run
		} else if _, query := x.(*plan.Subquery); query && isIn {
			return x
		} else if t, ok := x.(expression.Tuple); ok {
			t = slices.Clone(t)
			for i := range t {
				t[i] = wrap(t[i])
			}
			return t
		} else if done || !types.IsText(x.Type(ctx)) && !types.IsJSON(x.Type(ctx)) {
			return x
		}
		same = transform.NewTree
		_, casts := e.(*expression.Convert)
		return &checked{texted{x}, casts && types.IsInteger(e.Type(ctx))}
	}
	for i, c := range out {
		if value := i > 0 && (i%2 == 0 || i == len(out)-1); !chooses || !value {
			out[i] = wrap(c)
		}
	}
	if same {
		return e, same, nil
	}
	e, err := e.WithChildren(ctx, out...)
	return e, same, err
}

// endless are numbers and times of more than 128 characters, and numbers whose exponents have more
// than three digits, in all forms that Go's libraries read.
var endless = regexp.MustCompile(`^\s*[-+]?(?:[0-9.][0-9:./T_ -]{128}|0[xX][0-9a-fA-F._]*[pP]|[0-9_]*\.?[0-9_]*[eEpP][-+]?[0-9_]{4,}\s*$)`)

func tooLongForOne(ctx context.Context, v any) error {
	if j, ok := v.(sql.JSONWrapper); ok {
		v, _ = j.ToInterface(ctx)
	}
	if s, ok := plainText(v); !ok || !endless.MatchString(s) {
		return nil
	}
	return refuse.New(refuse.Unsupported, "A text of more than 128 digits, or with an exponent of more than three, is not read as a number or a time.").With("Give it in fewer digits.")
}

// checked is a text that is read as a number or a time. MySQL reads one of any length, as the
// nearest of its own numbers; here those that are longer than all of these are refused.
type checked struct {
	texted
	whole bool // it is read as a whole number, up to an exponent
}

// Children implements sql.Expression.
func (c *checked) Children() []sql.Expression { return []sql.Expression{c.Expression} }

// WithChildren implements sql.Expression.
func (c *checked) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	return &checked{texted{children[0]}, c.whole}, nil
}

// Eval implements sql.Expression.
func (c *checked) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := evaluated(ctx, c.Expression, row)
	read := v
	if s, ok := plainText(v); ok && c.whole {
		read, _, _ = strings.Cut(strings.ToLower(s), "e")
	}
	if err == nil {
		err = tooLongForOne(ctx, read)
	}
	return v, err
}

// decimalColumn is a DECIMAL of JSON_TABLE, which reads texts as well.
type decimalColumn struct{ types.DecimalType_ }

// Convert implements sql.Type.
func (t decimalColumn) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	if err := tooLongForOne(ctx, v); err != nil {
		return nil, sql.InRange, err
	}
	return t.DecimalType_.Convert(ctx, v)
}

func checkColumns(list []plan.JSONTableCol) {
	for _, c := range list {
		if checkColumns(c.NestedCols); c.Opts == nil {
			continue
		}
		if d, ok := c.Opts.Type.(types.DecimalType_); ok {
			c.Opts.Type = decimalColumn{d}
		}
	}
}
