package admin

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/session"
)

// replaysPage is how many stored answers are read at a time.
const replaysPage = 500

// replaysTable is dp.replays: the stored answers, what goes last first. An analyst sees those that
// they paid for, and no account of their name before them, and how often they themselves got them
// again; that others got them too, where a table shares its answers, is for DBAs and auditors.
func (a *Admin) replaysTable() *table {
	return newPaged("replays", a.replays,
		count("id"), moment("answered_at"), text("principal"), text("statement"), text("digest"), text("tables"), count("size"),
		text("is_shared"), count("hits"), moment("last_used"), count("ledger_id"), text("ends_by"))
}

func (a *Admin) replays(ctx *sql.Context) func() ([]sql.Row, error) {
	who, all := a.o.Principal(ctx), a.seesAll(ctx)
	f := accounting.AnswerFilter{Limit: replaysPage}
	if !all {
		f.Principal = who
	}
	done := who == ""
	return func() ([]sql.Row, error) {
		var out []sql.Row
		for !done && len(out) == 0 {
			list, next, err := a.o.Ledger.StoredAnswers(ctx, f)
			if err != nil {
				return nil, err
			}
			for _, s := range list {
				if since := session.Since(ctx); all || since == 0 || s.Charge > since {
					out = append(out, replayRow(s, all))
				}
			}
			f.Before, done = next, next == 0
		}
		return out, nil
	}
}

func replayRow(s accounting.StoredAnswer, all bool) sql.Row {
	uses := s.Own
	if all {
		uses = s.All
	}
	shared, charge := "no", any(nil)
	if s.Shared {
		shared = "yes"
	}
	if s.Charge > 0 {
		charge = int64(s.Charge)
	}
	tables := strings.Join(s.Tables, ", ")
	return sql.Row{int64(s.ID), instant(s.At), s.Principal, s.Statement, s.Digest, tables, s.Bytes,
		shared, int64(uses.Hits), instant(uses.Last), charge,
		"a change of the data, the definition or the policy of " + tables + ", or newer answers that need the room"}
}
