// Package aggregate binds the aggregates of a GROUP BY over rows of persons, one by one.
//
// In goes a relation and an aggregate as written. Out comes an Aggregate before its share of the
// loss is known: the function with its options, the argument with its grid and bounds, the columns
// that it reads of a scan, the SQL type of its answer and of its error bars, the error that it is
// asked to have. One aggregate may stand for several: for columns that are answered as one vector,
// and for those that are answered in all groups at once.
package aggregate

import (
	"errors"
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

	"scrim/engine/estimator"
	"scrim/engine/estimator/mean"
	"scrim/functions"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/settings"
	"scrim/planner/tree"
)

// Binder plans the aggregates of one statement.
type Binder struct {
	*rel.Writer
	ctx    *sql.Context
	params *settings.Settings
	// Intervals says that the statement asks for an interval: all that take a part of a loss are
	// made, so that what is asked twice in a statement is one release.
	Intervals bool
}

// NewBinder returns the binder of a statement.
func NewBinder(ctx *sql.Context, w *rel.Writer, p *settings.Settings) *Binder {
	return &Binder{Writer: w, ctx: ctx, params: p}
}

// Aggregate is one distinct aggregate of a draft, before its share of the loss is known.
type Aggregate struct {
	Text        string // as EXPLAIN prints it
	Asked       string // as the client asks for it
	Call        functions.Call
	Arg         sql.Expression // nil: rows are counted
	Vector      *VectorArg     // set where its values are vectors
	Value       lower.Expr     // the lowered argument, for its type
	Grid        grid.Grid      // the zero grid for counts
	Moment      Moment         // what the numbers stand for where the argument is a moment
	Other       *Second        // of a function of two arguments, the second one
	MaxRows     int64          // public bound on a person's rows in a group; 0: none
	ByRow       bool           // one scan row per row: sampled where a person has more than maxRows
	Kinds       []estimator.Kind
	Type        sql.Type
	Present     func(estimator.Estimate) any
	Scan        int // index into the draft's scan specifications
	Columns     []int
	Slack       float64      // DeltaEvent or DeltaTV of a release on one group (Call.EventSlack)
	Parts       []*Aggregate // the aggregates that it stands for, see vectorize and groupVector
	GroupVector bool         // it answers its parts in all groups at once, see groupVector
	Sums        []*Aggregate // of parts that share sums, one for each argument, see Together
	answers     []mean.Asked // how its parts follow from these
	mean, count int          // of a sum among parts in all groups: see groups.Aggregate
	View        bool         // with GroupVector: as the cells of a view
	Series      bool         // with View: as the days of running totals
	Synthetic   bool         // its vectors are rows of codes, and it answers rows like them
	Pure        bool         // only pure mechanisms may answer it

	targeted bool // an error is asked for in the place of a cost, see package cost
	// Target is that error, Pilot the share of the usual cost that a pilot may take; 0 for none.
	Target, Pilot float64
}

// Of plans one output of a GROUP BY that is an aggregate.
func (s *Binder) Of(r *rel.Relation, e sql.Aggregation) (*Aggregate, error) {
	if w, ok := e.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		return nil, rule.Deny(rule.Window, refuse.Shape, "Aggregate with GROUP BY; window functions work on the answer, in an outer query.",
			"A window function over protected rows depends on the rows of other persons.")
	}
	f, args, q, options, err := s.split(e)
	if err != nil {
		return nil, err
	}
	if f.Role == functions.Rewritten && !s.params.Rewrite() {
		return nil, rule.Deny(rule.RewriteOff, refuse.RewriteOff, "Use "+f.Instead+", or SET dp_rewrite = ON.",
			"%s on a protected table is not rewritten.", f.Name)
	}
	a := &Aggregate{Pure: s.params.IsPure()}
	if a.Call, err = functions.NewCall(f, q, options); err != nil {
		return nil, rule.By(rule.Option, err)
	}
	a.Call.Interval = s.Intervals && a.Call.Intervals()
	if a.Pure && a.Call.Options.Rho > 0 {
		return nil, s.params.NotRho("The option rho")
	}
	s.aim(a)
	if err := s.argument(r, a, e, args); err != nil {
		return nil, err
	}
	if a.Call.Options.Has("values") && !a.Call.Distinct {
		return nil, rule.Deny(rule.Option, refuse.Option, "Use "+f.Name+"(DISTINCT x, 'values=…').", "The option values is for distinct values.")
	}
	if err := s.owned(r, a, e); err != nil {
		return nil, err
	}
	if err := s.shape(r, a); err != nil {
		return nil, err
	}
	a.Text = aggregateText(e)
	a.Asked = a.Text
	switch {
	case a.Call.Units && a.Arg == nil:
		a.Text = f.Name + "(DISTINCT unit)"
	case a.Arg == nil:
		a.Text = f.Name + "(*)"
		a.Asked = a.Text
	}
	if a.Type, a.Present = answerType(f, a.Value); a.Moment != NoMoment {
		a.Type, a.Present = a.Moment.answerType()
	}
	if a.Vector != nil {
		a.Type, a.Present = vectorAnswer(a.Call.Options, a.Vector.Dim)
	}
	if present := a.Present; a.atLeastZero() && a.Vector == nil {
		a.Present = func(e estimator.Estimate) any {
			return present(estimator.Estimate{Values: []float64{max(e.Values[0], 0)}})
		}
	}
	return a, nil
}

// atLeastZero reports whether a negative answer is shown as 0: of COUNT always, of SUM where the
// type or the declared range of the values says that none is negative. It is post-processing, of
// the intervals likewise: they hold the exact answer as before, since it is not negative.
func (a *Aggregate) atLeastZero() bool {
	f := a.Call.Function
	return f.AtLeastZero && (!f.Adds || a.Value.Type.Kind == lower.UInt || a.Grid.Lo >= 0)
}

// aggregateText is an aggregate as a client would write it.
func aggregateText(e sql.Aggregation) string {
	switch d, ok := e.(*aggregation.CountDistinct); {
	case ok:
		var args []string
		for _, x := range d.Children() {
			args = append(args, tree.Untuple(x).String())
		}
		return "COUNT(DISTINCT " + strings.Join(args, ", ") + ")"
	case tree.CountsRows(e):
		return "COUNT(*)"
	}
	return strings.TrimSpace(e.String())
}

// split finds the function of an aggregate, its data arguments, and its constant ones.
func (s *Binder) split(e sql.Aggregation) (f *functions.Function, args []sql.Expression, q, options string, err error) {
	if m, ok := e.(*functions.Aggregate); ok {
		f, args = m.Function, m.Args
		if len(args) > f.MaxArgs {
			if options, err = s.constantText(f, args[f.MaxArgs]); err != nil {
				return nil, nil, "", "", err
			}
			args = args[:f.MaxArgs]
		}
		if f.MaxArgs == 2 && !f.Two {
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
		return nil, nil, "", "", rule.Deny(rule.Aggregate, refuse.Aggregate, "See SELECT * FROM dp.functions.", "%s has no private form.", e)
	case f.Role == functions.Refused:
		return nil, nil, "", "", rule.Deny(rule.Aggregate, refuse.Aggregate, "Use "+f.Instead+".", "%s has no private form. %s", f.Name, f.Doc)
	}
	return f, args, "", "", nil
}

// constantText evaluates a constant argument.
func (s *Binder) constantText(f *functions.Function, e sql.Expression) (string, error) {
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
	return "", rule.Deny(rule.Option, refuse.Option, "Use "+f.Signature+".", "%s: %s is not a constant.", f.Name, e)
}

// argument lowers the argument of an aggregate.
func (s *Binder) argument(r *rel.Relation, a *Aggregate, e sql.Aggregation, args []sql.Expression) error {
	f := a.Call.Function
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
		if len(args) > 0 {
			if v, err := args[0].Eval(s.ctx, nil); err != nil || v == nil {
				return rule.Deny(rule.Argument, refuse.Aggregate, "Use "+f.Name+"(*).", "%s counts NULL.", e)
			}
		}
		return nil
	}
	if f.Two {
		return s.twoArguments(r, a, args)
	}
	if len(args) != 1 {
		return rule.Deny(rule.Argument, refuse.Aggregate, "Use "+f.Signature+".", "%s has more than one argument.", e)
	}
	if vector, err := s.vectorArgument(r, a, args[0]); vector || err != nil {
		return err
	}
	if err := a.Call.Scalar(s.params.Method(r.Private)); err != nil {
		return rule.By(rule.Option, err)
	}
	x, err := s.Lower(args[0], r.Resolve)
	if err != nil {
		return err
	}
	if x, err = s.moment(a, x); err != nil {
		return err
	}
	a.Arg, a.Value = args[0], x
	switch {
	case f.Counts:
		return nil
	case f.Result == functions.Same && x.Type.Kind == lower.String:
		return rule.Deny(rule.Argument, refuse.Aggregate, "Use SELECT x, COUNT(*) … GROUP BY x, or a number that the text has.",
			"%s of texts would be one person's, and has no private form.", f.Name)
	}
	return isNumber(x, e)
}

// isNumber refuses an argument of an aggregate that is not a number.
func isNumber(x lower.Expr, e any) error {
	switch x.Type.Kind {
	case lower.Bool, lower.Int, lower.UInt, lower.Decimal, lower.Double:
		return nil
	case lower.Date, lower.Datetime:
		return rule.Deny(rule.Argument, refuse.Aggregate, "Use DP_MEAN, DP_MEDIAN, DP_QUANTILE, MIN or MAX of moments, or TIMESTAMPDIFF(…), which is a number.",
			"The argument of %s is a moment and not a number.", e)
	}
	return rule.Deny(rule.Argument, refuse.Aggregate, "Use CAST(… AS DECIMAL(20,4)) or another numeric expression.",
		"The argument of %s is not a number.", e)
}

// shape fixes the grid, the bound on rows and the columns of an aggregate from public facts.
func (s *Binder) shape(r *rel.Relation, a *Aggregate) error {
	f := a.Call.Function
	if r.Unique {
		a.MaxRows = 1
	}
	if f.EachRow && a.Call.Options.Weight == functions.ByRow && !r.Unique {
		a.MaxRows = maxRowsPerUnit(r.Private)
		a.ByRow = a.MaxRows > 1
	}
	switch {
	case a.Vector != nil:
		g, err := s.vectorGrid(r, a)
		if err != nil {
			return err
		}
		a.Grid = g
	case !f.Counts:
		bits := grid.ValueBits
		if f.Squares && a.Call.Options.Weight == functions.ByRow {
			bits = grid.SquareBits
		}
		b, err := s.bounds(r, a)
		if err == nil {
			a.Grid, err = gridOf(f.Name, a.Value, b, s.Most(r, a.Arg), bits)
		}
		if a.Other != nil && err == nil {
			a.Other.Grid, err = gridOf(f.Name, a.Other.Value, s.RangeOf(r, a.Other.Arg), s.Most(r, a.Other.Arg), bits)
		}
		if err != nil {
			return err
		}
		if a.Call.Owners != functions.OneOwner && a.Value.Type.Kind == lower.UInt {
			a.Grid.Lo = max(a.Grid.Lo, 0) // weights have one sign
		}
	}
	// Any loss will do to ask for the columns.
	p := a.Facts()
	if p.Rho = 1; a.Pure {
		p.Rho, p.Epsilon = 0, 1
	}
	kinds, err := a.Call.Kinds(p)
	if err != nil {
		return s.Unbuilt(a, err)
	}
	a.Kinds = kinds
	return nil
}

// quotientDigits is how many more digits a quotient is read with than its type has, as in MySQL,
// whose quotients of integers have nine.
const quotientDigits = 5

// gridOf is the lattice of an argument of a function.
func gridOf(name string, x lower.Expr, b *grid.Bounds, most float64, bits int) (grid.Grid, error) {
	t := x.Type
	if _, near := x.Near(); near {
		t.Precision, t.Scale = t.Precision+quotientDigits, t.Scale+quotientDigits
	}
	g, ok := grid.Of(t, b, most, bits)
	if !ok {
		return g, rule.Deny(rule.Option, refuse.Option, "Give lower and upper that are apart and inside the type's range.",
			"The declared bounds of %s leave no values.", name)
	}
	return g, g.Steps(name)
}

// Rounding is the step of the grid where values of the argument are between its points, as those of
// a quotient before it is rounded; else 0, as of two arguments, whose statistics have other units.
func (a *Aggregate) Rounding() float64 {
	exact := a.Value.Type.Kind != lower.Double && a.Grid.Scale >= a.Value.Type.Scale && a.Value.Unrounded().SQL == a.Value.SQL
	if exact || a.Other != nil || a.Parts != nil || a.Vector != nil || a.Call.Function.Counts {
		return 0
	}
	return a.Grid.Step
}

// Facts are the public facts of the aggregate's mechanism, without a loss.
func (a *Aggregate) Facts() estimator.Params {
	p := estimator.Params{Delta: a.Slack, Grid: a.Grid.Grid, Lower: a.Grid.Lower, Upper: a.Grid.Upper, MaxRows: a.MaxRows}
	if o := a.Other; o != nil {
		p.Other = &estimator.Other{Grid: o.Grid.Grid, Lower: o.Grid.Lower, Upper: o.Grid.Upper}
	}
	return p
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
func (s *Binder) bounds(r *rel.Relation, a *Aggregate) (*grid.Bounds, error) {
	if lo, hi := a.Call.Options.Lower, a.Call.Options.Upper; lo != nil && hi != nil {
		return &grid.Bounds{Lo: ratFloat(lo), Hi: ratFloat(hi)}, nil
	}
	if a.Moment != NoMoment {
		return a.Moment.bounds(r, a.Arg), nil
	}
	return s.RangeOf(r, a.Arg), nil
}

func ratFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// answerType returns the SQL type of a function's answers and how an estimate becomes a value of
// it.
func answerType(f *functions.Function, x lower.Expr) (sql.Type, func(estimator.Estimate) any) {
	switch f.Result {
	case functions.BigInt:
		return types.Int64, func(e estimator.Estimate) any { return int64(math.RoundToEven(e.Values[0])) }
	case functions.JSON:
		return types.JSON, jsonList64
	case functions.Same:
		switch x.Type.Kind {
		case lower.Bool, lower.Int:
			return types.Int64, func(e estimator.Estimate) any { return int64(math.RoundToEven(e.Values[0])) }
		case lower.UInt:
			return types.Uint64, func(e estimator.Estimate) any { return uint64(max(0, math.RoundToEven(e.Values[0]))) }
		case lower.Decimal:
			scale := x.Type.Scale
			return types.MustCreateDecimalType(65, uint8(min(scale, 30))), func(e estimator.Estimate) any { return decimal(e.Values[0], min(scale, 30)) }
		}
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

// Always reports whether every row has a value for the aggregate: a DOUBLE may be NaN or infinite,
// and is absent then. It is what makes a number of persons public. The number itself is not taken
// from those who have a value: see countPersons.
func (a *Aggregate) Always() bool {
	switch {
	case a.Arg == nil:
		return true
	case a.Call.Distinct:
		return false // nobody counts persons for it
	}
	return always(a.Value) && (a.Other == nil || always(a.Other.Value))
}

// always reports whether an expression has a value in every row.
func always(x lower.Expr) bool {
	switch x.Type.Kind {
	case lower.Bool, lower.Int, lower.UInt, lower.Decimal:
		return !x.Nullable
	}
	return false
}

// aim notes the error that an aggregate is asked to have.
func (s *Binder) aim(a *Aggregate) {
	o := a.Call.Options
	if o.Epsilon > 0 || o.Rho > 0 {
		return
	}
	if a.Target = a.Call.Target(); a.Target == 0 {
		a.Target = s.params.Number(params.TargetError)
	}
	if a.Pilot = o.Pilot; a.Pilot == 0 {
		a.Pilot = s.params.Number(params.Pilot)
	}
	a.targeted = a.Target > 0
	if settings.PilotOf(s.ctx).Share > 0 {
		a.Target = 0
	}
}

// OfNobody is an aggregate over no rows.
func OfNobody(e sql.Aggregation) any {
	e, barSpec := BarOf(e)
	m, ok := Marker(e)
	switch {
	case !ok || !m.Function.Counts:
		return nil
	case barSpec != nil:
		return 0.0
	}
	return int64(0)
}

// notPure refuses an aggregate that has no pure mechanism.
func (s *Binder) notPure(a *Aggregate) error {
	what, remedy := a.Call.NotPure()
	return rule.Deny(rule.Pure, refuse.Aggregate, remedy, "%s has no pure mechanism, and %s is on the pure account (delta 0).", what, s.params.PureTable)
}

// Unbuilt says why an aggregate has no estimator: the error of its constructor.
func (s *Binder) Unbuilt(a *Aggregate, err error) error {
	if s.params.IsPure() && errors.Is(err, estimator.ErrNotPure) {
		return s.notPure(a)
	}
	return rule.By(rule.Option, err)
}
