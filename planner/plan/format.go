package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/partition"
)

// Format prints the private part of a statement as EXPLAIN shows it: the cost of each table, and
// for each release its unit, keys, mechanisms, sensitivities and losses, the number of persons that
// it needs, and the expected error as far as it is known beforehand. Equal plans print alike;
// nothing in it depends on rows.
func Format(s *Statement) string { return format(s, nil) }

// Format prints a statement with what the budgets would say to it.
func format(s *Statement, forecasts []accounting.Forecast) string {
	if s.Viewed() {
		return formatViewed(s)
	}
	var b strings.Builder
	b.WriteString("private statement\n")
	for _, c := range s.Tables {
		fmt.Fprintf(&b, " ├─ cost %s  %s\n", c.Table, lossText(c.Loss))
	}
	for _, c := range s.Entities {
		fmt.Fprintf(&b, " ├─ cost entity %s  %s\n", c.Account, lossText(c.Loss))
	}
	for _, f := range forecasts {
		fmt.Fprintf(&b, " ├─ budget %s\n", forecastText(f))
	}
	if slices.ContainsFunc(forecasts, func(f accounting.Forecast) bool { return f.Rounded }) {
		b.WriteString(" ├─ noise  rounded normal in the place of discrete-gaussian, for a gaussian account\n")
	}
	for _, n := range s.NotTaken {
		fmt.Fprintf(&b, " ├─ view %s  not taken: %s\n", n.View, n.Why)
	}
	for i, r := range s.Releases {
		branch, indent := " ├─ ", " │   "
		if i == len(s.Releases)-1 {
			branch, indent = " └─ ", "     "
		}
		b.WriteString(branch)
		formatRelease(&b, r, indent, s.totalLines(r))
	}
	return strings.TrimRight(b.String(), "\n")
}

func formatRelease(b *strings.Builder, r *Release, indent string, more []string) {
	fmt.Fprintf(b, "release  unit=%s  relation=%s  %s\n", strings.Join(r.Entities, ","), r.Relation, lossText(r.Loss))
	switch {
	case r.Selection != nil:
		fmt.Fprintf(b, "%s├─ select keys %s  %s\n", indent, KeyNames(r), selectionText(r.Selection))
		formatSteps(b, r.Selection.Steps(), indent+"│   ")
		if r.Other {
			fmt.Fprintf(b, "%s├─ all other keys as one group  whose keys are NULL\n", indent)
		}
	case len(r.Keys) > 0:
		fmt.Fprintf(b, "%s├─ public keys %s  groups=%d\n", indent, KeyNames(r), r.Groups)
		for _, k := range r.Written {
			fmt.Fprintf(b, "%s│   ├─ %s: %d values from %s\n", indent, r.Keys[k].Name, len(r.Keys[k].Domain), r.Keys[k].From)
		}
	}
	if r.Blocks != nil {
		fmt.Fprintf(b, "%s├─ charged to the periods %s\n", indent, *r.Blocks)
	}
	if line := r.ownersLine(); line != "" {
		fmt.Fprintf(b, "%s├─ %s\n", indent, line)
	}
	for _, u := range r.Uses {
		for _, a := range u.Aggregates {
			if len(u.Keys) == 0 {
				fmt.Fprintf(b, "%s├─ value of the answer %s  released before it\n", indent, a.Text)
			} else {
				fmt.Fprintf(b, "%s├─ values of the answer %s for each %s  released before it\n", indent, a.Text, KeyNames(u))
			}
		}
	}
	for i, a := range r.Aggregates {
		fmt.Fprintf(b, "%s├─ %s  %s %s", indent, a.Text, costText(a.Estimator.Loss()), a.scope())
		if a.Sized {
			b.WriteString("  n=public")
		}
		if n := a.Estimator.MinPersons(); n > 0 {
			fmt.Fprintf(b, "  persons>=%d", n)
		} else if n := estimator.PersonsFor(a.Estimator); n > 0 {
			fmt.Fprintf(b, "  persons>=%d for all but counts", n)
		}
		fmt.Fprintf(b, "  expected error=%s\n", errorText(a.Estimator))
		if a.Vectorized != "" {
			fmt.Fprintf(b, "%s│   ├─ %s\n", indent, a.Vectorized)
		}
		for _, line := range slices.Concat(vectorLines(a), a.roundingLine(), r.groupLines(a), methodLine(a), r.barLines(i)) {
			fmt.Fprintf(b, "%s│   ├─ %s\n", indent, line)
		}
		formatSteps(b, r.steps(a), indent+"│   ")
	}
	for i, line := range r.Choice.lines() {
		branch := "├─ "
		if i > 0 {
			branch = "│   └─ "
		}
		fmt.Fprintf(b, "%s%s%s\n", indent, branch, line)
	}
	if !r.divided() {
		// Nothing is bounded by groups.
	} else if r.MaxGroups > 0 {
		fmt.Fprintf(b, "%s├─ bound groups  per-unit=%d  by secret random choice\n", indent, r.MaxGroups)
	} else if r.OneGroup {
		fmt.Fprintf(b, "%s├─ each person in one group  the keys follow from the person\n", indent)
	} else if len(r.Keys) > 0 {
		fmt.Fprintf(b, "%s├─ bound groups  per-unit=%d\n", indent, r.PerUnit)
	}
	for _, line := range r.exchangeLines() {
		fmt.Fprintf(b, "%s├─ groups under add-remove  %s\n", indent, line)
	}
	for _, line := range more {
		fmt.Fprintf(b, "%s├─ %s\n", indent, line)
	}
	tables := make([]string, len(r.Reads))
	for i, t := range r.Reads {
		tables[i] = t.String()
	}
	for _, d := range r.Defined {
		if d.Source != "" {
			fmt.Fprintf(b, "%s├─ source %s  %s  keys not enforced  partial results never\n", indent, d.Ref, d.Source)
		}
	}
	fmt.Fprintf(b, "%s├─ memory %s\n", indent, r.memoryText())
	fmt.Fprintf(b, "%s└─ scan %s  passes=%d\n", indent, strings.Join(tables, ", "), len(r.Scans))
}

// errorText is the standard deviation of an answer's noise: a number where it is known, one times
// what is chosen, as 7.5*clip.
func errorText(e estimator.Estimator) string {
	if x, ok := e.ExpectedError(); ok {
		return number6(x)
	}
	if r, ok := e.(estimator.Relative); ok {
		if factor, of, ok := r.RelativeError(); ok {
			return number6(factor) + "*" + of
		}
	}
	return "by the data"
}

// ownersLine tells whom a row belongs to, where it is not one person.
func (r *Release) ownersLine() string {
	switch {
	case r.Owners == nil:
		return ""
	case r.Owners[0] == r.Owners[1]:
		return strings.TrimRight("rows of two persons of "+r.Owners[0]+"  each of them counts up to a cap  "+r.OneOwner, " ")
	}
	return "rows of a person of " + r.Owners[0] + " and one of " + r.Owners[1] + "  each of them counts up to a cap, and is charged for"
}

// KeysRule tells in a sentence's words from how many persons a key is shown.
func KeysRule(s *partition.Selection) string {
	if !s.Weighted() {
		return fmt.Sprintf("a noisy number of %d persons or more; one of %d persons is shown with a probability of 95 %% at least", s.Threshold(), s.MinPersons())
	}
	return fmt.Sprintf("a noisy number of %d persons or more, where one who holds k keys counts 1/sqrt(k); "+
		"one of %d persons is shown with a probability of 95 %% at least, and one of %d who hold no other key",
		s.Threshold(), s.MinPersons(), s.PersonsOf(1))
}

// exchangeLines tell what an exchange costs the aggregates whose groups are apart: one line for all
// that it costs the same.
func (r *Release) exchangeLines() (lines []string) {
	var factors []int
	of := map[int][]string{}
	for _, a := range r.Aggregates {
		if a.Groups == nil && a.Exchange > estimator.ExchangeParts {
			if of[a.Exchange] == nil {
				factors = append(factors, a.Exchange)
			}
			of[a.Exchange] = append(of[a.Exchange], a.Text)
		}
	}
	for _, x := range factors {
		line := fmt.Sprintf("an exchange costs %v times as much", float64(x)/estimator.ExchangeParts)
		if len(factors) > 1 {
			line += ": " + strings.Join(of[x], ", ")
		}
		lines = append(lines, line)
	}
	return lines
}

// selectionText tells from how many persons a key is shown: of those who hold one key each, and
// where it makes a difference of those who hold as many as count.
func selectionText(s *partition.Selection) string {
	if !s.Weighted() {
		return fmt.Sprintf("threshold=%d  persons>=%d", s.Threshold(), s.MinPersons())
	}
	return fmt.Sprintf("threshold=%d  a person counts 1/sqrt(keys held)  persons>=%d, >=%d where each holds %d keys", s.Threshold(), s.PersonsOf(1), s.MinPersons(), s.Most())
}

// memoryText tells what the public sizes take.
func (r *Release) memoryText() string {
	text := fmt.Sprintf("%.0f MiB", MiB(float64(r.Memory())))
	if r.Selection != nil {
		text += ", more for each key that is selected"
	}
	text += "; persons' numbers spill to disk"
	if r.MaxPersons > 0 {
		text += fmt.Sprintf(", up to %.0f MiB", MiB(r.disk()))
	}
	return text
}

func formatSteps(b *strings.Builder, steps []estimator.Step, indent string) {
	for i, s := range steps {
		branch := "├─ "
		if i == len(steps)-1 {
			branch = "└─ "
		}
		fmt.Fprintf(b, "%s%s%s  %s  %s", indent, branch, s.Name, s.Drawn(), s.Sensitivity)
		if s.Queries > 1 {
			fmt.Fprintf(b, "  queries=%d", s.Queries)
		}
		if s.Epsilon > 0 {
			fmt.Fprintf(b, "  epsilon=%s\n", number6(s.Epsilon))
			continue
		}
		fmt.Fprintf(b, "  rho=%s\n", number6(s.Rho))
	}
}

// methodLine is the line of EXPLAIN on which method an aggregate takes, or from which number of
// persons on.
func methodLine(a Aggregate) []string {
	if r, ok := a.Estimator.(estimator.Reasoned); ok && r.Reason() != "" {
		return []string{"method: " + r.Reason()}
	}
	return nil
}

// KeyNames lists the names of a release's keys in the order of GROUP BY.
func KeyNames(r *Release) string {
	names := make([]string, len(r.Keys))
	for i, k := range r.Written {
		names[i] = r.Keys[k].Name
	}
	return strings.Join(names, ", ")
}

// lossText prints a loss in the account's own terms.
func lossText(l privacy.Loss) string {
	s := costText(l)
	if l.Pure > 0 {
		s += " delta=0 (rho=" + number6(l.Rho.Float()) + ")"
	}
	if l.DeltaEvent > 0 {
		s += " delta_event=" + number6(l.DeltaEvent)
	}
	return s
}

// costText prints a loss without its slack: a pure one as its ε.
func costText(l privacy.Loss) string {
	if l.Pure > 0 {
		return "epsilon=" + number6(l.Pure.Float())
	}
	return "rho=" + number6(l.Rho.Float())
}

// number6 prints six significant digits: enough to compare, too few to depend on the platform.
func number6(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// vectorLines are the lines of EXPLAIN on an aggregate of vectors: what is scanned, the lattice of
// a coordinate, and the memory that a person takes.
func vectorLines(a Aggregate) []string {
	v := a.Vector
	if v == nil {
		return nil
	}
	what := fmt.Sprintf("vectors %s  dim=%d", v.Form, v.Dim)
	if a.Parts == nil { // otherwise each coordinate has a lattice of its own
		what += fmt.Sprintf("  step=%s in [%s, %s]", number6(v.Grid.Step), number6(float64(v.Grid.Lo)*v.Grid.Step), number6(float64(v.Grid.Hi)*v.Grid.Step))
	}
	if v.Form == Pairs {
		what += "  memory=16 bytes an item of a person" // itself, and a copy while it is sorted
	} else {
		what += fmt.Sprintf("  memory=%d bytes a person", 16*v.Dim)
	}
	return []string{what}
}

// String names the form.
func (f VectorForm) String() string {
	return [...]string{Arrays: "of arrays", Coordinates: "of columns", Pairs: "of items"}[f]
}

// scope says what the loss of an aggregate's estimator is for.
func (a Aggregate) scope() string {
	if a.Groups != nil {
		return "all groups"
	}
	return "a group"
}

// divided reports whether the loss of some aggregate is divided by the groups that a unit may be
// in, or keys are selected, which bounds them as well.
func (r *Release) divided() bool {
	if r.Selection != nil {
		return true
	}
	if slices.ContainsFunc(r.Aggregates, func(a Aggregate) bool { return a.Groups == nil }) {
		return true
	}
	return len(r.Aggregates) == 0
}

// steps are the steps of an aggregate's mechanism. The numbers of answers that go with the number
// of groups are left out where that is private.
func (r *Release) steps(a Aggregate) []estimator.Step {
	steps := a.Estimator.Steps()
	if a.Groups == nil || r.Selection == nil {
		return steps
	}
	for i, s := range steps {
		if s.Queries == a.Groups.Groups*a.Groups.Width() {
			steps[i].Queries = 0
		}
	}
	return steps
}

// groupLines are the lines of EXPLAIN on an aggregate of all groups at once.
func (r *Release) groupLines(a Aggregate) []string {
	if a.Groups == nil {
		return nil
	}
	n := fmt.Sprintf("groups=%d", r.Groups)
	if r.Selection != nil {
		n = "groups=those selected"
		if r.Other {
			n += " and that of all others"
		}
		n += fmt.Sprintf(", here as for %d", a.Groups.Groups)
	}
	return []string{fmt.Sprintf("one vector a unit  %s  columns=%d", n, len(a.Columns))}
}

// forecastText is what one budget says to a statement, on one line.
func forecastText(f accounting.Forecast) string {
	var b strings.Builder
	b.WriteString(forecastAccount(f))
	if f.Missing {
		return b.String() + "  none: every query is refused"
	}
	fmt.Fprintf(&b, " of %s", f.Holder)
	if f.Budget.Epsilon == 0 && f.Budget.Rho == 0 {
		// Another's budget, which the asker does not see into.
		return b.String() + map[bool]string{true: "  fits", false: "  refuses"}[f.Fits]
	}
	if f.Budget.Rho > 0 {
		fmt.Fprintf(&b, "  rho=%s", number6(f.Budget.Rho.Float()))
	} else {
		fmt.Fprintf(&b, "  epsilon=%s", number6(float64(f.Budget.Epsilon)))
	}
	fmt.Fprintf(&b, " delta=%s window=%s", number6(float64(f.Budget.Delta)), f.Budget.Window)
	cost, remaining, after := number6(float64(f.Cost)), number6(float64(f.Remaining)), number6(float64(f.After))
	if f.Budget.Rho > 0 {
		cost, remaining, after = number6(f.CostRho.Float()), number6(f.RemainingRho.Float()), number6(f.AfterRho.Float())
	}
	fmt.Fprintf(&b, "  this=%s  remaining=%s", cost, remaining)
	if !f.Fits {
		return b.String() + "  refuses"
	}
	fmt.Fprintf(&b, "  after=%s  queries=%d", after, f.Queries)
	if f.Queries == budget.MaxForecast {
		b.WriteString(" or more")
	}
	return b.String()
}

// forecastAccount names the account as the cost lines do.
func forecastAccount(f accounting.Forecast) string {
	if f.Entity {
		return "entity " + f.Account
	}
	return f.Table
}
