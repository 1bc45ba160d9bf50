package settings

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
)

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
