package planner

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// aggregate is one distinct aggregate of a draft, before its share of the loss is known.
type aggregate struct {
	text    string
	call    functions.Call
	arg     sql.Expression // nil: rows are counted
	vector  *vectorArg     // set where its values are vectors
	value   lower.Expr     // the lowered argument, for its type
	grid    grid.Grid      // the zero grid for counts
	maxRows int64          // public bound on a person's rows in a group; 0: none
	byRow   bool           // one scan row per row: sampled where a person has more than maxRows
	kinds   []estimator.Kind
	typ     sql.Type
	present func(estimator.Estimate) any
	scan    int // index into the draft's scan specifications
	columns []int
	slack   float64      // DeltaTV of a release on one group
	parts   []*aggregate // the aggregates that it stands for, see fuse and together
	all     bool         // it answers its parts in all groups at once, see together
	pure    bool         // only pure mechanisms may answer it

	aimed         bool         // an error is asked for in the place of a cost, see target.go
	target, pilot float64      // the error; the share of the usual cost that a pilot may take; 0 for none
	solved        privacy.Cost // the cost for the target
}

// aggregateOf plans one output of a GROUP BY that is an aggregate.
func (s *statement) aggregateOf(r *rel.Relation, e sql.Aggregation) (*aggregate, error) {
	if w, ok := e.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		return nil, deny(RuleWindow, refuse.Shape, "Aggregate with GROUP BY; window functions work on the answer, in an outer query.",
			"A window function over protected rows depends on the rows of other persons.")
	}
	f, args, q, options, err := s.split(e)
	if err != nil {
		return nil, err
	}
	if f.Role == functions.Rewritten && !s.params.rewrite() {
		return nil, deny(RuleRewriteOff, refuse.RewriteOff, "Use "+f.Instead+", or SET dp_rewrite = ON.",
			"%s on a protected table is not rewritten.", f.Name)
	}
	a := &aggregate{pure: s.isPure()}
	if a.call, err = functions.NewCall(f, q, options); err != nil {
		return nil, optioned(err)
	}
	if a.pure && a.call.Options.Rho > 0 {
		return nil, s.notRho("The option rho")
	}
	s.aim(a)
	if err := s.argument(r, a, e, args); err != nil {
		return nil, err
	}
	if err := s.shape(r, a); err != nil {
		return nil, err
	}
	a.text = aggregateText(e)
	switch {
	case a.call.Units && a.arg == nil:
		a.text = f.Name + "(DISTINCT unit)"
	case a.arg == nil:
		a.text = f.Name + "(*)"
	}
	if a.typ, a.present = answerType(f, a.value); a.vector != nil {
		a.typ, a.present = vectorAnswer(a.call.Options, a.vector.dim)
	}
	return a, nil
}

// aggregateText is an aggregate as a client would write it.
func aggregateText(e sql.Aggregation) string {
	switch d, ok := e.(*aggregation.CountDistinct); {
	case ok && len(d.Children()) == 1:
		return "COUNT(DISTINCT " + tree.Untuple(d.Children()[0]).String() + ")"
	case tree.CountsRows(e):
		return "COUNT(*)"
	}
	return strings.TrimSpace(e.String())
}

// split finds the function of an aggregate, its data arguments, and its constant ones.
func (s *statement) split(e sql.Aggregation) (f *functions.Function, args []sql.Expression, q, options string, err error) {
	if m, ok := e.(*functions.Aggregate); ok {
		f, args = m.Function, m.Args
		if len(args) > f.MaxArgs {
			if options, err = s.constantText(f, args[f.MaxArgs]); err != nil {
				return nil, nil, "", "", err
			}
			args = args[:f.MaxArgs]
		}
		if f.MaxArgs == 2 {
			if q, err = s.constantText(f, args[1]); err != nil {
				return nil, nil, "", "", err
			}
			args = args[:1]
		}
		return f, args, q, options, nil
	}
	name := ""
	if fe, ok := e.(sql.FunctionExpression); ok {
		name = fe.FunctionName()
	}
	args = e.Children()
	if _, ok := e.(*aggregation.CountDistinct); ok {
		name = "count"
	}
	f, ok := functions.ByName(name)
	switch {
	case !ok:
		return nil, nil, "", "", deny(RuleAggregate, refuse.Aggregate, "See SELECT * FROM dp.functions.", "%s has no private form.", e)
	case f.Role == functions.Refused:
		return nil, nil, "", "", deny(RuleAggregate, refuse.Aggregate, "Use "+f.Instead+".", "%s has no private form. %s", f.Name, f.Doc)
	}
	return f, args, "", "", nil
}

// constantText evaluates a constant argument.
func (s *statement) constantText(f *functions.Function, e sql.Expression) (string, error) {
	fixed := func(e sql.Expression) bool {
		switch e.(type) {
		case *expression.Literal, *expression.Arithmetic, *expression.UnaryMinus:
			return true
		}
		return false
	}
	if !tree.Contains(s.ctx, e, func(e sql.Expression) bool { return !fixed(e) }) {
		switch v, err := e.Eval(s.ctx, nil); x := v.(type) {
		case string:
			return x, nil
		case float64:
			return strconv.FormatFloat(x, 'g', -1, 64), nil
		case *apd.Decimal:
			return x.Text('f'), nil
		case nil:
		default:
			if err == nil {
				return fmt.Sprint(x), nil
			}
		}
	}
	return "", deny(RuleOption, refuse.Option, "Use "+f.Signature+".", "%s: %s is not a constant.", f.Name, e)
}

// optioned gives a refusal of the function table its rule.
func optioned(err error) error {
	if r, ok := refuse.As(err); ok {
		return deny(RuleOption, r.Code, r.Remedy, "%s", r.Cause)
	}
	return err
}

// argument lowers the argument of an aggregate.
func (s *statement) argument(r *rel.Relation, a *aggregate, e sql.Aggregation, args []sql.Expression) error {
	f := a.call.Function
	_, distinct := e.(*aggregation.CountDistinct)
	if len(args) > 0 {
		if d, ok := args[0].(*expression.DistinctExpression); ok {
			distinct, args = true, []sql.Expression{d.Child}
		}
	}
	if distinct {
		return s.distinctArgument(r, a, e, args)
	}
	if len(args) == 0 || f.Counts && tree.Constant(s.ctx, args[0]) {
		if l, ok := firstLiteral(args); ok && l.Value() == nil {
			return deny(RuleArgument, refuse.Aggregate, "Use "+f.Name+"(*).", "%s counts NULL.", e)
		}
		return nil
	}
	if len(args) != 1 {
		return deny(RuleArgument, refuse.Aggregate, "Use "+f.Signature+".", "%s has more than one argument.", e)
	}
	if vector, err := s.vectorArgument(r, a, args[0]); vector || err != nil {
		return err
	}
	if err := a.call.Scalar(s.params.method(r.Private)); err != nil {
		return optioned(err)
	}
	x, err := s.Lower(args[0], r.Resolve)
	if err != nil {
		return err
	}
	a.arg, a.value = args[0], x
	if f.Counts {
		return nil
	}
	switch x.Type.Kind {
	case lower.Bool, lower.Int, lower.UInt, lower.Decimal, lower.Double:
		return nil
	}
	return deny(RuleArgument, refuse.Aggregate, "Use CAST(… AS DECIMAL(20,4)) or another numeric expression.",
		"The argument of %s is not a number.", e)
}

func firstLiteral(args []sql.Expression) (*expression.Literal, bool) {
	if len(args) == 0 {
		return nil, false
	}
	l, ok := args[0].(*expression.Literal)
	return l, ok
}

// shape fixes the grid, the bound on rows and the columns of an aggregate from public facts.
func (s *statement) shape(r *rel.Relation, a *aggregate) error {
	f := a.call.Function
	if r.Unique {
		a.maxRows = 1
	}
	if f.EachRow && a.call.Options.Weight == functions.ByRow && !r.Unique {
		a.maxRows = maxRowsPerUnit(r.Private)
		a.byRow = a.maxRows > 1
	}
	switch {
	case a.vector != nil:
		g, err := s.vectorGrid(r, a)
		if err != nil {
			return err
		}
		a.grid = g
	case !f.Counts:
		bits := grid.ValueBits
		if f.Squares && a.call.Options.Weight == functions.ByRow {
			bits = grid.SquareBits
		}
		b, err := s.bounds(r, a)
		if err != nil {
			return err
		}
		g, ok := grid.Of(a.value.Type, b, bits)
		if !ok {
			return deny(RuleOption, refuse.Option, "Give lower and upper that are apart and inside the type's range.",
				"The declared bounds of %s leave no values.", f.Name)
		}
		if err := g.Steps(f.Name); err != nil {
			return err
		}
		a.grid = g
	}
	// Any loss will do to ask for the columns.
	p := a.facts()
	if p.Rho = 1; a.pure {
		p.Rho, p.Epsilon = 0, 1
	}
	kinds, err := a.call.Kinds(p)
	if err != nil {
		return s.unbuilt(a, err)
	}
	a.kinds = kinds
	return nil
}

// facts are the public facts of the aggregate's mechanism, without a loss.
func (a *aggregate) facts() estimator.Params {
	return estimator.Params{Delta: a.slack, Grid: a.grid.Grid, Lower: a.grid.Lower, Upper: a.grid.Upper, MaxRows: a.maxRows}
}

// maxRowsPerUnit is the smallest declared bound on the rows of a unit.
func maxRowsPerUnit(tables []rel.Protected) int64 {
	var n int64
	for _, t := range tables {
		if d := t.Policy.Defaults.MaxRowsPerUnit; d > 0 && (n == 0 || d < n) {
			n = d
		}
	}
	return n
}

// bounds returns the declared bounds of the rows of an aggregate's argument: its options, else the
// public range of the column that it is.
func (s *statement) bounds(r *rel.Relation, a *aggregate) (*grid.Bounds, error) {
	if lo, hi := a.call.Options.Lower, a.call.Options.Upper; lo != nil && hi != nil {
		return &grid.Bounds{Lo: ratFloat(lo), Hi: ratFloat(hi)}, nil
	}
	return s.RangeOf(r, a.arg), nil
}

func ratFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// answerType returns the SQL type of a function's answers and how an estimate becomes a value of it.
func answerType(f *functions.Function, x lower.Expr) (sql.Type, func(estimator.Estimate) any) {
	switch f.Result {
	case functions.BigInt:
		return types.Int64, func(e estimator.Estimate) any { return int64(math.RoundToEven(e.Values[0])) }
	case functions.JSON:
		return types.JSON, jsonList64
	case functions.Exact:
		scale := -1
		switch x.Type.Kind {
		case lower.Int, lower.UInt, lower.Bool:
			scale = 0
		case lower.Decimal:
			scale = x.Type.Scale
		}
		if scale < 0 {
			break
		}
		scale = min(scale+f.Digits, 30)
		return types.MustCreateDecimalType(65, uint8(scale)), func(e estimator.Estimate) any { return decimal(e.Values[0], scale) }
	}
	return types.Float64, func(e estimator.Estimate) any { return e.Values[0] }
}

// decimal rounds a released number to a fixed scale. Every float64 is a decimal, so nothing fails.
func decimal(v float64, scale int) any {
	d, _, err := apd.NewFromString(strconv.FormatFloat(v, 'f', scale, 64))
	if err != nil {
		return nil
	}
	return d
}
