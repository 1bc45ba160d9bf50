package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"scrim/internal/sqltext"
)

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
