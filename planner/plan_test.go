package planner

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// TestPlans runs the files of testdata. Commands:
//
//	fixture   loads DDL and policies of testdata/fixtures
//	define    DDL, one statement a line that ends with a semicolon
//	policy    policy commands, one a line (see harness.policy)
//	explain   statements; prints each private plan as EXPLAIN does, or the refusal
//	scan      statements; prints the generated scans
//	refuse    statements that must be refused; prints rule, code and message of each
//	allow     statements that must be planned privately; prints one line each
//	public    statements that must have no private part
//	run       statements; prints the rows
//	push      statements on public tables; prints the store queries that they become
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		h := newHarness(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var b strings.Builder
			switch d.Cmd {
			case "fixture":
				return h.fixture(d.CmdArgs[0].Key)
			case "define":
				return h.define(d.Input)
			case "policy":
				return h.declare(d.Input)
			}
			for _, q := range statements(d.Input) {
				if len(statements(d.Input)) > 1 {
					fmt.Fprintf(&b, "-- %s\n", strings.Join(strings.Fields(q), " "))
				}
				b.WriteString(h.describe(d.Cmd, q))
				b.WriteString("\n")
			}
			return b.String()
		})
	})
}

func (h *harness) describe(cmd, q string) string {
	if cmd == "push" {
		h.pushed = nil
		if _, err := h.run(q); err != nil && len(h.pushed) == 0 {
			return "stays: " + err.Error()
		}
		return strings.Join(h.pushed, "\n")
	}
	if cmd == "run" {
		rows, err := h.run(q)
		if err != nil {
			return refusalText(err)
		}
		var out []string
		for _, r := range rows {
			out = append(out, fmt.Sprint([]any(r)...))
		}
		return fmt.Sprintf("%d rows, %d begun\n%s", len(rows), h.begun, strings.Join(out, "\n"))
	}
	s, n, err := h.plan(q)
	if err != nil {
		if cmd != "refuse" && rule.Of(err) == "" || cmd == "allow" || cmd == "public" {
			return "UNEXPECTED " + refusalText(err)
		}
		return refusalText(err)
	}
	if s == nil {
		if cmd == "public" {
			return "public"
		}
		return declaredText(h, n)
	}
	if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
		return "INVARIANT " + err.Error()
	}
	switch cmd {
	case "explain":
		return plan.Format(s)
	case "scan":
		var out []string
		for _, r := range s.Releases {
			for _, sc := range r.Scans {
				out = append(out, scanText(sc))
			}
		}
		return strings.Join(out, "\n")
	case "allow":
		return summary(s)
	}
	return "NOT REFUSED: " + summary(s)
}

// declaredText says what a plan without a private part over a protected table answers from: what is
// declared, or nothing.
func declaredText(h *harness, n sql.Node) string {
	text := ""
	tree.Inspect(h.context(""), n, func(n sql.Node) {
		switch n := n.(type) {
		case *declared:
			text = fmt.Sprintf("%s, %d rows | charges nothing", n.name, len(n.Rows))
		case *tree.KnownRows:
			if text == "" {
				text = fmt.Sprintf("%d rows whatever the data are | charges nothing", len(n.Rows))
			}
		}
	}, nil)
	if text == "" {
		return "NO PRIVATE PART"
	}
	return text
}

func scanText(sc plan.Scan) string {
	args := make([]string, len(sc.Args))
	for i, a := range sc.Args {
		args[i] = fmt.Sprintf("$%d=%#v", i+1, a)
	}
	s := sc.SQL
	for _, w := range []string{" FROM ", " WHERE ", " GROUP BY ", " QUALIFY "} {
		s = strings.ReplaceAll(s, w, "\n "+w)
	}
	if len(args) > 0 {
		s += "\n  -- " + strings.Join(args, " ")
	}
	return s
}

// summary prints what a plan releases in one line.
func summary(s *plan.Statement) string {
	var parts []string
	for _, r := range s.Releases {
		var aggs []string
		for _, a := range r.Aggregates {
			aggs = append(aggs, a.Text)
		}
		p := strings.Join(aggs, ", ")
		switch {
		case r.Selection != nil:
			p += " by selected " + plan.KeyNames(r)
		case len(r.Keys) > 0:
			p += fmt.Sprintf(" by %d public %s", r.Groups, plan.KeyNames(r))
		}
		if r.PerUnit > 1 {
			p += fmt.Sprintf(" (%d a unit)", r.PerUnit)
		}
		if len(r.Scans) > 1 {
			p += fmt.Sprintf(" in %d scans", len(r.Scans))
		}
		parts = append(parts, strings.TrimSpace(p))
	}
	var tables []string
	for _, c := range s.Tables {
		tables = append(tables, c.Table)
	}
	sort.Strings(tables)
	return strings.Join(parts, "; ") + " | charges " + strings.Join(tables, ", ")
}
