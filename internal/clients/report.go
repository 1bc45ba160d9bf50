package clients

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Record is what a report says of each client, by its name.
type Record map[string]*Entry

// Entry is one client's part: a table row, and the notes below the table.
type Entry struct {
	version string
	state   map[string]string // of a check: yes, no or –
	notes   string            // Markdown, without the heading
}

const (
	yes  = "yes"
	no   = "no"
	none = "–"
)

// Regressions are the checks that passed by the record and did not now, with why. A client without
// a record has to pass everything.
func (r Record) Regressions(res Result) []string {
	before := r[res.Client.Name]
	var out []string
	for _, name := range res.names() {
		if o := res.Outcomes[name]; !o.Passed && !o.NA && (before == nil || before.state[name] != no) {
			out = append(out, name+": "+o.Why)
		}
	}
	if before == nil {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(before.state)) {
		o, ran := res.Outcomes[name]
		if before.state[name] == yes && (!ran || o.NA) {
			out = append(out, name+": it passed before, and was not tried now")
		}
	}
	return out
}

// Put replaces a client's entry by what it did.
func (r Record) Put(res Result) {
	e := &Entry{version: res.Version, state: map[string]string{}}
	for name, o := range res.Outcomes {
		e.state[name] = o.word()
	}
	e.notes = notes(res)
	r[res.Client.Name] = e
}

func (o Outcome) word() string {
	switch {
	case o.Passed:
		return yes
	case o.NA:
		return none
	}
	return no
}

// names are the checks of a result in the report's order.
func (r Result) names() []string {
	var out []string
	for _, c := range checks {
		out = append(out, c.name)
	}
	return append(out, r.Order...)
}

// between stands between the extra checks that passed.
const between = " · "

// notes are a client's limits, its extra checks, and why others failed or do not apply.
func notes(r Result) string {
	var b strings.Builder
	if r.Client.Limits != "" {
		fmt.Fprintf(&b, "%s\n\n", r.Client.Limits)
	}
	var also []string
	for _, name := range r.names() {
		switch o := r.Outcomes[name]; {
		case o.Passed && strings.HasPrefix(name, extra):
			also = append(also, strings.TrimPrefix(name, extra))
		case o.NA:
			fmt.Fprintf(&b, "- not asked, %s: %s\n", name, plain(o.Why))
		case !o.Passed:
			fmt.Fprintf(&b, "- **fails**, %s: %s\n", name, plain(o.Why))
		}
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, "- also: %s\n", strings.Join(also, between))
	}
	return strings.TrimSpace(b.String())
}

// plain is a message as one line of Markdown.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'").Replace(s)
}

const preamble = `# Clients

What real clients do against a real server, as of the last run of ` + "`internal/clients`" + `, which writes this page. Every client logs in
as an analyst without any setting and sees a protected table ` + "`people`" + ` and a public one, ` + "`products`" + `, of 1000 rows.

| check | what has to be right |
| --- | --- |
| connect | the server's version |
| list | the tables of the database |
| describe | the columns of the protected table, with their types |
| group | AVG and COUNT by department on the protected table, near the truth and not cut to whole numbers |
| public | a public DOUBLE, digit by digit |
| prepared | the same through a prepared statement with a parameter |
| text | characters of one to four bytes, there and back |
| error | SELECT * on the protected table is refused, and the tool shows why |

A dash is a check that the client cannot do by its nature; below the table stands why, and what else was tried.
`

// Write returns the report on the clients, in their order.
func (r Record) Write(all []Client) string {
	var b strings.Builder
	b.WriteString(preamble + "\n| client | version |")
	for _, c := range checks {
		b.WriteString(" " + c.name + " |")
	}
	b.WriteString(" extra |\n" + strings.Repeat("| --- ", len(checks)+3) + "|\n")
	for _, c := range all {
		if e := r[c.Name]; e != nil {
			e.row(&b, c.Name)
		}
	}
	heading := ""
	for _, c := range all {
		e := r[c.Name]
		if e == nil {
			continue
		}
		if c.Group != heading {
			heading = c.Group
			fmt.Fprintf(&b, "\n## %s\n", heading)
		}
		fmt.Fprintf(&b, "\n### %s\n", c.Name)
		if e.notes != "" {
			fmt.Fprintf(&b, "\n%s\n", e.notes)
		}
	}
	return b.String()
}

func (e *Entry) row(b *strings.Builder, name string) {
	fmt.Fprintf(b, "| %s | %s |", name, plain(e.version))
	for _, c := range checks {
		b.WriteString(" " + e.state[c.name] + " |")
	}
	passed, tried := 0, 0
	for n, s := range e.state {
		if strings.HasPrefix(n, extra) && s != none {
			tried++
			if s == yes {
				passed++
			}
		}
	}
	if tried == 0 {
		b.WriteString(" |\n")
		return
	}
	fmt.Fprintf(b, " %d of %d |\n", passed, tried)
}

var (
	rowLine  = regexp.MustCompile(`^\| ([^|]+) \| ((?:[^|\\]|\\.)*) \|((?: (?:yes|no|–)? ?\|)+)`)
	noteLine = regexp.MustCompile(`^- (also: |not asked, |\*\*fails\*\*, )(.*)`)
)

// Parse reads a report back.
func Parse(text string) Record {
	r := Record{}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := rowLine.FindStringSubmatch(line); m != nil {
			r[m[1]] = &Entry{version: strings.ReplaceAll(m[2], `\|`, "|"), state: map[string]string{}}
			for i, cell := range strings.Split(strings.TrimSuffix(m[3], "|"), "|") {
				if i < len(checks) {
					r[m[1]].state[checks[i].name] = strings.TrimSpace(cell)
				}
			}
			continue
		}
		if h, is := strings.CutPrefix(line, "### "); is {
			name = h
			continue
		}
		if strings.HasPrefix(line, "## ") {
			name = ""
		}
		if e := r[name]; e != nil {
			e.notes += line + "\n"
			e.note(line)
		}
	}
	for _, e := range r {
		e.notes = strings.TrimSpace(e.notes)
	}
	return r
}

// note takes the state of an extra check from its line.
func (e *Entry) note(line string) {
	m := noteLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	if m[1] == "also: " {
		for _, name := range strings.Split(m[2], between) {
			e.state[extra+name] = yes
		}
		return
	}
	rest, is := strings.CutPrefix(m[2], extra)
	if !is {
		return
	}
	name, _, _ := strings.Cut(rest, ": ")
	state := no
	if strings.HasPrefix(m[1], "not") {
		state = none
	}
	e.state[extra+name] = state
}
