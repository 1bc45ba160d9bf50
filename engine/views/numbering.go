package views

import (
	"fmt"
	"math/big"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator/cube"
	"scrim/internal/refuse"
)

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
