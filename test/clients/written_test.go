package clients

import (
	"fmt"
	"regexp"
	"strings"
)

// Record is what a report says of each client, by its name.
type Record map[string]*Entry

// Entry is one client's part: a table row, and the notes below the table.
type Entry struct {
	version  string
	outcomes map[string]Outcome // by the check's name
	extras   []string           // in the order in which they were tried
}

// Regressions are the checks that passed by the record and did not now, with why. A client without
// a record has to pass everything.
func (r Record) Regressions(res Result) []string {
	before := r[res.Client.Name]
	var out []string
	for _, name := range names(res.Order) {
		if o := res.Outcomes[name]; !o.Passed && !o.NA && (before == nil || !before.fails(name)) {
			out = append(out, name+": "+o.Why)
		}
	}
	if before == nil {
		return out
	}
	for _, name := range names(before.extras) {
		if o, ran := res.Outcomes[name]; before.outcomes[name].Passed && (!ran || o.NA) {
			out = append(out, name+": it passed before, and was not tried now")
		}
	}
	return out
}

// fails reports whether a check is recorded to fail.
func (e *Entry) fails(name string) bool {
	o, ok := e.outcomes[name]
	return ok && !o.Passed && !o.NA
}

// Put replaces a client's entry by what it did.
func (r Record) Put(res Result) {
	r[res.Client.Name] = &Entry{res.Version, res.Outcomes, res.Order}
}

const (
	yes  = "yes"
	no   = "no"
	none = "–"

	inSQL = ", SQL" // behind yes, where a statement was prepared in SQL
)

func (o Outcome) word() string {
	switch {
	case o.Passed:
		return yes
	case o.NA:
		return none
	}
	return no
}

// names are the checks of every client, and then extra ones.
func names(extras []string) []string {
	var out []string
	for _, c := range checks {
		out = append(out, c.name)
	}
	return append(out, extras...)
}

// plain is a message as part of one line of Markdown.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300+len("…") { // what was cut once is not cut again
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'").Replace(s)
}

const preamble = `# Clients

What real clients do against a real server, as of the last run of ` + "`test/clients`" + `, which writes this page. Every client logs in
as an analyst without any setting and sees a protected table ` + "`people`" + ` and a public one, ` + "`products`" + `, of 1000 rows.

| check | what has to be right |
| --- | --- |
| connect | the server's version |
| list | the tables of the database |
| describe | the columns of the protected table, with their types |
| group | AVG and COUNT by department on the protected table, near the truth and not cut to whole numbers |
| public | a public DOUBLE, digit by digit |
| prepared | the same through a statement that the server prepares, with a parameter: by the protocol's own packets, or by PREPARE and EXECUTE in SQL (marked SQL) |
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
			e.row(&b, c)
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
			fmt.Fprintf(&b, "\n## %s\n\n", heading)
		}
		e.notes(&b, c)
	}
	return b.String()
}

func (e *Entry) row(b *strings.Builder, c Client) {
	fmt.Fprintf(b, "| %s | %s |", c.Name, plain(e.version))
	for _, k := range checks {
		word := e.outcomes[k.name].word()
		if k.name == prepared && word == yes && c.InSQL {
			word += inSQL
		}
		b.WriteString(" " + word + " |")
	}
	passed, tried := 0, 0
	for _, n := range e.extras {
		switch o := e.outcomes[n]; {
		case o.Passed:
			passed++
			tried++
		case !o.NA:
			tried++
		}
	}
	if tried == 0 {
		b.WriteString(" |\n")
		return
	}
	fmt.Fprintf(b, " %d of %d |\n", passed, tried)
}

// between stands between the extra checks that passed.
const between = " · "

// notes are a client's limits, its extra checks, and why others failed or do not apply.
func (e *Entry) notes(b *strings.Builder, c Client) {
	fmt.Fprintf(b, "- **%s**", c.Name)
	if c.Limits != "" {
		fmt.Fprintf(b, ": %s", c.Limits)
	}
	b.WriteString("\n")
	var also, reasons []string
	asked := map[string][]string{}
	for _, name := range names(e.extras) {
		switch o := e.outcomes[name]; {
		case o.Passed && strings.HasPrefix(name, extra):
			also = append(also, strings.TrimPrefix(name, extra))
		case o.NA:
			if asked[o.Why] == nil {
				reasons = append(reasons, o.Why)
			}
			asked[o.Why] = append(asked[o.Why], name)
		case !o.Passed:
			fmt.Fprintf(b, "  - **fails**, %s: %s\n", name, plain(o.Why))
		}
	}
	for _, why := range reasons {
		fmt.Fprintf(b, "  - not asked, %s: %s\n", strings.Join(asked[why], between), plain(why))
	}
	if len(also) > 0 {
		fmt.Fprintf(b, "  - also: %s\n", strings.Join(also, between))
	}
}

var (
	rowLine  = regexp.MustCompile(`^\| ([^|]+) \| ((?:[^|\\]|\\.)*) \|((?: (?:yes(?:, SQL)?|no|–)? ?\|)+)`)
	nameLine = regexp.MustCompile(`^- \*\*([^*]+)\*\*`)
	noteLine = regexp.MustCompile(`^ *- (also|not asked|\*\*fails\*\*)(?:: |, )(.*)`)
)

// Parse reads a report back.
func Parse(text string) Record {
	r := Record{}
	var e *Entry
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := rowLine.FindStringSubmatch(line); m != nil {
			r[m[1]] = parseRow(m[2], m[3])
		} else if m := nameLine.FindStringSubmatch(line); m != nil {
			e = r[m[1]]
		} else if m := noteLine.FindStringSubmatch(line); m != nil && e != nil {
			e.note(m[1], m[2])
		}
	}
	return r
}

func parseRow(version, cells string) *Entry {
	e := &Entry{version: strings.ReplaceAll(version, `\|`, "|"), outcomes: map[string]Outcome{}}
	for i, cell := range strings.Split(cells, "|") {
		if i < len(checks) {
			cell = strings.TrimSuffix(strings.TrimSpace(cell), inSQL)
			e.outcomes[checks[i].name] = Outcome{Passed: cell == yes, NA: cell == none}
		}
	}
	return e
}

// note takes what a line below a client's name says into its entry.
func (e *Entry) note(kind, rest string) {
	o := Outcome{Passed: kind == "also", NA: kind == "not asked"}
	list := rest
	if !o.Passed {
		var why string
		list, why, _ = strings.Cut(rest, ": ")
		o.Why = strings.NewReplacer(`\|`, "|", "&lt;", "<").Replace(why)
	}
	for _, name := range strings.Split(list, between) {
		if o.Passed {
			name = extra + name
		}
		if strings.HasPrefix(name, extra) {
			e.extras = append(e.extras, name)
		}
		e.outcomes[name] = o
	}
}
