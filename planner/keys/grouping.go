package keys

import (
	"sort"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/canon"
	"scrim/planner/rel"
)

// Key is one grouping expression.
type Key struct {
	Expr  sql.Expression
	Type  sql.Type
	Name  string
	Image *Image // nil: the key is selected privately
}

// Grouping is what a GROUP BY groups by.
type Grouping struct {
	Keys    []Key // in the order of their texts
	Written []int // of each key as written, its place among Keys
	Public  bool  // all keys have images
	Groups  int   // combinations of public keys; 0 where a key is selected
	Empty   bool  // a key has an image without values: no row can have it
	// each person is in one group: the keys have one value on all rows of a person
	OneGroup bool
}

// Group finds the keys of a GROUP BY over a relation. It refuses more combinations of public keys
// than MaxPublic.
func (s *Finder) Group(r *rel.Relation, exprs []sql.Expression) (Grouping, error) {
	keys, err := s.Of(r, exprs)
	if err != nil {
		return Grouping{}, err
	}
	g := Grouping{Keys: keys, Public: true, Groups: 1, OneGroup: len(keys) > 0}
	for _, k := range keys {
		g.OneGroup = g.OneGroup && r.Fixed(s.ctx, k.Expr)
	}
	s.order(r, &g)
	if err := s.narrow(r, &g); err != nil {
		return Grouping{}, err
	}
	for _, k := range g.Keys {
		if k.Image == nil {
			g.Public = false
		} else if g.Empty = len(k.Image.Values) == 0; g.Empty {
			return g, nil
		}
	}
	if g.Groups = g.combinations(); g.Groups > MaxPublic {
		return g, tooMany()
	}
	if !g.Public {
		g.Groups = 0
	}
	return g, nil
}

// combinations is the number of combinations of public keys, MaxPublic+1 where there are more. As
// long as there are, the largest image that the planner found by itself is given up: its key is
// selected.
func (g *Grouping) combinations() int {
	for {
		n, largest := 1, -1
		for i, k := range g.Keys {
			if k.Image == nil {
				continue
			}
			n = min(n*len(k.Image.Values), MaxPublic+1)
			if k.Image.found && (largest < 0 || len(k.Image.Values) > len(g.Keys[largest].Image.Values)) {
				largest = i
			}
		}
		if n <= MaxPublic || largest < 0 {
			return n
		}
		g.Keys[largest].Image, g.Public = nil, false
	}
}

// Texts are the keys as they are written over a relation: equal keys share one.
func (s *Finder) Texts(r *rel.Relation, g *Grouping) []string {
	out := make([]string, len(g.Keys))
	for i, k := range g.Keys {
		out[i] = canon.Text(s.ctx, k.Expr, r.Resolve)
	}
	return out
}

// order puts the keys in the order of their texts, and remembers how they are written.
func (s *Finder) order(r *rel.Relation, g *Grouping) {
	texts := s.Texts(r, g)
	places := make([]int, len(g.Keys))
	for i := range places {
		places[i] = i
	}
	sort.SliceStable(places, func(i, j int) bool { return texts[places[i]] < texts[places[j]] })
	keys := make([]Key, len(g.Keys))
	g.Written = make([]int, len(g.Keys))
	for at, i := range places {
		keys[at], g.Written[i] = g.Keys[i], at
	}
	g.Keys = keys
}

// Exprs are the grouping expressions, in the order of Keys.
func (g *Grouping) Exprs() []sql.Expression {
	out := make([]sql.Expression, len(g.Keys))
	for i, k := range g.Keys {
		out[i] = k.Expr
	}
	return out
}

// Value is the value of key k in the combination of public keys of the given number, in the order
// in which GROUP BY names them.
func (g *Grouping) Value(at, k int) any { return g.Keys[k].Image.Values[g.place(at, k)] }

// Places are the indexes of the keys, in the order of Keys, in the combination of public keys of
// the given number, in the order in which GROUP BY names them.
func (g *Grouping) Places(at int) []int {
	out := make([]int, len(g.Keys))
	for k := range out {
		out[k] = g.place(at, k)
	}
	return out
}

// place is the index of key k in the combination of public keys of the given number, in the order
// in which GROUP BY names them.
func (g *Grouping) place(at, k int) int {
	for i := len(g.Written) - 1; i >= 0; i-- {
		size := len(g.Keys[g.Written[i]].Image.Values)
		if g.Written[i] == k {
			return at % size
		}
		at /= size
	}
	panic("planner: a key that the GROUP BY does not name")
}
