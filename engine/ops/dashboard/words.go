package dashboard

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/engine/observe/watch"
	"scrim/internal/sqltext"
)

// number shows an amount with about four digits that count.
func number(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 1):
		return "∞"
	case v != 0 && size < 1e-3, size >= 1e7:
		return strings.Replace(strconv.FormatFloat(v, 'g', 3, 64), "e-0", "e-", 1)
	default:
		digits := 3 - int(math.Floor(math.Log10(math.Max(size, 1e-3))))
		s := strconv.FormatFloat(v, 'f', min(5, max(0, digits)), 64)
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	}
}

// percent shows a share; what is more than nothing is not shown as 0, and what is not all not as
// 100.
func percent(share float64) string {
	switch {
	case math.IsNaN(share):
		return "–"
	case share > 0 && share < 0.01:
		return "under 1 %"
	case share < all && share > 0.99:
		return "99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

const moment = "2 Jan 2006 15:04"

// until is the end of a window, which is a midnight of UTC.
func until(t time.Time) string { return t.UTC().Format("2 Jan") + ", 00:00 UTC" }

// in words how long until or since; short, for reading beside the exact time.
func span(d time.Duration) string {
	switch d = d.Abs(); {
	case d < time.Minute:
		return plural(int(d.Seconds()), "second")
	case d < 2*time.Hour:
		return plural(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return plural(int(d.Hours()), "hour")
	}
	return plural(int(d.Hours()/24), "day")
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// Summary says in a sentence what the chart of a budget shows.
func (b *Burn) Summary() string {
	return fmt.Sprintf("Spent over time: %s %s of %s, %s, since %s. %s",
		b.Measure.Unit, number(b.Spent), number(b.Measure.Limit), percent(b.Share()), b.From.Format("2 January 2006"), b.Verdict())
}

// Verdict says whether the budget lasts.
func (b *Burn) Verdict() string {
	end := b.Budget.WindowEnd
	switch {
	case b.Level == UsedUp && end.IsZero():
		return "Used up: it refuses every charge until it is raised or reset."
	case b.Level == UsedUp:
		return "Used up until " + until(end) + "."
	case b.Level == Unused:
		return "Nothing spent in this window."
	case !b.Exhausted.IsZero():
		return fmt.Sprintf("At this rate used up %s, in %s.", b.Exhausted.Format(moment)+" UTC", span(b.Exhausted.Sub(b.Now)))
	case len(b.Projected) > 0 && end.IsZero():
		return "At the rate of the last 30 days not used up before " + b.To.Format("2 Jan 2006") + "."
	case len(b.Projected) > 0:
		return fmt.Sprintf("At this rate it lasts: about %s at the window's end.", percent(b.Measure.Share(b.Projected[len(b.Projected)-1].Amount)))
	case b.Level == Pressed:
		return "Little is left."
	}
	return "Too early for a projection."
}

// Window words the window of the budget.
func (b *Burn) Window() string {
	if b.Budget.WindowEnd.IsZero() {
		return "without a window"
	}
	if b.Budget.Window == budget.Day {
		return "today, until " + until(b.Budget.WindowEnd)
	}
	return fmt.Sprintf("this %s, until %s", b.Budget.Window, until(b.Budget.WindowEnd))
}

// Terms words the limit: in what, at which δ.
func (b *Burn) Terms() string {
	switch b.Measure.Unit {
	case watch.Epsilon:
		return fmt.Sprintf("ε %s at δ %s", number(b.Measure.Limit), number(float64(b.Measure.Delta)))
	case watch.Pure:
		return fmt.Sprintf("pure ε %s (δ 0)", number(b.Measure.Limit))
	}
	return fmt.Sprintf("ρ %s, δ %s", number(b.Measure.Limit), number(float64(b.Budget.Delta)))
}

// conversions words the ways in which a loss is turned into ε.
var conversions = map[privacy.Conversion]string{
	privacy.ByPure: "the sum of pure ε", privacy.BySum: "the sums of ε and δ",
	privacy.ByZCDP: "the sum of ρ", privacy.ByRenyi: "the Rényi divergences of what ran",
	privacy.ByGaussian: "the sum of μ² of what ran",
}

// Proven says the least ε that is proven of what was spent, as dp.budgets shows it; the filter
// counts what adds up and may state more.
func (b *Burn) Proven() string {
	if b.Budget.Spent.Rho == 0 {
		return ""
	}
	eps, by := privacy.BestEpsilon(b.Budget.Spent, b.Budget.SpentCurve, b.Budget.Delta)
	if math.IsInf(float64(eps), 0) {
		return ""
	}
	return fmt.Sprintf("Proven of what was spent: ε %s at δ %s, by %s.", number(float64(eps)), number(float64(b.Budget.Delta)), conversions[by])
}

// Mark is the level as a sign, beside the words that say it.
func (l Level) Mark() string {
	switch l {
	case UsedUp:
		return "■"
	case Pressed:
		return "▲"
	case Unused:
		return "○"
	}
	return "●"
}

// link is an entry of the navigation.
type link struct{ Path, Name string }

var navigation = []link{
	{"", "Overview"}, {"budgets", "Budgets"}, {"tables", "Tables"}, {"analysts", "Analysts"}, {"ledger", "Ledger"}, {"refusals", "Refusals"}, {"server", "Server"},
}

// unitWords says who the person behind a row is.
func unitWords(u catalog.Unit) string {
	switch {
	case u.Row:
		return "each row"
	case u.Link != nil:
		return fmt.Sprintf("found through %s in %s", u.Link.Column, u.Link.Parent)
	}
	if u.Period != (catalog.Period{}) {
		return fmt.Sprintf("told by %s, one %s", u.Column, u.Period)
	}
	return "told by " + u.Column
}

// asFloat takes an ε or a δ.
func asFloat(v any) float64 { return reflect.ValueOf(v).Float() }

// Row is a line of the table that says what a chart shows.
type Row struct {
	Point
	Share     float64
	Projected bool
}

// mostRows bounds the table of a chart.
const mostRows = 40

// Rows are the moments of the chart at which the amount changed, thinned where there are many, and
// where the projection ends.
func (b *Burn) Rows() []Row {
	var list []Row
	each := 1 + len(b.Points)/mostRows
	for i, p := range b.Points {
		if i%each == 0 || i == len(b.Points)-1 {
			list = append(list, Row{Point: p, Share: b.Measure.Share(p.Amount)})
		}
	}
	if n := len(b.Projected); n > 0 {
		p := b.Projected[n-1]
		list = append(list, Row{p, b.Measure.Share(p.Amount), true})
	}
	return list
}

// functions are those of the templates.
var functions = template.FuncMap{
	"number":  number,
	"percent": percent,
	"plural":  plural,
	"span":    span,
	"date":    func(t time.Time) string { return t.UTC().Format(moment) },
	"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"segment": url.PathEscape,
	"join":    strings.Join,
	"bytes":   byteCount,
	"add":     func(a, b float64) float64 { return round(a + b) },
	"mul":     func(a, b float64) float64 { return round(a * b) },
	"float":   asFloat,
	"int":     func(n uint64) int { return int(n) },
	"unit":    unitWords,
	"pages":   func() []link { return navigation },
}

// byteCount shows a size.
func byteCount(n int64) string {
	const unit = 1024
	if n < unit {
		return plural(int(n), "byte")
	}
	v, i := float64(n)/unit, 0
	for ; v >= unit && i < 4; i++ {
		v /= unit
	}
	return fmt.Sprintf("%.1f %ciB", v, "KMGTP"[i])
}

// Statements that pages show to be copied. What a DBA has to decide is in them as an example.

// suggestBudget gives a table its total budget.
func suggestBudget(table string) string {
	return fmt.Sprintf("CALL dp_set_budget(%s, '*', 8, 1e-6, 'month');", sqltext.Text(table))
}

// suggestCap caps what one person of an entity loses over all periods.
func suggestCap(entity string) string {
	return fmt.Sprintf("CALL dp_set_budget(%s, '*', 20, 1e-6, 'never');", sqltext.Text("entity:"+budget.OverPeriods(entity)))
}

// suggestChange changes a budget.
func suggestChange(b *accounting.BudgetStatus) string {
	on, limit := b.Account, fmt.Sprintf(`{"epsilon": %s}`, number(2*float64(b.Epsilon)))
	if b.Entity {
		on = "entity:" + on
	}
	if b.Rho > 0 {
		limit = fmt.Sprintf(`{"rho": %s}`, number(2*b.Rho.Float()))
	}
	return fmt.Sprintf("CALL dp_alter_budget(%s, %s, %s, 'the reason');", sqltext.Text(on), sqltext.Text(holder(b)), sqltext.Text(limit))
}

// holder is whose budget it is, as procedures name them.
func holder(b *accounting.BudgetStatus) string {
	if b.Principal == budget.Default {
		return budget.Default
	}
	return b.Holder
}

// suggestPolicies says what a table may be declared to be.
func suggestPolicies(table string) []string {
	t := sqltext.Text(table)
	return []string{
		fmt.Sprintf("CALL dp_protect(%s, 'unit_column', 'entity');", t), fmt.Sprintf("CALL dp_public(%s);", t),
	}
}

// suggestBackup makes a backup.
func suggestBackup(now time.Time) string {
	return fmt.Sprintf("CALL dp_backup(%s);", sqltext.Text(now.UTC().Format("2006-01-02-1504")))
}
