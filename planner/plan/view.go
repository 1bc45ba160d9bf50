package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"scrim/engine/estimator"
)

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
