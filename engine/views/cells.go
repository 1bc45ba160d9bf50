package views

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/view"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/planner/cells"
	"scrim/planner/plan"
)

// Of lists the views of the given tables, and of no others, that the session's account may read,
// for statements over these tables to be answered from.
func (v *Views) Of(ctx *sql.Context, tables []store.TableRef) ([]*cells.View, error) {
	v.mu.Lock()
	var held []*Record
	for _, r := range v.held {
		if r != nil && r.Asked != "" && sameTables(r.Reads, tables) {
			held = append(held, r)
		}
	}
	v.mu.Unlock()
	slices.SortFunc(held, func(a, b *Record) int { return strings.Compare(a.Ref().String(), b.Ref().String()) })
	var out []*cells.View
	for _, r := range held {
		subject := sql.PrivilegeCheckSubject{Database: r.Schema, Table: r.Name}
		if !v.Engine.Analyzer.Catalog.MySQLDb.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(subject, sql.PrivilegeType_Select)) {
			continue
		}
		c, err := v.released(ctx, r)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, c)
		}
	}
	return out, nil
}

// sameTables reports whether two lists name the same tables.
func sameTables(a, b []store.TableRef) bool {
	in := func(list []store.TableRef) func(store.TableRef) bool {
		return func(t store.TableRef) bool { return !slices.Contains(list, t) }
	}
	return !slices.ContainsFunc(a, in(b)) && !slices.ContainsFunc(b, in(a))
}

// released is a view as the planner takes it; nil where its definition cannot be read any more.
func (v *Views) released(ctx *sql.Context, r *Record) (*cells.View, error) {
	text, err := r.Options.statement(r.Query)
	if err != nil {
		return nil, nil
	}
	tree, _, _, err := v.Engine.Parser.Parse(ctx, text, false)
	if err != nil {
		return nil, nil
	}
	made, err := time.Parse(time.DateTime, r.Made)
	if err != nil {
		return nil, fmt.Errorf("views: %s: %w", r.Ref(), err)
	}
	versions, err := v.st.Versions(ctx, r.Reads...)
	if err != nil {
		return nil, err
	}
	c := &cells.View{
		View: plan.View{Name: r.Ref().String(), Owner: r.Owner, Charge: r.Charge, Released: made, Fresh: r.Versions != nil && slices.Equal(versions, r.Versions), Next: r.Schedule.Next(v.Life)},
		Ref:  r.Ref(), Asked: r.Asked, Text: text, Tree: tree, Settings: r.Options.planned(r.Sets, r.Ranges), StdErrs: r.stdErrs, Work: r.work(),
		Dimensions: make([]string, len(r.Params.Dims)), Measures: make([]cells.Measure, len(r.Params.Measures)),
	}
	for _, d := range r.Dimensions {
		c.Dimensions[d.At] = d.Column
	}
	for _, m := range r.Measures {
		names := ofMeasure(m.Column)
		c.Measures[m.At] = cells.Measure{Column: names[0], Raw: names[1], Signed: r.Params.Signed(m.At),
			Clip: view.Scaled(r.Params, m.At, m.Clip), Near: m.Near, Wide: m.Wide}
	}
	return c, qualify(tree, r.Database)
}

// qualify names the database of the tables that a definition reads in that of its session.
func qualify(tree sqlparser.Statement, database string) error {
	own := map[string]bool{}
	return sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Select:
			if n.With != nil {
				for _, c := range n.With.Ctes {
					own[strings.ToLower(c.As.String())] = true
				}
			}
		case *sqlparser.AliasedTableExpr:
			if t, ok := n.Expr.(sqlparser.TableName); ok && t.DbQualifier.IsEmpty() && !own[strings.ToLower(t.Name.String())] {
				t.DbQualifier = sqlparser.NewTableIdent(database)
				n.Expr = t
			}
		}
		return true, nil
	}, tree)
}

// work is about what the error of a sum takes for each cell of the view, against one without
// ranges: matrices of these dimensions are multiplied.
func (r *Record) work() int {
	long := 0
	for _, d := range r.Params.Dims {
		if d.Ranges {
			long += d.Size
		}
	}
	return 1 + long/32
}

// stdErrs tells the standard deviations of the noise of sums of cells of a measure, in the order of
// Params, which are told by the values of their dimensions.
func (r *Record) stdErrs(measure int) (func(cells []sql.Row) (float64, error), error) {
	at := slices.IndexFunc(r.Measures, func(m Measure) bool { return m.At == measure })
	of, err := view.StdErrs(r.Params, measure, r.Measures[at].Clip, r.Measures[at].Near)
	if err != nil {
		return nil, err
	}
	n := r.number()
	weights := make([]float64, n.cells)
	return func(cells []sql.Row) (float64, error) {
		clear(weights)
		for _, row := range cells {
			c, err := n.of(row)
			if err != nil {
				return 0, err
			}
			weights[c] = 1
		}
		return of(weights), nil
	}, nil
}

// numbering numbers the cells of a view. Which number a value of a dimension has is of no matter to
// errors, as long as different ones have different numbers; but for dimensions of ranges, whose
// values have those of their order from the beginning.
type numbering struct {
	record  *Record
	dims    []cube.Dimension
	numbers []map[string]int
	cells   int
}

func (r *Record) number() *numbering {
	n := &numbering{record: r, dims: r.Params.Dims, cells: 1}
	for i, d := range n.dims {
		known := map[string]int{}
		if d.Ranges {
			for k, name := range r.Orders[i] {
				known[name] = k
			}
		}
		n.numbers = append(n.numbers, known)
		n.cells *= d.Size
	}
	return n
}

// of is the number of a cell by the values of its dimensions, which begin a row.
func (n *numbering) of(row sql.Row) (int, error) {
	cell := 0
	for i, d := range n.dims {
		text := ""
		if d.Ranges {
			text = orderName(row[i])
		} else {
			text = fmt.Sprintf("%T %v", row[i], row[i])
		}
		k, ok := n.numbers[i][text]
		if !ok {
			k = len(n.numbers[i])
			n.numbers[i][text] = k
		}
		if k >= d.Size {
			return 0, refuse.New(refuse.View, "The view %s has more cells than were released.", n.record.Ref())
		}
		cell = cell*d.Size + k
	}
	return cell, nil
}

// orders are the names of the values of dimensions of ranges, by places, in the order of cells.
func (d *definition) orders(released []sql.Row) [][]string {
	if len(d.ranges) == 0 {
		return nil
	}
	out := make([][]string, len(d.params.Dims))
	for _, c := range d.columns {
		if c.dimension < 0 || !d.params.Dims[c.dimension].Ranges {
			continue
		}
		seen := map[string]bool{}
		for _, row := range released {
			if name := orderName(row[c.at]); !seen[name] {
				seen[name] = true
				out[c.dimension] = append(out[c.dimension], name)
			}
		}
	}
	return out
}

// orderName writes a value of a dimension of ranges, a date or a number of any type, or NULL.
func orderName(v any) string {
	if t, is := v.(time.Time); is {
		return t.UTC().Format(time.RFC3339Nano)
	}
	text := fmt.Sprint(v)
	if x, ok := new(big.Rat).SetString(text); ok {
		return x.RatString()
	}
	return text
}
