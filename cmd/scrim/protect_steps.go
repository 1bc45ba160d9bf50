package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// step is a statement and the reason for it. An optional one may fail.
type step struct {
	sql, why string
	optional bool
}

// proposal is what may be run, and what only a DBA can decide.
type proposal struct {
	steps, open []step
	// hide is a password in the steps, which is not shown before it is in force; shown names it
	hide, shown string
}

func (p *proposal) add(sql, why string) { p.steps = append(p.steps, step{sql: sql, why: why}) }
func (p *proposal) say(why, sql string) { p.open = append(p.open, step{sql: sql, why: why}) }

// text is a step's statement without the password.
func (p *proposal) text(s step) string {
	if p.hide == "" {
		return s.sql + ";"
	}
	return strings.ReplaceAll(s.sql, p.hide, "(generated)") + ";"
}

// show writes the statements, each under its reason.
func (p *proposal) show(w io.Writer) {
	for _, s := range p.steps {
		fmt.Fprintf(w, "-- %s\n%s\n", s.why, p.text(s))
	}
	if len(p.open) > 0 {
		fmt.Fprintln(w, "\n-- You decide, and write:")
	}
	for _, s := range p.open {
		fmt.Fprintf(w, "-- %s\n--   %s;\n", s.why, s.sql)
	}
}

// apply runs the steps in order. Statements on tables are in force one by one; where one fails it
// says which, and what is in force is not proposed again.
func (p *proposal) apply(ctx context.Context, db *sql.DB, w io.Writer) error {
	ran := 0
	for i, s := range p.steps {
		var refused *mysql.MySQLError
		_, err := db.ExecContext(ctx, s.sql)
		if s.optional && errors.As(err, &refused) {
			fmt.Fprintf(w, "left out: %s %s\n", p.text(s), refused.Message)
			continue
		}
		if err != nil {
			return fmt.Errorf("statement %d of %d failed; those before it are in force, it and those behind it are not: %s\n%w\nmend what it says and run scrim protect again, which goes on there", i+1, len(p.steps), p.text(s), err)
		}
		ran++
		if p.hide != "" && strings.Contains(s.sql, p.hide) {
			fmt.Fprintf(w, "%s is %s (it is not shown again)\n", p.shown, p.hide)
		}
	}
	fmt.Fprintf(w, "%s run.\n", count(ran, "statement"))
	return nil
}
