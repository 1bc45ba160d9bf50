package exec

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/estimator"
	"scrim/engine/estimator/reconcile"
	"scrim/internal/params"
	"scrim/internal/remark"
	"scrim/internal/spent"
	"scrim/planner/plan"
)

// Earlier finds what an earlier answer of an account tells about the error of an aggregate of the
// shape. It is kept with the answers, but without the versions of the data: the noise of a query
// tells about that of the next one when rows have been added, too.
func (x *Executor) Earlier(owner, shape string) (plan.Earlier, bool) {
	var e plan.Earlier
	b, ok := x.Account.Answer(earlierKey(owner, shape))
	if !ok || gob.NewDecoder(bytes.NewReader(b)).Decode(&e) != nil {
		return plan.Earlier{}, false
	}
	return e, true
}

// earlierKey names what is kept of one account's answers of one shape.
func earlierKey(owner, shape string) []byte {
	h := sha256.Sum256(fmt.Appendf(nil, "earlier;%d:%s;%s", len(owner), owner, shape))
	return h[:]
}

// remember keeps what the answers of a release tell about their error, for targets of later ones.
// Everything in it is released.
func (e *execution) remember(r *plan.Release, a *answer) {
	for i, agg := range r.Aggregates {
		if agg.Groups != nil || agg.Parts != nil {
			continue // one estimate for several columns or groups has no loss of its own for each
		}
		l := agg.Estimator.Loss()
		told := plan.Earlier{Loss: l.Rho.Float()}
		if l.IsPure() && r.Loss.IsPure() {
			told.Loss = l.Pure.Float()
		}
		for _, g := range a.Groups {
			told.StdErr = math.Max(told.StdErr, worst(g.Estimates[i]))
		}
		if told.StdErr == 0 || math.IsNaN(told.StdErr) {
			continue
		}
		var b bytes.Buffer
		err := gob.NewEncoder(&b).Encode(told)
		if err == nil {
			err = e.x.Account.PutAnswer(earlierKey(e.owner, agg.Shape), b.Bytes())
		}
		if err != nil {
			e.x.Lost(err)
		}
	}
}

// worst is the largest standard error of an estimate's values, NaN where one is not known, 0 where
// there is no answer.
func worst(e estimator.Estimate) float64 {
	if e.Status != estimator.OK {
		return 0
	}
	if len(e.StdErr) == 0 {
		return math.NaN()
	}
	most := 0.0
	for _, x := range e.StdErr {
		most = math.Max(most, x)
	}
	return most
}

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
