package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// hints are what the DBA told beforehand.
type hints struct{ schemas, units, public []string }

func (h hints) has(schema string) bool {
	return len(h.schemas) == 0 || slices.ContainsFunc(h.schemas, func(s string) bool { return strings.EqualFold(s, schema) })
}

// without names the schemas that were asked for and are not among those with tables, or all where
// there is no table at all.
func (h hints) without(schemas []string) string {
	if len(schemas) == 0 && len(h.schemas) == 0 {
		return "the server"
	}
	empty := lists.Filter(h.schemas, func(s string) bool {
		return !slices.ContainsFunc(schemas, func(has string) bool { return strings.EqualFold(s, has) })
	})
	return strings.Join(empty, ", ")
}

// proposing makes a proposal for tables.
type proposing struct {
	held
	hints
	personal                map[string]string // the entity of tables that are protected, or will be
	named                   []ownPersons
	keys, policies, budgets []step
}

// ownPersons is a table that is to be protected by a column of its own.
type ownPersons struct {
	table  *described
	column string
}

// propose makes the statements for the tables that nobody has declared, and the budgets that
// protected ones and their entities lack: keys first, since they look at rows, then persons, then
// links.
func propose(all held, h hints) (out proposal) {
	p := &proposing{held: all, hints: h, personal: map[string]string{}}
	rest := p.links(p.declared())
	p.limits()
	for _, n := range p.named {
		if why, sql := p.another(n.table, n.column); sql != "" {
			out.say(why, sql)
		}
	}
	for _, t := range rest {
		out.say(t.name()+" has no column that seems to name a person; if its rows tell of none", "CALL dp_public("+t.quoted()+")")
		out.say("if they do, by the column that names them", "CALL dp_protect("+t.quoted()+", 'COLUMN', 'ENTITY')")
	}
	out.steps = slices.Concat(p.keys, p.policies, p.budgets)
	return out
}

// declared proposes what a table's own columns and the hints tell, and returns the tables of which
// they tell nothing.
func (p *proposing) declared() (rest []*described) {
	for _, t := range p.tables {
		if t.state == "protected" {
			p.personal[t.name()] = t.entity
		}
		if t.state != "undeclared" || !p.has(t.schema) {
			continue
		}
		column, entity := t.unit(p.hints)
		switch {
		case slices.ContainsFunc(p.public, func(p string) bool { return strings.EqualFold(p, t.name()) }):
			p.ownKey(t)
			p.policies = append(p.policies, step{sql: "CALL dp_public(" + t.quoted() + ")", why: "you said that it tells of no person: it is answered exactly"})
		case column != "":
			if t.own() == column {
				p.ownKey(t)
			}
			p.personal[t.name()], p.named = entity, append(p.named, ownPersons{t, column})
			p.policies = append(p.policies, step{sql: fmt.Sprintf("CALL dp_protect(%s, %s, %s)", t.quoted(), sqltext.Text(column), sqltext.Text(entity)),
				why: fmt.Sprintf("%s seems to name the %s behind each row", column, entity)})
		default:
			rest = append(rest, t)
		}
	}
	return rest
}

// ownKey proposes a key of the column that seems to identify a table's rows. What is asked is
// answered without it, too: it is left out where rows have the same.
func (p *proposing) ownKey(t *described) {
	if own := t.own(); own != "" && !t.keyed(own) && !t.primary {
		p.key(t, own, step{why: "joins find one row of it, where the column has each value once", optional: true})
	}
}

// key proposes a key, of a text with a length.
func (p *proposing) key(t *described, column string, s step) {
	if strings.HasSuffix(t.typeOf(column), "text") {
		p.keys = append(p.keys, step{sql: t.alter() + " MODIFY " + name(column) + " VARCHAR(768)", optional: s.optional,
			why: "a key has bounded texts, of 768 characters at most; put less where you know it"})
	}
	kind := "PRIMARY KEY"
	if t.primary {
		kind = "UNIQUE"
	}
	s.sql = t.alter() + " ADD " + kind + " (" + name(column) + ")"
	p.keys = append(p.keys, s)
	t.keys, t.primary = append(t.keys, column), true
}

// links proposes the tables of rest whose persons others have, and returns those without.
func (p *proposing) links(rest []*described) []*described {
	for again := true; again; {
		again = false
		for i, t := range rest {
			if p.link(t) {
				rest, again = slices.Delete(rest, i, i+1), true
				break
			}
		}
	}
	return rest
}

// link proposes the way from a table to its person through another.
func (p *proposing) link(t *described) bool {
	column, up, key := t.parent(p.tables, p.personal)
	if up == nil || !up.keyed(key) && up.state == "protected" { // a key would look at its rows
		return false
	}
	if up.keyed(key) {
		p.need(up, key)
	} else {
		p.key(up, key, step{why: "for the link from " + t.name() + ": a row has one parent"})
	}
	p.policies = append(p.policies, step{sql: linking(t, column, up, key),
		why: fmt.Sprintf("%s seems to be a row of %s, which has the person", column, up.name())})
	p.personal[t.name()] = p.personal[up.name()]
	return true
}

// need has a proposed key not left out, which a link rests on.
func (p *proposing) need(t *described, column string) {
	for i := range p.keys {
		if s := &p.keys[i]; strings.HasPrefix(s.sql, t.alter()+" ") && strings.Contains(s.sql, name(column)) {
			s.optional = false
		}
	}
}

// limits proposes budgets in questions a month: of tables that lack one, and of the persons over
// all of their tables.
func (p *proposing) limits() {
	var entities []string
	for _, t := range p.tables {
		entity := p.personal[t.name()]
		if entity == "" || !p.has(t.schema) {
			continue
		}
		if !t.budget {
			p.budgets = append(p.budgets, step{sql: fmt.Sprintf("CALL dp_set_budget(%s, '*', 8, 2e-6, 'month')", t.quoted()), why: "about 60 questions a month, of everybody together"})
		}
		if !p.budgeted[entity] && !slices.Contains(entities, entity) {
			entities = append(entities, entity)
		}
	}
	for _, e := range entities {
		p.budgets = append(p.budgets, step{sql: fmt.Sprintf("CALL dp_set_budget(%s, '*', 8, 2e-6, 'month')", sqltext.Text("entity:"+e)),
			why: "what may be learnt of one " + e + " from all tables together: about 60 questions a month"},
			step{sql: fmt.Sprintf("CALL dp_set_budget(%s, 'default', 8, 2e-6, 'month')", sqltext.Text("entity:"+e)),
				why: "each account's own part of that: it sees what it has left"})
	}
}

// schemasOf are the schemas of the tables that are looked at.
func schemasOf(all []*described, h hints) (out []string) {
	for _, t := range all {
		if h.has(t.schema) && !slices.Contains(out, t.schema) {
			out = append(out, t.schema)
		}
	}
	return out
}

// column is the table's column of that plain name, "" for none.
func (t *described) column(plain string) string {
	if c, ok := lists.Find(t.columns, func(c describedColumn) bool { return bare(c.name) == plain }); ok {
		return c.name
	}
	return ""
}

// bare is a name without its letters' case and underscores: customer_id and customerId are one.
func bare(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }

// persons are words for whom data are of, as tables and columns name them.
var persons = []string{"user", "customer", "person", "patient", "member", "client", "employee", "student", "subscriber", "visitor",
	"participant", "respondent", "citizen", "resident", "passenger", "driver", "donor", "voter", "household", "applicant", "learner"}

// names reports whether a table is named for things of a word: order, orders.
func (t *described) names(word string) bool {
	table := bare(t.table)
	return word != "" && slices.Contains([]string{word, word + "s", word + "es"}, table) ||
		word == "person" && table == "people" || strings.HasSuffix(word, "y") && table == strings.TrimSuffix(word, "y")+"ies"
}

// unit guesses the column that names the person, and what kind of person that is.
func (t *described) unit(h hints) (column, entity string) {
	for _, u := range h.units {
		if c := t.column(bare(u)); c != "" {
			return c, strings.TrimSuffix(bare(u), "id")
		}
	}
	for _, p := range persons {
		if c := t.column("id"); c != "" && t.names(p) {
			return c, p
		}
		for _, n := range []string{p + "id", p, p + "no", p + "number", p + "key"} {
			if c := t.column(n); c != "" {
				return c, p
			}
		}
	}
	return "", ""
}

// stem is what a column refers to by its name: order for order_id, "" for id.
func stem(column string) string {
	s, ok := strings.CutSuffix(bare(column), "id")
	if !ok {
		return ""
	}
	return s
}

// own guesses the column that identifies the table's rows: id, or film_id in films.
func (t *described) own() string {
	for _, c := range t.columns {
		if s := stem(c.name); bare(c.name) == "id" || s != "" && t.names(s) {
			return c.name
		}
	}
	return ""
}

// parent guesses the table through which rows of t find their person: that of a foreign key; else
// order_id is the id of orders; else the one that has a key of a column's name.
func (t *described) parent(all []*described, personal map[string]string) (column string, up *described, key string) {
	has := func(p *described) bool { return p != t && p.schema == t.schema && personal[p.name()] != "" }
	for _, r := range t.refers {
		for _, p := range all {
			if p.name() == r.table && p != t && personal[r.table] != "" {
				return r.column, p, r.key
			}
		}
	}
	for _, c := range t.columns {
		s := stem(c.name)
		for _, p := range all {
			if !has(p) || !p.names(s) {
				continue
			}
			for _, k := range []string{"id", s + "id"} {
				if key := p.column(k); key != "" {
					return c.name, p, key
				}
			}
		}
	}
	for _, c := range t.columns {
		for _, p := range all {
			if key := p.column(bare(c.name)); has(p) && bare(c.name) != "id" && !t.keyed(c.name) && p.keyed(key) && p.typeOf(key) == c.typ {
				return c.name, p, key
			}
		}
	}
	return "", nil, ""
}

// another says of a table that names its persons itself by which link it would have those of
// another one: joins by that link are then of one person's rows.
func (p *proposing) another(t *described, unit string) (why, sql string) {
	column, up, key := t.parent(p.tables, p.personal)
	if up == nil || column == unit || p.personal[up.name()] != p.personal[t.name()] || !up.keyed(key) {
		return "", ""
	}
	return fmt.Sprintf("a join of %s and %s by %s is of rows of two persons each. If both always are one, the link in place of dp_protect says so; it leaves out rows whose %[3]s is NULL", t.name(), up.name(), column),
		linking(t, column, up, key)
}

// linking is the statement that links a table to its parent.
func linking(t *described, column string, up *described, key string) string {
	return fmt.Sprintf("CALL dp_link(%s, %s, %s, %s)", t.quoted(), sqltext.Text(column), up.quoted(), sqltext.Text(key))
}

// span is the public range of days, as the DBA tells it; both are empty where nobody does.
type span struct{ from, to string }

// check refuses what is no range of days.
func (r span) check() error {
	if r == (span{}) {
		return nil
	}
	from, err := time.Parse(time.DateOnly, r.from)
	to, err2 := time.Parse(time.DateOnly, r.to)
	if err != nil || err2 != nil || to.Before(from) {
		return fmt.Errorf("--from %q --to %q: want two days, the first one first, as --from 2020-01-01 --to 2026-12-31", r.from, r.to)
	}
	return nil
}

// domains proposes the public keys of protected tables: those that public tables have, and days
// where the DBA says from when to when they are. What else only a DBA can fill in is said.
func (p *protecting) domains(ctx context.Context, db *sql.DB) (out proposal, err error) {
	all, err := readTables(ctx, db)
	if err != nil {
		return out, err
	}
	for _, t := range all.tables {
		if t.state != "protected" || !p.hints.has(t.schema) {
			continue
		}
		if err := each(ctx, db, "CALL dp_suggest_domains(?)", func(f [4]string) {
			column, typ, statement, frees := f[0], f[1], f[2], f[3]
			switch days := isDay(typ); {
			case t.keyed(column): // each row has a value of its own
			case strings.Contains(statement, `"table"`):
				out.add(statement, frees)
			case days && p.within(t.name()+"."+column) != span{}:
				r := p.within(t.name() + "." + column)
				out.add(fmt.Sprintf(`CALL dp_set_domain(%s, %s, '{"min":"%s","max":"%s"}')`, t.quoted(), sqltext.Text(column), r.from, r.to), frees)
			case days:
				out.say("the days that "+t.name()+"."+column+" may have, if anybody may know them: --from and --to say them ("+frees+")", statement)
			default:
				out.say("the public values of "+t.name()+"."+column+", if anybody may know them ("+frees+")", statement)
			}
		}, t.name()); err != nil {
			return out, err
		}
	}
	return out, nil
}

// isDay reports whether a type, as MySQL names it, is of days or moments.
func isDay(typ string) bool {
	typ = strings.ToLower(typ)
	return strings.HasPrefix(typ, "date") || strings.HasPrefix(typ, "timestamp")
}

// within is the public range of a column of days: the one of the command line, or else what is
// answered to a question, once for each column. Rows are never looked at for it.
func (p *protecting) within(column string) span {
	if p.days != (span{}) || p.ask == nil {
		return p.days
	}
	r, asked := p.told[column]
	if asked {
		return r
	}
	for {
		line := p.ask("From which day to which is " + column + ", as anybody may know (2020-01-01 2026-12-31; nothing to leave it)? ")
		f := strings.Fields(line)
		if len(f) == 2 {
			r = span{f[0], f[1]}
		}
		if len(f) == 0 || len(f) == 2 && r.check() == nil {
			break
		}
	}
	p.told[column] = r
	return r
}
