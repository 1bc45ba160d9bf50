package exec

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/estimator/reconcile"
	"scrim/internal/params"
	"scrim/internal/remark"
	"scrim/internal/spent"
	"scrim/planner/plan"
)

// viewed answers a statement from DP views, of released numbers that were read when it was planned.
// It counts as a replay of the charges that have paid for the views.
func (e *execution) viewed(ctx *sql.Context) (map[*plan.Release][]sql.Row, error) {
	rows, answers := map[*plan.Release][]sql.Row{}, map[*plan.Release]*answer{}
	told := map[string]bool{}
	for _, r := range e.statement.Releases {
		a := &answer{}
		for i, list := range r.FromView.Groups {
			a.Groups = append(a.Groups, answerGroup{Number: i, Estimates: list})
		}
		var err error
		if rows[r], err = a.rows(r); err != nil {
			return nil, err
		}
		answers[r] = a
		v := r.FromView.View
		spent.Replayed(ctx, spent.Entry{Charge: v.Charge, Accounts: r.Tables, Statement: e.text, Digest: e.digest})
		e.x.Account.Reused(accounting.Replay{Key: []byte("view " + v.Name + " " + v.Released.String()), Principal: e.principal, Owner: v.Owner,
			Statement: e.text, Digest: e.digest, Accounts: r.Tables, Charge: v.Charge})
		if !told[v.Name] {
			told[v.Name] = true
			remark.Add(ctx, viewRemark(v))
		}
	}
	if e.x.Ran != nil {
		e.x.Ran(ctx, len(rows), 0)
	}
	return rows, e.tell(ctx, answers, reconcile.Apart{}, false)
}

// viewRemark says which view an answer is from, and how old it is. Whether the data have changed is
// told where the view is taken for that only.
func viewRemark(v plan.View) remark.Remark {
	text := "The answer is from the DP view %s, %s (released at %s UTC); nothing was charged."
	if !v.Fresh {
		text += " The tables may have changed since."
	}
	return remark.New(remark.FromView, text, v.Name, v.Age(time.Now()), v.Released.UTC().Format(time.DateTime)).
		With("SET %s = '%s' asks the table, at its cost.", params.Views.Name, params.ViewsOff)
}
