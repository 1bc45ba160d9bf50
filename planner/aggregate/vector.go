package aggregate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator"
	"scrim/engine/estimator/continual"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/view"
	"scrim/functions"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// VectorArg is an argument whose values are vectors, in the form in which it is scanned:
//
//	embedding, a column or expression of arrays or JSON   Arrays: one column, DOUBLE[dim]
//	DP_VECTOR(a, b, c)                                    Coordinates: the count and the sums of a person's grid indexes
//	DP_ONEHOT(item, 'dimension=N')                        Pairs: each person's distinct items
//
// A row is absent where its array is NULL or of another length, where a coordinate is NULL, NaN or
// infinite, and where an item is not a number of the range: it is a function of the row alone, and
// never an error.
type VectorArg struct {
	Form        plan.VectorForm
	Dim         int
	Coordinates []sql.Expression // of Coordinates
	Grids       []grid.Grid      // of Coordinates, where each has its own
	Item        sql.Expression   // of Pairs
}

// vectorArgument plans the argument of an aggregate as one of vectors; false where it is none.
func (s *Binder) vectorArgument(r *rel.Relation, a *Aggregate, arg sql.Expression) (bool, error) {
	v, err := s.vectorOf(r, a, arg)
	if v == nil || err != nil {
		return false, err
	}
	a.Arg, a.Vector = arg, v
	facts := functions.Vectors{Dim: v.Dim, Sparse: v.Form == plan.Pairs, Columns: v.Form == plan.Coordinates, Scales: scalesOf(r, v, arg)}
	return true, rule.By(rule.Option, a.Call.Vector(facts, s.params.Method(r.Private), r.Unique))
}

// vectorOf finds the form and the length of an argument of vectors; nil where it is none.
func (s *Binder) vectorOf(r *rel.Relation, a *Aggregate, arg sql.Expression) (*VectorArg, error) {
	if a.Call.Function.Counts {
		return nil, nil // rows are counted, whatever the value is
	}
	switch e := tree.Unalias(arg).(type) {
	case *functions.Vector:
		v := &VectorArg{Form: plan.Coordinates, Dim: len(e.Coordinates()), Coordinates: e.Coordinates()}
		var err error
		if a.Value, err = s.coordinates(r, e); err != nil {
			return nil, err
		}
		return v, v.check(v.Dim, a)
	case *functions.Onehot:
		return s.onehot(r, a, e)
	}
	x, err := s.Lower(arg, r.Resolve)
	if err != nil {
		return nil, err
	}
	declared := a.Call.Options.Dimension
	switch x.Type.Kind {
	case lower.Array:
		if !x.Type.Numbers {
			return nil, rule.Deny(rule.Argument, refuse.Aggregate, "Use an array of numbers.", "The argument of %s is an array, but not of numbers.", a.Call.Function.Name)
		}
	case lower.JSON:
	case lower.String:
		if declared == 0 {
			return nil, nil
		}
	default:
		return nil, nil
	}
	v := &VectorArg{Form: plan.Arrays, Dim: max(declared, x.Type.Length)}
	if v.Dim == 0 {
		return nil, rule.Deny(rule.Option, refuse.Option, "Say it with the option: "+withDimension(a.Call.Function),
			"The length of the arrays under %s is not known from their type.", a.Call.Function.Name)
	}
	if err := v.check(x.Type.Length, a); err != nil {
		return nil, err
	}
	var ok bool
	if a.Value, ok = lower.Vector(x, v.Dim); !ok {
		return nil, rule.Deny(rule.Option, refuse.Option, "", "The arrays under %s cannot be read as vectors of length %d.", a.Call.Function.Name, v.Dim)
	}
	return v, nil
}

// scalesOf returns the declared standard deviations of an argument's coordinates, where it is a
// column, or made of columns, that has them: one for all, or one for each. They only shape noise,
// so it does not matter what lies between table and argument.
func scalesOf(r *rel.Relation, v *VectorArg, arg sql.Expression) []float64 {
	of := func(e sql.Expression) []float64 {
		if gf, ok := tree.Unalias(e).(*expression.GetField); ok {
			if c := r.Find(gf); c != nil {
				return c.Scales
			}
		}
		return nil
	}
	if v.Form != plan.Coordinates {
		return of(arg)
	}
	var out []float64
	for _, c := range v.Coordinates {
		s := of(c)
		if len(s) != 1 {
			return nil
		}
		out = append(out, s[0])
	}
	return out
}

// withDimension shows a function with the option.
func withDimension(f *functions.Function) string {
	if f.Role == functions.Rewritten {
		return "the DP form of " + f.Name + " with 'dimension=…'."
	}
	return f.Name + "(v, 'dimension=…')."
}

// check compares the declared length with the one that is known, 0 where none is, and with the
// limit.
func (v *VectorArg) check(known int, a *Aggregate) error {
	switch declared := a.Call.Options.Dimension; {
	case known > 0 && declared > 0 && known != declared:
		return rule.Deny(rule.Option, refuse.Option, "Leave the option dimension out.", "The vectors have length %d, not %d.", known, declared)
	case v.Form != plan.Pairs && v.Dim > functions.MaxDimension:
		return rule.Deny(rule.Option, refuse.Option, "Use DP_ONEHOT for sparse vectors.", "Vectors have at most %d coordinates.", functions.MaxDimension)
	case a.Call.Options.Binary && v.Dim > types.MaxVectorDimensions:
		return rule.Deny(rule.Option, refuse.Option, "Leave the option answer out.", "A VECTOR has at most %d coordinates.", types.MaxVectorDimensions)
	}
	return nil
}

// coordinates lowers each coordinate of a DP_VECTOR. The result stands for all: it is nullable
// where one is, and a DOUBLE where one is, for a DOUBLE may be absent.
func (s *Binder) coordinates(r *rel.Relation, e *functions.Vector) (lower.Expr, error) {
	all := lower.Expr{Type: lower.Type{Kind: lower.Int}}
	for _, c := range e.Coordinates() {
		x, err := s.Lower(c, r.Resolve)
		if err != nil {
			return all, err
		}
		switch x.Type.Kind {
		case lower.Bool, lower.Int, lower.UInt, lower.Decimal:
		case lower.Double:
			all.Type.Kind = lower.Double
		default:
			return all, rule.Deny(rule.Argument, refuse.Aggregate, "Use CAST(… AS DOUBLE) or another numeric expression.", "The coordinate %s of DP_VECTOR is not a number.", c)
		}
		all.Nullable = all.Nullable || x.Nullable
	}
	return all, nil
}

// onehot reads a DP_ONEHOT.
func (s *Binder) onehot(r *rel.Relation, a *Aggregate, e *functions.Onehot) (*VectorArg, error) {
	f := e.Function()
	text, err := s.constantText(f, e.Options())
	if err != nil {
		return nil, err
	}
	o, err := functions.ParseOptions(f, text)
	if err != nil {
		return nil, rule.By(rule.Option, err)
	}
	if o.Dimension == 0 {
		return nil, rule.Deny(rule.Option, refuse.Option, "Use "+f.Signature+".", "DP_ONEHOT needs the number of items.")
	}
	x, err := s.Lower(e.Item(), r.Resolve)
	if err != nil {
		return nil, err
	}
	switch x.Type.Kind {
	case lower.Bool, lower.Int, lower.UInt:
	default:
		return nil, rule.Deny(rule.Argument, refuse.Aggregate, "Use CAST(… AS SIGNED), or join a table that numbers the items.", "The item of DP_ONEHOT is not a whole number.")
	}
	a.Value = lower.Expr{Type: lower.Type{Kind: lower.Array}, Nullable: true}
	v := &VectorArg{Form: plan.Pairs, Dim: o.Dimension, Item: e.Item()}
	return v, v.check(v.Dim, a)
}

// vectorGrid is the one lattice of all coordinates: a binary one, as that of a DOUBLE.
func (s *Binder) vectorGrid(r *rel.Relation, a *Aggregate) (grid.Grid, error) {
	if a.Vector.Form == plan.Pairs {
		lo, hi := int64(0), int64(1)
		return grid.Grid{Grid: estimator.Grid{Step: 1, Lo: lo, Hi: hi}, Lower: &lo, Upper: &hi}, nil
	}
	b, err := s.vectorBounds(r, a)
	if err != nil {
		return grid.Grid{}, err
	}
	g, ok := grid.Of(lower.Type{Kind: lower.Double}, b, math.Inf(1), grid.ValueBits)
	if !ok {
		return g, rule.Deny(rule.Option, refuse.Option, "Give lower and upper that are apart.", "The declared bounds of %s leave no values.", a.Call.Function.Name)
	}
	return g, g.Steps(a.Call.Function.Name)
}

// vectorBounds returns the declared bounds of every coordinate: the options, else the hull of the
// public ranges of the columns that a DP_VECTOR is made of, where each has one.
func (s *Binder) vectorBounds(r *rel.Relation, a *Aggregate) (*grid.Bounds, error) {
	if a.Call.Options.Lower != nil || a.Vector.Form != plan.Coordinates {
		return s.bounds(r, a)
	}
	var hull *grid.Bounds
	for _, c := range a.Vector.Coordinates {
		one := *a
		one.Arg = c
		b, err := s.bounds(r, &one)
		if b == nil || err != nil {
			return nil, err
		}
		if hull == nil {
			hull = &grid.Bounds{Lo: b.Lo, Hi: b.Hi}
		}
		hull.Lo, hull.Hi = min(hull.Lo, b.Lo), max(hull.Hi, b.Hi)
	}
	return hull, nil
}

// Description is what the executor needs to know of an argument of vectors.
func (a *Aggregate) Description() *plan.Vector {
	if a.Vector == nil {
		return nil
	}
	return &plan.Vector{Form: a.Vector.Form, Dim: a.Vector.Dim, Grid: a.Grid.Grid}
}

// vectorAnswer is the SQL type of a vector's answers, and how an estimate becomes a value of it.
// VECTOR has single precision; what is beyond it is its largest number.
func vectorAnswer(o functions.Options, dim int) (sql.Type, func(estimator.Estimate) any) {
	if !o.Binary {
		return types.JSON, jsonList64
	}
	return types.VectorType{Dimensions: dim}, func(e estimator.Estimate) any {
		v := lists.Map(e.Values, single)
		return sql.EncodeVector(v)
	}
}

// single rounds to single precision, and to its range.
func single(x float64) float32 { return float32(min(max(x, -math.MaxFloat32), math.MaxFloat32)) }

// jsonList64 makes the JSON array of an estimate's values.
func jsonList64(e estimator.Estimate) any {
	list := lists.Map(e.Values, func(v float64) any { return v })
	return types.JSONDocument{Val: list}
}

// Vectorizable reports whether an aggregate may become a coordinate.
func (s *Binder) Vectorizable(r *rel.Relation, a *Aggregate) bool {
	gf, ok := tree.Unalias(a.Arg).(*expression.GetField)
	if !ok || a.Vector != nil || a.Call.Function.Fused == nil || a.Grid.Lower != nil || a.Moment != NoMoment || a.targeted || a.Paired() {
		return false
	}
	for _, o := range a.Call.Options.Given {
		if o != "weight" {
			return false
		}
	}
	if m := s.params.Method(r.Private); m != "" && m != "auto" {
		return false
	}
	c := r.Find(gf)
	return c != nil && c.Required && !c.Extended
}

// Vectorized is the mean of vectors of the members' columns. Its coordinates keep their own grids:
// a scale by the spread makes up for any.
func (s *Binder) Vectorized(members []*Aggregate) (*Aggregate, error) {
	f := members[0].Call.Function
	call, err := functions.NewCall(f.Private(), "", f.Fused.Options)
	if err != nil {
		return nil, err
	}
	v := &VectorArg{Form: plan.Coordinates, Dim: len(members)}
	a := &Aggregate{Call: call, Vector: v, MaxRows: 1, Kinds: []estimator.Kind{estimator.Vector}, Parts: members,
		Value: lower.Expr{Type: lower.Type{Kind: lower.Int}}}
	a.Grid.Step = 1
	texts := make([]string, len(members))
	for i, m := range members {
		v.Coordinates = append(v.Coordinates, m.Arg)
		v.Grids = append(v.Grids, m.Grid)
		a.Grid.Lo, a.Grid.Hi = min(a.Grid.Lo, m.Grid.Lo), max(a.Grid.Hi, m.Grid.Hi)
		if m.Value.Type.Kind == lower.Double {
			a.Value.Type.Kind = lower.Double
		}
		texts[i] = m.Text
	}
	a.Arg = expression.Tuple(slices.Clone(v.Coordinates))
	a.Text = strings.Join(texts, ", ")
	a.Type = members[0].Type
	return a, a.Call.Vector(functions.Vectors{Dim: v.Dim}, "", true)
}

// Vectorized builds the mechanism of an aggregate that stands for several means, under the facts p.
// Each of them is built as well, for groups with too few persons for the vector; their answers are
// in steps, as the vector's are. No such statement is pure.
func (a *Aggregate) Vectorized(p estimator.Params) (estimator.Estimator, error) {
	return a.Call.FusedEstimator(p, func(j int, rho float64) (estimator.Estimator, error) {
		m := a.Parts[j].Facts()
		m.Rho, m.Relation, m.Sized = rho, p.Relation, p.Sized
		m.Grid.Step, m.Grid.Decimal, m.Grid.Scale = 1, false, 0
		return a.Parts[j].Call.Estimator(m)
	})
}

// vectorGain is about how much of the noise of k separate means is left when they are one vector,
// for normal columns. A clip that leaves nearly all of n persons whole is near 4 standard
// deviations for one column, and near √k + 2.5 for k of them; the loss of a column is a k-th alone,
// and shared by all in the vector.
func vectorGain(k int) float64 { return (math.Sqrt(float64(k)) + 2.5) / (4 * math.Sqrt(float64(k))) }

// GainText says what a vector of means saves, for EXPLAIN.
func (a *Aggregate) GainText() string {
	switch {
	case a.Sums != nil:
		return fmt.Sprintf("%d answers from %d sums: a mean is a sum over a count", len(a.Parts), a.Share())
	case a.SharedStatistics():
		return fmt.Sprintf("%d statistics from one release", len(a.Parts))
	case a.Parts == nil || a.GroupVector:
		return ""
	}
	return fmt.Sprintf("%d means as one vector: about %.2g of the noise of separate ones, for normal columns", len(a.Parts), vectorGain(len(a.Parts)))
}

// Share is the number of shares of the statement's loss that an aggregate takes.
func (a *Aggregate) Share() int {
	if a.Sums != nil {
		return 1 + len(a.Sums)
	}
	return max(1, len(a.Parts))
}

// Presents are the members' ways to present their coordinate.
func (a *Aggregate) Presents() []func(estimator.Estimate) any {
	switch {
	case a.Series:
		return daysOf(a.Parts)
	case a.View:
		return cellsOf(a.Parts)
	}
	if a.Vector == nil {
		return presentsOf(a.Parts)
	}
	out := make([]func(estimator.Estimate) any, len(a.Parts))
	for i, m := range a.Parts {
		out[i] = func(e estimator.Estimate) any {
			if math.IsNaN(e.Values[i]) {
				return nil
			}
			return m.Present(estimator.Estimate{Values: []float64{m.Grid.Value(e.Values[i])}})
		}
	}
	return out
}

// FitsGroupVector reports whether an aggregate has no loss or method of its own, and is of a kind
// that can be answered in all groups at once.
func (a *Aggregate) FitsGroupVector() bool {
	if a.Vector != nil || a.Parts != nil || a.targeted || a.Paired() {
		return false
	}
	for _, o := range a.Call.Options.Given {
		switch o {
		case "lower", "upper", "weight":
		default:
			return false
		}
	}
	return a.Call.Function.InGroups != nil
}

// KnownApart reports whether what a person moves an aggregate of one group by is public: a number
// of persons, a bounded number of rows, or values of such rows with a declared range. Then nothing
// is to be searched for in any group.
func (a *Aggregate) KnownApart() bool {
	switch m := a.Measure(); {
	case m == groups.Persons:
		return true
	case m == groups.Rows:
		return a.MaxRows > 0
	}
	return a.MaxRows > 0 && a.Grid.Lower != nil && a.Grid.Upper != nil
}

// joined is the aggregate that stands for its members in all groups.
func GroupVectorOf(members []*Aggregate) *Aggregate {
	t := &Aggregate{Parts: members, GroupVector: true, Call: members[0].Call}
	texts := lists.Map(members, func(m *Aggregate) string { return m.Text })
	t.Text = strings.Join(texts, ", ")
	t.Call.Options = functions.Options{}
	return t
}

// Measure is what the estimator of all groups tells of an aggregate.
func (a *Aggregate) Measure() groups.Measure { return a.Call.Function.InGroups(a.Call) }

// GroupKinds are a person's columns of a part for one group: none of a sum that others answer.
func (a *Aggregate) GroupKinds() []estimator.Kind {
	if a.mean > 0 {
		return nil
	}
	return a.Measure().Kinds()
}

// InGroups is what the estimator of all groups knows of a part.
func (a *Aggregate) InGroups() groups.Aggregate {
	return groups.Aggregate{Measure: a.Measure(), Grid: a.Grid.Grid, Lower: a.Grid.Lower, Upper: a.Grid.Upper, Mean: a.mean, Count: a.count}
}

// Width is the number of a person's columns for one group.
func (a *Aggregate) Width() int {
	n := lists.Sum(a.Parts, func(m *Aggregate) int { return len(m.GroupKinds()) })
	return n
}

// presentsOf are the members' ways to present their part of a group.
func presentsOf(members []*Aggregate) []func(estimator.Estimate) any {
	out := make([]func(estimator.Estimate) any, len(members))
	for i, m := range members {
		out[i] = func(e estimator.Estimate) any { return m.presentOne(e.Values[i]) }
	}
	return out
}

// cellsOf give what is released of each member in one cell of a view, as a view.Cell.
func cellsOf(members []*Aggregate) []func(estimator.Estimate) any {
	out := make([]func(estimator.Estimate) any, len(members))
	for i := range members {
		out[i] = func(e estimator.Estimate) any { return view.CellOf(e, i) }
	}
	return out
}

// daysOf give what is released of each member on one day, as a continual.Day.
func daysOf(members []*Aggregate) []func(estimator.Estimate) any {
	out := make([]func(estimator.Estimate) any, len(members))
	for i := range members {
		out[i] = func(e estimator.Estimate) any { return continual.DayOf(e, i) }
	}
	return out
}

// presentOne presents one released number, NULL where the estimator has none.
func (a *Aggregate) presentOne(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return a.Present(estimator.Estimate{Values: []float64{v}})
}
