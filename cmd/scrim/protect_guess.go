package main

import (
	"slices"
	"strings"
)

// column is the table's column of that plain name, "" for none.
func (t *described) column(plain string) string {
	for _, c := range t.columns {
		if bare(c.name) == plain {
			return c.name
		}
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

// parent guesses the table through which rows of t find their person: order_id is the id of orders.
func (t *described) parent(all []*described, personal map[string]string) (column string, up *described, key string) {
	for _, c := range t.columns {
		s := stem(c.name)
		for _, p := range all {
			if p == t || p.schema != t.schema || personal[p.name()] == "" || !p.names(s) {
				continue
			}
			for _, k := range []string{"id", s + "id"} {
				if key := p.column(k); key != "" {
					return c.name, p, key
				}
			}
		}
	}
	return "", nil, ""
}
