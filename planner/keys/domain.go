package keys

import (
	"fmt"
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// Values lists the public values of a base column as SQL values of its type, each once.
func (s *Finder) Values(b *rel.Base) ([]any, bool, error) {
	if len(b.Domains) == 0 {
		return nil, false, nil
	}
	var out []any
	seen := map[string]bool{}
	for _, d := range b.Domains {
		v, finite, err := s.oneDomain(d, b)
		if err != nil || !finite {
			return nil, false, err
		}
		for _, x := range v {
			if x != nil {
				c, in, err := b.Type.Convert(s.ctx, x)
				if err != nil || in != sql.InRange {
					return nil, false, rule.Deny(rule.Domain, refuse.GroupKeys, "A DBA declares the domain again with dp_set_domain.",
						"The domain of %s has a value that is not of type %s.", b.Name, b.Type)
				}
				x = c
			}
			if name := fmt.Sprintf("%T %v", x, x); !seen[name] {
				seen[name] = true
				out = append(out, x)
			}
		}
	}
	return out, true, nil
}

func (s *Finder) oneDomain(d catalog.Domain, b *rel.Base) ([]any, bool, error) {
	switch {
	case d.Values != nil:
		if len(d.Values) > MaxPublic {
			return nil, false, tooMany()
		}
		return d.Values, true, nil
	case d.Range != nil:
		// A range is a key set for whole numbers only.
		switch b.Expr.Type.Kind {
		case lower.Int, lower.UInt, lower.Bool:
		default:
			return nil, false, nil
		}
		lo, hi := math.Ceil(d.Range.Min), math.Floor(d.Range.Max)
		if hi-lo >= MaxPublic {
			return nil, false, nil
		}
		var v []any
		for x := lo; x <= hi; x++ {
			v = append(v, int64(x))
		}
		return withNull(v, d), true, nil
	case d.Span != nil:
		first, last := d.Span.Min.Truncate(24*time.Hour), d.Span.Max
		if b.Expr.Type.Kind != lower.Date || last.Sub(first) >= MaxPublic*24*time.Hour {
			return nil, false, nil
		}
		var v []any
		for t := first; !t.After(last); t = t.AddDate(0, 0, 1) {
			v = append(v, t)
		}
		return withNull(v, d), true, nil
	case d.Source != nil:
		if s.Domains == nil || s.Catalog.Table(d.Source.Table).State != catalog.Public {
			return nil, false, rule.Deny(rule.Domain, refuse.GroupKeys, "A DBA declares the table public, or lists the values.",
				"The domain of %s comes from %s, which is not a public table.", b.Name, d.Source.Table)
		}
		v, err := s.Domains.Values(s.ctx, *d.Source, MaxPublic)
		if err != nil {
			return nil, false, err
		}
		return v, len(v) <= MaxPublic, nil
	}
	return nil, false, nil
}

// withNull adds NULL to the values of a range that has it.
func withNull(values []any, d catalog.Domain) []any {
	if d.Null {
		return append(values, nil)
	}
	return values
}

func tooMany() error {
	return rule.Deny(rule.GroupSize, refuse.GroupKeys, "Group by fewer or coarser keys, or filter the answer of a smaller query.",
		"The public domains of the group keys have more than %d combinations.", MaxPublic)
}

// Text writes an SQL value as text that the store casts to the column's type; nil is NULL.
func Text(t sql.Type, v any) any {
	if e, ok := t.(sql.EnumType); ok && v != nil {
		if n, ok := tree.Float(v); ok {
			if name, ok := e.At(int(n)); ok {
				return name
			}
		}
	}
	switch x := v.(type) {
	case nil:
		return nil
	case time.Time:
		if x.Hour() == 0 && x.Minute() == 0 && x.Second() == 0 && x.Nanosecond() == 0 {
			return x.Format("2006-01-02")
		}
		return x.Format("2006-01-02 15:04:05.999999")
	case []byte:
		return string(x)
	case bool:
		if x {
			return "1"
		}
		return "0"
	}
	return fmt.Sprint(v)
}

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

// typeOf is the type of the values of an expression, x in the store. What MySQL computes as a
// BIGINT UNSIGNED may be below 0: an error would tell of a row.
func (s *Finder) typeOf(e sql.Expression, x lower.Expr) sql.Type {
	t := standard.TypeOf(s.ctx, e)
	if t == types.Uint64 && x.Type.Kind == lower.Int {
		return types.Int64
	}
	return t
}

// Of finds the image of every grouping expression.
func (s *Finder) Of(r *rel.Relation, exprs []sql.Expression) ([]Key, error) {
	keys, known := make([]Key, len(exprs)), s.factsOf(r)
	for i, e := range exprs {
		e = tree.Unalias(e)
		k := Key{Expr: e, Type: standard.TypeOf(s.ctx, e), Name: e.String()}
		if err := s.Writer.NoSubquery(e); err != nil {
			return nil, err
		}
		x, err := lower.Lower(s.ctx, e, new(lower.Binder), r.Resolve)
		if err == nil {
			k.Type = s.typeOf(e, x)
		}
		if err == nil && x.Type.Members == "" && (types.IsEnum(k.Type) || types.IsSet(k.Type)) {
			return nil, rule.Deny(rule.Argument, refuse.Shape, "Apply the function to CAST(… AS CHAR).", "The group key %s is a text, and has the type of the ENUM or SET that it is made of.", e)
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
