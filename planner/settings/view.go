package settings

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
)

// View says that a statement is planned as the definition of a view: its groups are the cells of a
// cube whose marginals are released together.
type View struct {
	Ways int // marginals of up to so many dimensions are asked for
	// Sets are the marginals that are asked for in their place, where it is not nil, by the places
	// of the keys in the release.
	Sets [][]int
	// Ranges are the places of the keys along which sums over intervals have little noise.
	Ranges []int
	// Series makes it the definition of running totals, whose only key is the day; nil: of a cube.
	Series *Series
}

// Series says which days running totals have, and for how much one person counts over all of them.
type Series struct {
	Days      []any   // as SQL values, in their order: the values of the key, whatever is declared
	PerPerson int64   // rows
	Clip      float64 // sums, in units of the sum; 0: as many times the largest value
}

type viewKey struct{}

// WithView returns a context in which a statement is planned as a view's definition.
func WithView(ctx *sql.Context, v View) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, viewKey{}, &v))
}

// ViewOf returns what the context says of views, nil where it says nothing.
func ViewOf(ctx *sql.Context) *View {
	v, _ := ctx.Value(viewKey{}).(*View)
	return v
}

// Synthetic says that a statement, SELECT DP_MEAN(DP_VECTOR(codes)) FROM table, is planned as the
// release of a synthetic table: each person is one row of codes.
type Synthetic struct {
	Columns []Coded
	Ways    int // tables of up to so many columns may be measured
	Rows    int // the most rows that are made; 0: as many as the limits allow
}

// Coded is a column as codes 0 to Size − 1.
type Coded struct {
	Name string // for messages
	Size int
}

type syntheticKey struct{}

// WithSynthetic returns a context in which a statement is planned as a synthetic table's release.
func WithSynthetic(ctx *sql.Context, s Synthetic) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, syntheticKey{}, &s))
}

// SyntheticOf returns what the context says of synthetic tables, nil where it says nothing.
func SyntheticOf(ctx *sql.Context) *Synthetic {
	s, _ := ctx.Value(syntheticKey{}).(*Synthetic)
	return s
}

// PilotNeeded is the refusal of a statement whose cost only a pilot can tell, where the pilot is
// allowed: the caller runs the statement under WithPilot, and plans it again under AfterPilot.
type PilotNeeded struct{ Share float64 } // of what the statement usually costs, within (0, 1]

// Error implements error.
func (p *PilotNeeded) Error() string { return "planner: a pilot is needed" }

// pilot is what a context says about pilots.
type pilot struct {
	Share float64 // of the pilot that is running; 0: none is
	Over  bool    // one has run
}

type pilotKey struct{}

// WithPilot returns a context in which a statement is planned as its own pilot.
func WithPilot(ctx *sql.Context, p *PilotNeeded) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, pilotKey{}, pilot{Share: p.Share}))
}

// AfterPilot returns a context in which no further pilot is asked for.
func AfterPilot(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, pilotKey{}, pilot{Over: true}))
}

// PilotOf returns what the context says about pilots; the zero value where it says nothing.
func PilotOf(ctx *sql.Context) pilot {
	p, _ := ctx.Value(pilotKey{}).(pilot)
	return p
}
