package keys

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// DomainSource reads the distinct values of a column of a public table, in ascending order with a
// NULL last, as SQL values. It returns at most limit+1 values, so that a caller sees an excess.
type DomainSource interface {
	Values(ctx *sql.Context, source catalog.Source, limit int) ([]any, error)
}

// Evaluator evaluates generated queries that read no table.
type Evaluator interface {
	QueryTables(ctx *sql.Context, reads []store.TableRef, query string, args []any, schema sql.Schema) (sql.RowIter, error)
}

// Finder finds the keys of the GROUP BYs of one statement.
type Finder struct {
	Writer  *rel.Writer
	Catalog catalog.Reader
	// Domains may be nil: domains that come from a table are then refused.
	Domains DomainSource
	// Store may be nil: images are then computed by go-mysql-server alone.
	Store Evaluator

	ctx    *sql.Context
	stored map[string][]sql.Row // rows of queries that the store answered
}

// NewFinder returns the finder of a statement.
func NewFinder(ctx *sql.Context, w *rel.Writer, c catalog.Reader, domains DomainSource, store Evaluator) *Finder {
	return &Finder{Writer: w, Catalog: c, Domains: domains, Store: store, ctx: ctx}
}

// Of finds the image of every grouping expression.
func (s *Finder) Of(r *rel.Relation, exprs []sql.Expression) ([]Key, error) {
	keys, known := make([]Key, len(exprs)), s.factsOf(r)
	for i, e := range exprs {
		e = tree.Unalias(e)
		k := Key{Expr: e, Type: e.Type(s.ctx), Name: e.String()}
		if err := s.Writer.NoSubquery(e); err != nil {
			return nil, err
		}
		if o := r.Origin(s.ctx, e); o != nil {
			im, err := s.imageOf(known, o)
			if err != nil {
				return nil, err
			}
			k.Image = im
		}
		keys[i] = k
	}
	return keys, nil
}
