package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// left returns the questions that dp.budgets says are left of a budget.
func left(c *client, budget string) int {
	c.t.Helper()
	n, err := strconv.Atoi(c.value("SELECT questions_left FROM dp.budgets WHERE account = 'd.people' AND principal = '" + budget + "'"))
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// TestQuestionsLeftAreAdmitted: as many default statements as dp.budgets and dp_price tell are
// answered, whether their group keys are private or not, and the next one is refused.
func TestQuestionsLeftAreAdmitted(t *testing.T) {
	i := startWith(t, "", seeded(t, "questions", 1))
	root := i.root()
	people(t, root, 30)
	ann := i.analyst(root, "ann", "d")
	for round, form := range []string{
		"SELECT COUNT(*) FROM d.people WHERE age > %d",
		"SELECT age, COUNT(*), AVG(h) FROM d.people WHERE age > %d GROUP BY age",
	} {
		got := root.query("CALL dp_set_budget('d.people', 'ann', 4, 2e-6, 'never', 'x')")
		if want := "[[17 about 17 questions in all at the default loss (rho 0.0172)]]"; fmt.Sprint(got) != want {
			t.Fatalf("got %v, want %s", got, want)
		}
		root.exec("CALL dp_reset_budget('d.people', 'ann', 'x')")
		answered := 0
		for ; answered < 30; answered++ {
			told := left(ann, "ann@%")
			query := fmt.Sprintf(form, 1000*round+answered)
			price := ann.query("CALL dp_price('" + query + "')")
			for _, r := range price {
				switch {
				case r[0] == "budget" && r[2] == "ann@%" && r[15] != strconv.Itoa(told):
					t.Errorf("dp_price tells %s questions left, dp.budgets %d", r[15], told)
				case (r[0] != "budget" || r[2] == "*") && r[15] != "NULL":
					t.Errorf("an analyst is told %v", r)
				}
			}
			_, err := ann.try(query)
			if (err == nil) != (told > 0) && round == 0 {
				t.Fatalf("%d questions are left, and the next one: %v", told, err)
			}
			if err != nil {
				break
			}
			if now := left(ann, "ann@%"); told > 0 && (now < told-1 || now > told) {
				t.Errorf("%d questions were left before one, and %d after it", told, now)
			}
		}
		if answered < 17 {
			t.Errorf("%s: %d were answered, of 17 that were told", form, answered)
		}
	}
}

// TestQuestionsByKind: what a question is follows the table's defaults, the pure account and, for
// an entity, the dearest of its tables; each window has its words.
func TestQuestionsByKind(t *testing.T) {
	i := start(t, "")
	root := i.root()
	people(t, root, 30)
	root.exec("CREATE TABLE d.more (id INT, x INT)", "CALL dp_protect('d.more', 'id', 'person')")
	for _, c := range []struct{ before, call, want string }{
		{"", "'d.people', '*', 8, 2e-6, 'month'", "60 about 60 questions a month at the default loss (rho 0.0172)"},
		{"", "'d.people', 'default', 'rho=0.1', 1e-6, 'week'", "5 about 5 questions a week at the default loss (rho 0.0172), for each account without a budget of its own"},
		{"", "'d.people', '*', 8, 1e-6, 'day'", "37 about 37 questions a day at the default loss (rho 0.0172); 58 of them where no group keys are private: a larger delta admits more of the others"},
		{`CALL dp_set_defaults('d.people', '{"dp_epsilon": 0.5}')`, "'d.people', '*', 8, 2e-5, 'month'", "265 about"},
		{"", "'entity:person', '*', 8, 2e-6, 'month'", "60 about"},
		{"CALL dp_drop_budget('entity:person', '*', 'x')", "'d.people', '*', 4, 0, 'month'", "8 about 8 questions a month at the default loss (pure epsilon 0.5)"},
		{`CALL dp_set_defaults('d.people', '{"max_epsilon": 0.1}')`, "'d.people', '*', 4, 0, 'month'", "40 about"},
	} {
		if c.before != "" {
			root.exec(c.before)
		}
		got := root.query("CALL dp_set_budget(" + c.call + ", 'x')")
		if len(got) != 1 || !strings.HasPrefix(strings.Join(got[0], " "), c.want) {
			t.Errorf("%s: got %v, want %s", c.call, got, c.want)
		}
	}
}

// TestREADMEBudgetLastsAMonth: the README's example budget leaves fifty questions and more, and the
// README and the DBA's guide say how many.
func TestREADMEBudgetLastsAMonth(t *testing.T) {
	_, root := company(t, "")
	call := regexp.MustCompile(`CALL dp_set_budget\('shop\.orders', '\*', ([^)]*)\);`)
	for _, name := range []string{"README.md", "docs/dba.md"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		m := call.FindStringSubmatch(string(text))
		if m == nil {
			t.Fatalf("%s sets no budget of all", name)
		}
		got := root.query("CALL dp_set_budget('d.p', '*', " + m[1] + ", 'x')")
		n, err := strconv.Atoi(got[0][0])
		if err != nil || n < 50 || !strings.Contains(got[0][1], "a month") {
			t.Errorf("%s: %v, want 50 questions a month and more", name, got)
		}
		if want := fmt.Sprintf("about %d questions a month at the default loss", n); !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}
