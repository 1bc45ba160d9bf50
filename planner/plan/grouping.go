package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/remark"
	"scrim/planner/tree"
)

// Grouping says whether the groups of a release are answered together or apart, and why, in public
// facts. The zero Grouping is one of a release without groups, or without anything that could be
// answered together.
type Grouping struct {
	Together bool
	Why      string
	Compared bool // the two ways were
	Bound    int  // groups that a unit would be kept in
	Leaves   bool // bounding leaves a unit out of others
	Expected groups.Expectation
}

// Typical is the number of groups that a person is taken to be in: half of those that one would be
// kept in, but two where others are left out: a bound keeps nobody from being in more. The true
// number is private. Where persons are in more groups than they would be kept in, the vector loses
// no more than bounding does.
func (c Grouping) Typical() int {
	if c.Bound == 1 && c.Leaves {
		return 2
	}
	return (c.Bound + 1) / 2
}

// lines are what EXPLAIN shows of the choice.
func (c Grouping) lines() []string {
	if c.Why == "" {
		return nil
	}
	way := "each by itself"
	if c.Together {
		way = "as one vector"
	}
	lines := []string{fmt.Sprintf("groups %s: %s", way, c.Why)}
	if c.Compared {
		line := fmt.Sprintf("expected error in a group, of what a person in %d of them adds to it: as one vector=%s  each by itself, %d a person=%s",
			c.Typical(), number6(c.Expected.Vector), c.Bound, number6(c.Expected.Bounded))
		if c.Expected.Kept < 1 {
			line += fmt.Sprintf(" and %.0f %% of the rows left out", 100*(1-c.Expected.Kept))
		}
		lines = append(lines, line)
	}
	return lines
}

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

// Total says that the groups of a release sum up those of another: both are of the same rows, and
// each group of Under is a part of one of Of. The executor makes their released numbers agree
// (package engine/estimator/reconcile).
type Total struct {
	Of, Under *Release
	// of each group number of Under, that of Of; -1: no row is in it, whatever the data
	Groups []int
	Values []TotalValue
}

// TotalValue is a count or a sum that both releases have.
type TotalValue struct{ Of, Under ValueAt }

// ValueAt is a value of a release's answer: an aggregate, and one of its parts.
type ValueAt struct{ Aggregate, Part int }

// lines says of the totals of a release what they agree with, for EXPLAIN.
func (s *Statement) totalLines(r *Release) []string {
	var out []string
	for _, t := range s.Totals {
		if t.Of == r {
			out = append(out, fmt.Sprintf("totals of %s: %s by weighted least squares", KeyNames(t.Under), agreeing(len(t.Values))))
		}
	}
	return out
}

// verifyTotals checks what the executor relies on: see Verify.
func (s *Statement) verifyTotals(known map[*Release]bool) error {
	under, of := map[*Release]bool{}, map[*Release]bool{}
	for _, t := range s.Totals {
		_, a := known[t.Of]
		_, b := known[t.Under]
		switch {
		case !a || !b || t.Of == t.Under || under[t.Under] || of[t.Of] || t.Of.Selection != nil || t.Under.Selection != nil:
			return fmt.Errorf("invariant 13: totals of %s", strings.Join(t.Under.Tables, ", "))
		case len(t.Groups) != t.Under.Groups || len(t.Of.Keys) >= len(t.Under.Keys):
			return fmt.Errorf("invariant 13: totals of %d groups", len(t.Groups))
		}
		under[t.Under], of[t.Of] = true, true
		if g, ok := lists.Find(t.Groups, func(g int) bool { return g < -1 || g >= t.Of.Groups }); ok {
			return fmt.Errorf("invariant 13: a part of group %d", g)
		}
		if slices.ContainsFunc(t.Values, func(v TotalValue) bool { return !v.Of.in(t.Of) || !v.Under.in(t.Under) }) {
			return fmt.Errorf("invariant 13: a value that is not there")
		}
	}
	return nil
}

func (v ValueAt) in(r *Release) bool {
	return v.Aggregate >= 0 && v.Aggregate < len(r.Aggregates) && v.Part >= 0 && v.Part < len(r.Aggregates[v.Aggregate].ErrorBars)
}

func agreeing(values int) string {
	if values == 1 {
		return "one value agrees"
	}
	return fmt.Sprintf("%d values agree", values)
}

// View is a DP view as a plan that is answered from it tells.
type View struct {
	Name     string // schema.table
	Owner    string // the account that paid for it
	Charge   uint64 // in the ledger; 0: not known
	Released time.Time
	// Fresh says that nothing was written to its tables since.
	Fresh bool
	// Next is when the server refreshes it by itself; zero: it does not.
	Next time.Time
}

// FromView is the answer of a release that the cells of a view tell. It is made of released numbers
// when the statement is planned.
type FromView struct {
	View   View
	Groups [][]estimator.Estimate // of each group by its number, by aggregate of the release
	Sums   []ViewSum
}

// ViewSum tells of one aggregate as the client has asked for it.
type ViewSum struct {
	Text   string
	Of     string  // the columns of the view that it is made of
	StdErr float64 // the largest standard deviation of the noise in a group; NaN: not known
}

// NotTaken tells why a view does not answer a statement, by definitions, domains and the text of
// the statement.
type NotTaken struct{ View, Why string }

// Viewed reports whether DP views answer all of a statement: then nothing is charged.
func (s *Statement) Viewed() bool {
	return !slices.ContainsFunc(s.Releases, func(r *Release) bool { return r.FromView == nil }) && len(s.Releases) > 0
}

// Age tells how old the view is.
func (v View) Age(now time.Time) string {
	age := now.Sub(v.Released)
	switch {
	case age < 2*time.Minute:
		return fmt.Sprintf("%.0f seconds old", max(0, age.Seconds()))
	case age < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes old", age.Minutes())
	case age < 48*time.Hour:
		return fmt.Sprintf("%.0f hours old", age.Hours())
	}
	return fmt.Sprintf("%.0f days old", age.Hours()/24)
}

// Text tells when the view was released, and who paid.
func (v View) Text() string {
	text := "released at " + v.Released.UTC().Format(time.DateTime) + " UTC"
	if v.Charge > 0 {
		text += fmt.Sprintf("  charged in ledger entry %d", v.Charge)
	}
	if v.Fresh {
		text += "  nothing written since"
	}
	if !v.Next.IsZero() {
		text += "  refreshed next at " + v.Next.UTC().Format(time.DateTime) + " UTC"
	}
	return text
}

// formatViewed prints a statement that views answer.
func formatViewed(s *Statement) string {
	var b strings.Builder
	b.WriteString("private statement  answered from DP views  costs nothing\n")
	for i, r := range s.Releases {
		branch, indent := " ├─ ", " │   "
		if i == len(s.Releases)-1 {
			branch, indent = " └─ ", "     "
		}
		fmt.Fprintf(&b, "%sview %s  %s\n", branch, r.FromView.View.Name, r.FromView.View.Text())
		if len(r.Keys) > 0 {
			fmt.Fprintf(&b, "%s├─ public keys %s  groups=%d\n", indent, KeyNames(r), r.Groups)
		}
		for j, sum := range r.FromView.Sums {
			branch := "├─ "
			if j == len(r.FromView.Sums)-1 {
				branch = "└─ "
			}
			fmt.Fprintf(&b, "%s%s%s  of %s  expected error=%s\n", indent, branch, sum.Text, sum.Of, known6(sum.StdErr))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// known6 is a number, as far as it is known.
func known6(x float64) string {
	if math.IsNaN(x) {
		return "by the view"
	}
	return number6(x)
}
