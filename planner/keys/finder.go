package keys

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

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
	// Days, if not nil, are the values of a day that a GROUP BY is of alone, whatever is declared.
	Days []any

	ctx    *sql.Context
	stored map[string][]sql.Row // rows of queries that the store answered
}

// NewFinder returns the finder of a statement.
func NewFinder(ctx *sql.Context, w *rel.Writer, c catalog.Reader, domains DomainSource, store Evaluator) *Finder {
	return &Finder{Writer: w, Catalog: c, Domains: domains, Store: store, ctx: ctx}
}

// days is the image of a day as Days have it, nil of what is none.
func (s *Finder) days(k *facts, e sql.Expression) (*Image, error) {
	if err := s.Writer.RunsOnBases(k.r, e); err != nil || !types.IsDateType(e.Type(s.ctx)) || len(tree.Fields(s.ctx, e)) == 0 {
		return nil, err
	}
	im := &Image{Values: s.Days, From: "the days of the series", index: map[string]int{}, expr: e}
	for i, v := range s.Days {
		im.index[RowName(sql.Row{v})] = i
	}
	return im, nil
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
			find := s.imageOf
			if s.Days != nil && len(exprs) == 1 {
				find = s.days
			}
			im, err := find(known, o)
			if err != nil {
				return nil, err
			}
			k.Image = im
		}
		keys[i] = k
	}
	return keys, nil
}
