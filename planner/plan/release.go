package plan

import (
	"math"
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/days"
	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/partition"
	"scrim/engine/store"
	"scrim/functions"
)

// Statement is the private part of one SQL statement: its releases and what they cost together.
// It is a value: planning opens nothing, charges nothing and draws nothing random.
type Statement struct {
	Text     string // as the client sent it
	Releases []*Release
	// Tables and Entities give the total loss by account; a release charges every protected table
	// it touches in full, and each entity once.
	Tables   []Charge
	Entities []Charge
	// Epsilon or Rho is the dp_epsilon or dp_rho that the statement was planned with, the least of
	// its tables'; the other is 0.
	Epsilon, Rho float64
	// Totals says which releases sum up others.
	Totals []Total
	// Pilot says that it runs for what its answers tell of errors: nobody sees its rows, and nobody
	// is told remarks on them.
	Pilot bool
	// Strict says that an answer which a warning is about ends the statement (dp_warnings).
	Strict bool
	// Top is ORDER BY an aggregate with LIMIT; nil: none.
	Top *Top
	// Ranges are of columns of the result that are computed from several answers.
	Ranges []Range
	// ViewsFirst says that views answer it where they can, stored answers notwithstanding.
	ViewsFirst bool
	// NotTaken tells of DP views that could have answered it, for EXPLAIN.
	NotTaken []NotTaken
}

// Top says that the first K groups after Skip of a release that meet conditions are shown, by an
// expression.
// Both are of the columns of Output.
type Top struct {
	Release    *Release
	By         sql.Expression
	Having     []sql.Expression
	K, Skip    int
	Descending bool
}

// Charge is the loss that a statement puts on one account.
type Charge struct {
	Account string // catalog.Table.Account, or the entity's name
	Table   string // schema.table for messages; "" for an entity
	Loss    privacy.Loss
}

// Release is one private aggregation: a DPAggregate node of the plan.
type Release struct {
	// digest of everything that decides the answer but the data: replays are found by it
	Key   string
	Scans []Scan
	// Asked is the digest of what it asks, whatever its loss; Uses are the releases before it whose
	// answers are values of its scans (AnswerArg).
	Asked string
	Uses  []*Release
	Keys  []Key
	// of each key in the order of GROUP BY, its place in Keys: the rows are in that order
	Written []int
	// number of groups when all keys are public; 0 when keys are selected privately
	Groups    int
	Selection *partition.Selection
	// Other says that the rows whose key is not selected are one group more, the last, which the
	// scans other than the first number by SelectedKeys; all of its keys are NULL.
	Other bool
	// groups per unit that the scans keep; 0 when a unit cannot be in more than one or all are kept
	MaxGroups int
	Relation  estimator.Relation
	// groups that a unit may be in, >= 1: what the loss of one group is multiplied by
	PerUnit int
	// the keys have one value on all rows of a unit: PerUnit is 1, and the scans need not see to it
	OneGroup   bool
	Aggregates []Aggregate
	// of the rows of public keys, which the nodes show; nil for all
	Feasible []bool
	Output   []Output // one per column of a row of its answer, of which each node shows some
	Schema   sql.Schema
	Choice   Grouping // of answering groups together or apart
	// Persons is a SELECT of one BIGINT that counts the persons of the table, from its unit column
	// alone. It is set where an aggregate takes their number as public (estimator.Input.Persons),
	// and "" elsewhere.
	Persons    string
	MaxPersons int64 // public bound on the persons of the tables; 0 where none is declared
	Loss       privacy.Loss
	Tables     []string // catalog accounts of the protected tables touched
	Entities   []string // their entities
	// Blocks are the days of the periods that its scans read and that it is charged to, where the
	// unit is one person's rows of one period; nil: every period, or a unit without periods.
	Blocks *days.Span
	// the entities of the two persons whom each row belongs to; nil where it is one
	Owners []string
	// OneOwner says what would make each row one person's; "" where nothing is known of it
	OneOwner string
	// every table that the scans read, public ones too: their versions decide replays
	Reads []store.TableRef
	// the policies of its protected tables let every analyst of them find its stored answer
	Shared  bool
	Defined []Definition // of each of Reads, as the plan took them
	// Belongs tells of each protected one of Reads which person a row belongs to.
	Belongs []string
	// Partial names the dimensions of a view that rows may have no value of; such rows are in no
	// cell.
	Partial []string
	// FromView is the answer that a DP view tells; nil: none does
	FromView *FromView
}

// Scan is one SELECT for the store that returns one row per (group, unit), or per row for
// estimator.Value. Columns: first the group (one BIGINT group number in [0, Groups) when all keys
// are public, else one column a key, else none without GROUP BY), then the aggregates' columns.
type Scan struct {
	SQL   string
	Args  []any
	Types []store.ScanType
	// Rows makes the scan one of rows: after the group's columns comes one that names the unit, an
	// integer or a text, and the executor adds the rows up by (group, unit). Only vectors and pairs
	// are scanned so.
	Rows bool
	// Units puts the same column after the group's into a scan of every group that the unit is in:
	// of one row per (group, unit), or of rows that are added up to it, exactly, and clamped then.
	// The aggregate of all groups at once is scanned so, alone.
	Units bool
	// Adds makes it a scan of rows, with the same column after the group's, whose other columns the
	// executor adds up by (group, unit), exactly, and clamps then, for aggregates that read
	// columns.
	Adds bool
	// Kept, with Units, says that the column after the unit is 1 in the groups in which the unit is
	// counted for the key selection, and 0 in the others.
	Kept bool
	// Held says that the rows have one column more than Types, a BIGINT behind the others: in how
	// many groups the unit is counted for the key selection. So has the first scan of a release
	// whose keys are selected, where these may be several.
	Held bool
}

// SelectedKeys is the relation that the scans of a release with Release.Other read besides tables:
// the executor puts it in front of them. It has the selected keys, column SelectedKey(i) for the
// i-th, and g, the number of their group.
const SelectedKeys = "scrim_selected"

// SelectedKey names a column of SelectedKeys, and of the table of keys of any selection.
func SelectedKey(i int) string { return "c" + strconv.Itoa(i) }

// leading is the number of columns of a scan that name the group.
func (r *Release) leading(scan int) int {
	if r.Selection == nil || r.Other && scan > 0 {
		return min(len(r.Keys), 1)
	}
	return len(r.Keys)
}

// SecretArg stands in Scan.Args for a secret: the executor puts one fresh random int64 for each
// index in its place, the same for all scans of one execution of a statement.
type SecretArg struct{ Index int }

// AnswerArg stands in Scan.Args for what was released: the value in a column of the only row of the
// release of the statement that asks what Asked says, or with Each those of all rows, of a release
// with one public key, as a JSON list of texts and nulls in the order of the key. It is one of
// Release.Uses, which is answered first. What follows from a released number is another release by
// adaptive composition, whose loss adds up with that of the first.
type AnswerArg struct {
	Asked  string
	Output int
	Each   bool
}

// Key is one grouping expression.
type Key struct {
	Name   string
	Type   sql.Type
	Domain []any  // its public values in answer order as SQL values of Type; nil when not public
	From   string // where they come from; "" when not public
	Rest   bool   // rows may have other values, and are in no group then
	// Decode turns what a scan returned (int64, float64, string or nil) into an SQL value of Type.
	Decode func(any) (any, error)
}

// Aggregate is one distinct aggregate of a release.
type Aggregate struct {
	Text string // as EXPLAIN prints it
	Scan int    // index into Scans
	// indexes into the scan's columns, in the order of Estimator.Columns; of pairs two, three where
	// they have weights, and four where these are sums beside numbers of rows
	Columns   []int
	OneEntity bool // of pairs: both columns name persons of one entity
	Estimator estimator.Estimator
	// Vector is set for aggregates of vectors, whose Columns are then what the vector is made from.
	Vector *Vector
	Sized  bool // the number of persons is public
	// what the estimator's loss is multiplied by in each group for the relation, in parts of
	// 1/estimator.ExchangeParts; at least as many
	Exchange int
	// Present turns an estimate with status OK into the SQL value of the aggregate's type.
	Present func(estimator.Estimate) any
	// Parts are set instead where one estimate answers several columns: Output.Part chooses one.
	Parts []func(estimator.Estimate) any
	// Groups is set where one estimate answers all groups, see AllGroups: its Estimator takes
	// Input.Vectors, a sparse block with entry g·Width + c for column c of group g, Columns being
	// the scan's of each c. A part of its answer is one group's.
	Groups *groups.Params

	// Shape names what the aggregate asks, whatever it costs: an answer tells the error of another
	// of one shape.
	Shape string

	Vectorized string     // what answering several columns at once saves
	ErrorBars  []ErrorBar // how error bars are made, of each part
}

// Paired reports whether the estimator reads pairs, of a person and a value or of two persons,
// which are the aggregate's first two columns.
func (a *Aggregate) Paired() bool {
	return a.Estimator != nil && slices.Equal(a.Estimator.Columns(), []estimator.Kind{estimator.Pair})
}

// Value is the SQL value of an output that shows the aggregate.
func (a *Aggregate) Value(o Output, e estimator.Estimate) any {
	if o.ErrorBar != functions.NoErrorBar {
		return a.bar(o, e)
	}
	if a.Parts != nil {
		return a.Parts[o.Part](e)
	}
	return a.Present(e)
}

// finest is how many steps of rounding the noise has at least for them to be left out of intervals.
const finest = 1000

// Rounded allows for the rounding of rows where that may be seen beside the noise: half a step a
// row is half a step of a mean, of a quantile and of a standard deviation. Of a sum nothing is
// known then: how many rows there are is in no released number. It is post-processing: it looks at
// the size of the noise, which is released with the answer. The values are those of one group, or
// of all, group by group.
func (a *Aggregate) Rounded(e estimator.Estimate) estimator.Estimate {
	if e.Error == nil || !slices.ContainsFunc(a.ErrorBars, func(t ErrorBar) bool { return t.Rounding > 0 }) {
		return e
	}
	x := *e.Error
	x.Step = make([]float64, len(e.Values))
	for i := range x.Step {
		bar := a.ErrorBars[i%len(a.ErrorBars)]
		x.Step[i] = estimator.Entry(e.Error.Step, i)
		switch {
		case bar.Rounding == 0:
		case x.Form == estimator.Quantile || x.Form == estimator.Variance:
			x.Step[i] = bar.Rounding
		case x.Roomy || e.StdErr[i] >= finest*bar.Rounding:
		case bar.Mean && x.Form == estimator.Quotient:
			x.Step[i] += bar.Rounding
		default:
			x.Step[i] = math.Inf(1)
		}
	}
	e.Error = &x
	return e
}

// roundingLine tells what rows are rounded to, where that may be seen beside the noise: the
// coarsest of several.
func (a *Aggregate) roundingLine() []string {
	s, known := a.Estimator.ExpectedError()
	told := 0.0
	for _, bar := range a.ErrorBars {
		if step := bar.Value(bar.Rounding); known && s < finest*bar.Rounding || !known && step >= leastRounding {
			told = max(told, step)
		}
	}
	if told == 0 {
		return nil
	}
	return []string{"rows are rounded to " + number6(told) + "  the interval allows for it, or is NULL; a declared range of the columns makes it finer"}
}

// leastRounding is the step that is told where the noise is not known before: that of a DOUBLE
// without a range is under it.
const leastRounding = 1e-5

// AllGroups returns the estimator for so many groups.
func (a *Aggregate) AllGroups(n int) (estimator.Estimator, error) {
	if a.Groups.Groups == n {
		return a.Estimator, nil
	}
	p := *a.Groups
	p.Groups = n
	return groups.New(p)
}

// Vector says how the executor makes an estimator.Block of an aggregate's columns.
type Vector struct {
	Form VectorForm
	Dim  int
	// Grid is the lattice of every coordinate; arrays are brought onto it by the executor: k =
	// x/Step rounded half to even and clamped to [Lo, Hi]. A row with NULL, NaN or ±Inf in it is
	// absent.
	Grid estimator.Grid
}

// VectorForm is what an aggregate's columns hold.
type VectorForm uint8

// Forms.
const (
	// Arrays: one column, store.ScanVector: a row's vector. With Scan.Rows the executor adds the
	// rows of a unit up, without it a unit has one row.
	Arrays VectorForm = iota
	// Coordinates: 1 + Dim columns, store.ScanInt64: the number of a unit's rows in which every
	// coordinate is present, then the sum of each coordinate's grid indexes over these rows, one
	// scan row a unit.
	Coordinates
	// Pairs: one column, store.ScanInt64, with Scan.Rows: a coordinate in [0, Dim) that is 1 for
	// the unit. A pair may come more than once and counts once; other numbers and NULL are absent.
	// The block is sparse.
	Pairs
)

// Output says where a column of the node comes from: exactly one of Key and Aggregate is >= 0, or
// both are -1 for a column that is always NULL (an argument column that the binder carries along).
// With Bar it tells of the error of the aggregate's answer, at a Level if it is an interval.
type Output struct {
	Key, Aggregate, Part int
	ErrorBar             functions.ErrorBar
	Level                float64
}

// Earlier is what an earlier answer tells about an aggregate's error.
type Earlier struct {
	Loss   float64 // of the release of one group: ρ, or ε of a pure one
	StdErr float64 // the largest of its groups' standard errors, in units of the answer
}

// Sample is a scan of values of persons, one of each, of which an execution chooses at most Slots,
// after a charge.
type Sample struct {
	Scan     Scan // Width columns of DOUBLE, or one array of them
	Width    int
	Slots    int
	Array    bool
	Reads    []store.TableRef
	Defined  []Definition
	Tables   []Charge // of no loss yet
	Entities []string
}

// What a release takes of the memory of a query, in bytes, from public facts. What there is of each
// person lies in memory of another kind, which goes on on disk: no public fact tells how much it
// is, and to stop when it is too much would tell it.
const (
	// AnswerBytes is about what a number of a vector of the answer takes: itself and its standard
	// error, encoded to be kept, and as the text of a row.
	AnswerBytes = 64
	// NumberBytes is about what a number that is no vector's takes: its estimate with the law of
	// its error, and the same texts.
	NumberBytes = 512
	// SumBytes is about what a coordinate takes while persons are added up: 128-bit sums, norms'
	// terms and what is released of it, on each of up to four threads.
	SumBytes = 256
	// ChunkRows is the number of rows of the store's vectors. An array's numbers are there for all
	// of them, however many rows a table has.
	ChunkRows = 2048
	// ChunkVectors is about how many such vectors a scan with an array holds at a time: measured
	// with two threads, from 1 to 3 MiB a row of them.
	ChunkVectors = 4
)

// Memory is about what a release takes at most, in bytes, whatever its rows are: by groups,
// coordinates and columns. Where keys are selected it is that of one group; the others follow from
// how many keys are released.
func (r *Release) Memory() int64 {
	groups, total := int64(max(1, r.Groups)), int64(0)
	for _, a := range r.Aggregates {
		if x, ok := a.Estimator.(estimator.Large); ok {
			total += x.Memory()
		}
		switch {
		case a.Groups != nil:
			total += groups * int64(a.Groups.Width()) * (2*AnswerBytes + SumBytes)
		case a.Vector != nil:
			total += groups*int64(a.Vector.Dim)*AnswerBytes + int64(a.Vector.Dim)*SumBytes
		default:
			total += groups * NumberBytes
		}
	}
	most := int64(0) // scans run one after another
	for i, s := range r.Scans {
		columns := int64(len(s.Types))
		for _, a := range r.Aggregates {
			if a.Vector != nil && a.Scan == i && a.Vector.Form == Arrays {
				columns += int64(a.Vector.Dim)
			}
		}
		most = max(most, columns*ChunkRows*8*ChunkVectors)
	}
	return total + most
}

// disk is about what the numbers of persons take beyond the memory that they are kept in, where
// their number has a public bound, and 0 where it has none: each number of a person in each group,
// once and in an estimator's copy.
func (r *Release) disk() float64 {
	numbers := 0
	for _, a := range r.Aggregates {
		if a.Vector != nil {
			numbers += a.Vector.Dim
		}
		numbers += 1 + len(a.Columns)
	}
	return 16 * float64(r.MaxPersons) * float64(numbers) * float64(max(1, r.PerUnit))
}

// MiB is a number of bytes in MiB, rounded up.
func MiB(bytes float64) float64 { return math.Ceil(bytes / (1 << 20)) }

// Events returns what the release draws on one person, for the account: the key selection, and each
// aggregate as often as the person takes part. Its loss is r.Loss, but for the rounding of each
// event.
//
// A person is in up to perUnit groups, and the draws of one group come after those of another: the
// runs add up. Under replace-one the groups' estimators run under add-remove (as package release
// has it: neighbours.go), and an exchange is a removal and an addition. In each run, given what
// came before, the parameters are twice as large: noise hides a move of up to twice the length, and
// the logarithms of the quotients of two steps add up, so ε is doubled and ρ, which grows with the
// square, is four times as large ([BS16, Proposition 27] where nothing more is known). Gaussian
// noise that hides a shorter move has less ρ: Aggregate.Exchange. Where the person only leaves a
// group, and enters another, that is two runs as they are, which cost less than one of twice the
// parameters.
func (r *Release) Events() []privacy.Event {
	return r.events(privacy.DiscreteGaussian, estimator.Events)
}

// RoundedEvents is Events where Gaussian noise is drawn as rounded normal numbers.
func (r *Release) RoundedEvents() []privacy.Event {
	return r.events(privacy.Gaussian, estimator.RoundedEvents)
}

func (r *Release) events(noise privacy.EventKind, of func(estimator.Estimator) []privacy.Event) []privacy.Event {
	var out []privacy.Event
	if s := r.Selection; s != nil {
		l := s.Loss()
		out = append(out,
			privacy.Event{Kind: noise, Rho: l.Rho, Count: 1},
			privacy.Event{Kind: privacy.Threshold, DeltaEvent: l.DeltaEvent, Count: 1})
	}
	for i := range r.Aggregates {
		a := &r.Aggregates[i]
		for _, e := range of(a.Estimator) {
			if a.Groups == nil {
				e = r.InGroups(a, e)
			}
			out = privacy.AppendEvent(out, e)
		}
	}
	return out
}

// InGroups is an event of an aggregate in one group in all groups that a person may be in.
func (r *Release) InGroups(a *Aggregate, e privacy.Event) privacy.Event {
	switch {
	case a.Exchange <= estimator.ExchangeParts:
	case e.Kind == privacy.DiscreteGaussian || e.Kind == privacy.Gaussian:
		e.Rho = privacy.Loss{Rho: e.Rho}.Times(a.Exchange).Over(estimator.ExchangeParts).Rho
	default:
		e.Rho, e.Epsilon, e.Steps = 4*e.Rho, 2*e.Epsilon, 2*e.Steps
	}
	n := uint64(e.Count) * uint64(max(1, r.PerUnit))
	if n > math.MaxUint32 {
		return privacy.EventsOf(e.Loss().Times(max(1, r.PerUnit)))[0]
	}
	e.Count = uint32(n)
	return e
}
