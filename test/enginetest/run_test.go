package enginetest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// An outcome is how an assertion ended.
type outcome int

const (
	passed outcome = iota
	refused
	failed
)

// A result is one assertion that was run.
type result struct {
	list, key string // key: the names of script and statement, unique in the list
	changes   bool
	outcome   outcome
	text      string // the statement
	number    string // of an expected error, if the server's has another
	want, got string
}

// A runner runs lists over one server.
type runner struct {
	t      *testing.T
	server *server
	admin  *session
	base   base
	made   map[int]cause // the groups of base whose tables are there, and what went wrong with them
	clean  bool          // nothing but reading has happened since they were made
	keys   map[string]int
	out    []result
}

// system are the databases that no script may lose.
var system = map[string]bool{"information_schema": true, "mysql": true, "performance_schema": true, "sys": true, "dp": true, "dp_in": true}

// reset drops every database that is not the server's own.
func (r *runner) reset() {
	if r.admin != nil {
		r.admin.close()
	}
	var err error
	if r.admin, err = r.server.connect(""); err != nil {
		r.t.Fatal(err)
	}
	a, err := r.admin.query("show databases")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, row := range a.rows {
		if name := text(row[0]); !system[name] {
			if _, err := r.admin.exec("drop database `" + name + "`"); err != nil {
				r.t.Fatalf("%s: %v", name, err)
			}
		}
	}
	r.made = map[int]cause{}
	r.clean = true
}

var objects = regexp.MustCompile("(?is)\\b(?:table|view|on|into|database)\\s+(?:if\\s+(?:not\\s+)?exists\\s+)?((?:`[^`]+`|\\w+)(?:\\.(?:`[^`]+`|\\w+))?)")

// names are the words by which a statement can mean a group of tables.
func names(group []setup.SetupScript) (out []string) {
	for _, s := range group {
		for _, text := range s {
			for _, m := range objects.FindAllStringSubmatch(text, -1) {
				out = append(out, strings.Split(strings.ToLower(strings.ReplaceAll(m[1], "`", "")), ".")...)
			}
		}
	}
	return out
}

// prepare makes the tables that a script speaks of, or all if it may look at any. It returns what
// went wrong.
func (r *runner) prepare(s script, chained bool) (problem cause) {
	if !chained && (!s.reads || !r.clean) {
		r.reset()
	}
	all := strings.ToLower(strings.Join(s.setup, "\n"))
	for _, st := range s.steps {
		all += "\n" + strings.ToLower(st.text)
	}
	words := map[string]bool{}
	for _, w := range word.FindAllString(all, -1) {
		words[w] = true
	}
	everything := s.reads || chained || strings.Contains(all, "information_schema") || strings.Contains(all, "show ") || words["myview"] || words["myview2"]
	for i, group := range r.base {
		wanted := everything || i == 0
		for _, n := range names(group) {
			wanted = wanted || words[n]
		}
		if _, ok := r.made[i]; !wanted || ok {
			if p := r.made[i]; wanted {
				problem = mentioned(problem, p, group, words)
			}
			continue
		}
		r.made[i] = cause{}
		for _, part := range group {
			if i > 0 {
				if _, err := r.admin.exec("use mydb"); err != nil {
					r.t.Fatal(err)
				}
			}
			for _, text := range part {
				if strings.HasPrefix(strings.ToLower(text), "analyze ") {
					continue // statistics, for plans
				}
				if _, err := r.admin.exec(text); err != nil {
					c := r.made[i]
					c.note(failed, "set-up data: "+text+": ", err)
					r.made[i] = c
				}
			}
		}
		problem = mentioned(problem, r.made[i], group, words)
	}
	return problem
}

var word = regexp.MustCompile(`\w+`)

// mentioned adds what went wrong with a group to the problem of a script that speaks of its tables.
func mentioned(problem, p cause, group []setup.SetupScript, words map[string]bool) cause {
	for _, n := range names(group) {
		if p.outcome != passed && problem.outcome == passed && words[n] && n != "mydb" {
			return p
		}
	}
	return problem
}

// run runs the scripts of a list that take says, and all of a list whose scripts build on each
// other.
func (r *runner) run(l list, take func(i int) bool) {
	r.base, r.keys = l.base, map[string]int{}
	r.reset()
	var before cause    // why what follows may fail
	var reader *session // of the scripts that only read
	defer func() {
		if reader != nil {
			reader.close()
		}
	}()
	for i, s := range l.scripts {
		keys := make([]string, len(s.steps))
		for j, st := range s.steps {
			keys[j] = r.key(s.name, st.text)
		}
		if !take(i) && !l.chained {
			continue
		}
		problem := r.prepare(s, l.chained)
		database := "mydb"
		if len(l.base) == 0 {
			database = ""
		}
		var c *session
		var err error
		if s.reads && reader != nil {
			c = reader
		} else if c, err = r.server.connect(database); err != nil {
			r.t.Fatal(err)
		}
		if !l.chained {
			before = cause{}
		}
		for _, text := range s.setup {
			if _, err := c.exec(text); err != nil {
				before.note(failed, "set-up: "+text+": ", err)
			}
		}
		for j, st := range s.steps {
			res := result{list: l.name, key: keys[j], changes: l.changes, text: st.text}
			if st.session {
				c.close()
				if c, err = r.server.connect(database); err != nil {
					r.t.Fatal(err)
				}
			}
			var err error
			res.outcome, res.want, res.got, err = judge(c, st)
			if st.kind != nil {
				res.number = otherNumber(st.kind, err)
			}
			switch {
			case res.outcome == passed && res.number != "" && missing(err) && before.outcome != passed:
				// The error is not the one that is expected, and comes from what went wrong before.
				res.outcome, res.got = before.outcome, before.text+" → "+res.got
			case res.outcome == passed:
			case refusal(err) && reads(st.text):
			case refusal(err):
				before.note(refused, "after: "+st.text+": ", err)
			case problem.outcome == refused || problem.outcome == failed && missing(err):
				res.outcome, res.got = problem.outcome, problem.text+" → "+res.got
			case before.outcome == refused:
				res.outcome, res.got = refused, before.text+" → "+res.got
			case before.outcome == failed:
				res.got = before.text + " → " + res.got
			case err != nil && !st.fails && !reads(st.text):
				before.note(failed, "after: "+st.text+": ", err)
			}
			r.out = append(r.out, res)
		}
		if s.reads && reads(s.steps[0].text) {
			reader = c
			continue
		}
		c.close()
		reader = nil
		r.clean = r.clean && s.reads
	}
}

// A cause is the first statement of a script that went wrong. What comes after one that was refused
// is refused with it, unless it passes.
type cause struct {
	outcome outcome
	text    string
}

func (c *cause) note(o outcome, what string, err error) {
	if refusal(err) {
		o = refused
	}
	if c.outcome == passed {
		*c = cause{o, what + describe(err)}
	}
}

var (
	plain  = regexp.MustCompile(`(?is)^[\s(]*(select|show|with|values|table|explain|describe|desc)\b[^@]*$`)
	writes = regexp.MustCompile(`(?is)^[\s(]*with\b.*\b(update|delete|insert|replace)\b`)
)

// reads says whether a statement leaves nothing behind, neither in tables nor on its connection.
func reads(text string) bool { return plain.MatchString(text) && !writes.MatchString(text) }

// key names an assertion: the beginnings of its script's name and of its statement.
func (r *runner) key(script, text string) string {
	k := begin(text, 100)
	if script != "" {
		k = begin(script, 60) + " / " + k
	}
	r.keys[k]++
	if n := r.keys[k]; n > 1 {
		k += fmt.Sprintf(" #%d", n)
	}
	return k
}

// begin is the beginning of a text, on one line and without control characters.
func begin(s string, n int) string {
	s = strings.Join(strings.Fields(strings.Map(func(c rune) rune {
		if c < ' ' || c == 0xfffd {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?"))), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// judge runs a step and compares.
func judge(c *session, st step) (o outcome, want, got string, err error) {
	wantsCount := false
	if len(st.rows) == 1 && len(st.rows[0]) == 1 {
		_, wantsCount = st.rows[0][0].(types.OkResult)
	}
	var a answer
	if wantsCount {
		a, err = c.exec(st.text)
	} else {
		a, err = c.query(st.text)
	}
	switch {
	case st.fails:
		want = "an error"
		if st.kind != nil {
			want = "error: " + st.kind.Message
		}
		switch {
		case err == nil:
			return failed, want, "an answer: " + showRows(a.rows), err
		case internal(err):
			return failed, want, describe(err), err
		}
		return passed, want, describe(err), err
	case wantsCount:
		ok := st.rows[0][0].(types.OkResult)
		want = fmt.Sprintf("%d rows affected, insert id %d", ok.RowsAffected, ok.InsertID)
		got = fmt.Sprintf("%d rows affected, insert id %d", a.affected, a.id)
	default:
		want, got = showRows(st.rows), showRows(a.rows)
	}
	if err != nil {
		if refusal(err) {
			return refused, want, describe(err), err
		}
		return failed, want, describe(err), err
	}
	switch {
	case st.rows == nil:
		return passed, want, got, err
	case wantsCount:
		ok := st.rows[0][0].(types.OkResult)
		if uint64(a.affected) != ok.RowsAffected || ok.InsertID != 0 && uint64(a.id) != ok.InsertID {
			return failed, want, got, err
		}
		return passed, want, got, err
	}
	if d := differs(st.text, st.rows, a); d != "" {
		return failed, want, got + " (" + d + ")", err
	}
	return passed, want, got, err
}
