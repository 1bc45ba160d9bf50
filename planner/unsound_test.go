package planner

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/internal/refuse"
	"scrim/planner/plan"
)

// TestUnsoundPlansDoNotRun: a plan that breaks an invariant is refused before the executor hears of
// it.
func TestUnsoundPlansDoNotRun(t *testing.T) {
	const other = "SELECT /*+ SET_VAR(dp_keys=keep) */ x, DP_MEDIAN(g) FROM t GROUP BY x"
	const public, selected = "SELECT g, COUNT(*), AVG(x) FROM t GROUP BY g", "SELECT x, DP_MEDIAN(g) FROM t GROUP BY x"
	const each = "SELECT COUNT(*) FROM t a WHERE x > (SELECT AVG(b.x) FROM t b WHERE b.g = a.g)"
	for name, spoil := range map[string]func(*plan.Statement){
		"a loss that is not charged":  func(s *plan.Statement) { clear(s.Tables) },
		"a release that costs less":   func(s *plan.Statement) { s.Releases[0].Loss = privacy.Loss{} },
		"a release of no table":       func(s *plan.Statement) { s.Releases[0].Tables = nil },
		"a number of groups too few":  func(s *plan.Statement) { s.Releases[0].Groups-- },
		"a key that is not its own":   func(s *plan.Statement) { s.Releases[0].Key = "" },
		"an output that is not there": func(s *plan.Statement) { s.Releases[0].Output = s.Releases[0].Output[1:] },
		"keys of persons of unknown weight": func(s *plan.Statement) {
			s.Releases[0].Scans[0].Held = !s.Releases[0].Scans[0].Held
		},
		"all other keys without a number for their group": func(s *plan.Statement) {
			s.Releases[0].Scans[1].SQL = strings.ReplaceAll(s.Releases[0].Scans[1].SQL, plan.SelectedKeys, "t")
		},
		"all other keys in the first scan":              func(s *plan.Statement) { s.Releases[0].Aggregates[0].Scan = 0 },
		"a selection for more groups than are paid for": func(s *plan.Statement) { s.Releases[0].PerUnit++ },
		"released values that come later":               func(s *plan.Statement) { slices.Reverse(s.Releases) },
		"released values that are not named":            func(s *plan.Statement) { s.Releases[1].Uses = nil },
		"released values of which one is read": func(s *plan.Statement) {
			args := s.Releases[1].Scans[0].Args
			for i, x := range args {
				if a, ok := x.(plan.AnswerArg); ok {
					a.Each = false
					args[i] = a
				}
			}
		},
		"rows of two persons of whom one is not charged for": func(s *plan.Statement) {
			s.Releases[0].Entities, s.Entities = s.Releases[0].Entities[:1], s.Entities[:1]
		},
	} {
		query := public
		if strings.Contains(name, "keys of persons") || strings.Contains(name, "selection") {
			query = selected
		} else if strings.Contains(name, "all other keys") {
			query = other
		} else if strings.Contains(name, "released values") {
			query = each
		} else if strings.Contains(name, "two persons") {
			query = "SELECT COUNT(*) FROM t, s WHERE t.x = s.x"
		}
		h := newHarness(t)
		if out := h.define("CREATE TABLE t (person BIGINT, g INT, x INT);\nCREATE TABLE s (shop BIGINT, x INT)"); out != "ok" {
			t.Fatal(out)
		}
		if out := h.declare("protect shop.t person person\ndomain shop.t g [1,2,3]\nprotect shop.s shop shop\ndisjoint person shop"); out != "ok" {
			t.Fatal(out)
		}
		run := func(spoil func(*plan.Statement)) error {
			s, n, err := h.plan(query)
			if err != nil {
				t.Fatal(err)
			}
			spoil(s)
			ctx := h.context(query)
			iter, err := n.(*plan.Budget).BuildRowIter(ctx, h.engine.Analyzer.ExecBuilder, nil)
			if err != nil {
				return err
			}
			_, err = sql.RowIterToRows(ctx, iter)
			return err
		}
		if err := run(func(*plan.Statement) {}); err != nil || h.begun != 1 {
			t.Fatalf("a sound plan: %v, begun %d times", err, h.begun)
		}
		err := run(spoil)
		var refusal *refuse.Error
		if !errors.As(err, &refusal) || refusal.Code != refuse.Failed || h.begun != 1 {
			t.Errorf("%s: %v, begun %d times", name, err, h.begun-1)
		}
	}
}

// BenchmarkVerify is what a private statement of one aggregate pays for the check of its plan.
func BenchmarkVerify(b *testing.B) {
	h := newHarness(b)
	h.define("CREATE TABLE t (person BIGINT, x INT)")
	h.declare("protect shop.t person person")
	s, n, err := h.plan("SELECT COUNT(*) FROM t")
	if err != nil {
		b.Fatal(err)
	}
	ctx := h.context("")
	for b.Loop() {
		if err := plan.Verify(ctx, s, n); err != nil {
			b.Fatal(err)
		}
	}
}
