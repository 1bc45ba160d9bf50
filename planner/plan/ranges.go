package plan

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
	"scrim/internal/remark"
	"scrim/planner/tree"
)

// Range is where the exact values of a column of the statement's result lie, that is computed from
// several answers. It follows from the statement.
type Range struct {
	Column    int // of the result
	Name      string
	Low, High float64
}

// rangeSlack is how far beyond an end, as a part of the range, a value is not told of: arithmetic
// in decimals and floats rounds.
const rangeSlack = 1e-9

// holds reports whether a value is in the range: NULL and what is no number are.
func (r Range) holds(v any) bool {
	f, ok := tree.Float(v)
	slack := rangeSlack * (r.High - r.Low)
	return !ok || f >= r.Low-slack && f <= r.High+slack
}

// rangeCount counts what of a result is outside the ranges of its columns. It looks at nothing but
// the rows that are sent, so it is post-processing.
type rangeCount struct {
	ranges  []Range
	outside []int
	rows    int
	strict  bool
	told    bool
}

func newRangeCount(s *Statement) *rangeCount {
	return &rangeCount{ranges: s.Ranges, outside: make([]int, len(s.Ranges)), strict: s.Strict}
}

// add counts a row. Under dp_warnings = 'error' one that is outside ends the statement.
func (c *rangeCount) add(ctx *sql.Context, row sql.Row) error {
	c.rows++
	weak := false
	for i, r := range c.ranges {
		if r.Column < len(row) && !r.holds(row[r.Column]) {
			c.outside[i]++
			weak = true
		}
	}
	if !weak || !c.strict {
		return nil
	}
	return refuse.New(refuse.WeakAnswer, "%s Under dp_warnings = 'error' the answer is not shown. What it has cost stands.", c.tell(ctx).Message())
}

// tell adds the remark on what was counted, where there is one.
func (c *rangeCount) tell(ctx *sql.Context) remark.Remark {
	cells, parts := 0, []string(nil)
	for i, r := range c.ranges {
		if n := c.outside[i]; n > 0 {
			cells += n
			parts = append(parts, fmt.Sprintf("%s, which lies from %g to %g", r.Name, r.Low, r.High))
		}
	}
	if c.told || cells == 0 {
		return remark.Remark{}
	}
	c.told = true
	r := remark.New(remark.OutOfRange, "Computed from several answers, each with noise of its own, values are outside the range of the exact ones: %s.",
		strings.Join(parts, "; ")).In(cells, c.rows*len(c.ranges))
	remark.Add(ctx, r)
	return r
}
