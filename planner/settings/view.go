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
