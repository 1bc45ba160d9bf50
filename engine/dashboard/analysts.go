package dashboard

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"scrim/accounting"
	"scrim/engine/watch"
)

// analystRow is an account in the list of analysts.
type analystRow struct {
	Principal, Link string
	Spent           []Spender // the largest parts
}

// maxSpenders bounds the lines that the page of all analysts is made of.
const maxSpenders = 200

type analystsPage struct{ Rows []analystRow }

func (d *Dashboard) analysts(r *http.Request, _ Viewer) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	rows := map[string]*analystRow{}
	for _, p := range f.principals() {
		rows[p] = &analystRow{Principal: p, Link: "/analysts/" + segment(p)}
	}
	spent, err := f.spenders(maxSpenders, "", func(*accounting.BudgetStatus) bool { return true })
	if err != nil {
		return "", nil, err
	}
	for _, s := range spent {
		if rows[s.Principal] == nil { // an account that was dropped
			rows[s.Principal] = &analystRow{Principal: s.Principal, Link: s.Link}
		}
		rows[s.Principal].Spent = append(rows[s.Principal].Spent, s)
	}
	var p analystsPage
	for _, row := range rows {
		p.Rows = append(p.Rows, *row)
	}
	slices.SortFunc(p.Rows, func(a, b analystRow) int {
		return cmp.Or(cmp.Compare(most(b.Spent), most(a.Spent)), cmp.Compare(a.Principal, b.Principal))
	})
	return "analysts.html", p, nil
}

// most is the largest part of a budget that somebody spent.
func most(list []Spender) (part float64) {
	for _, s := range list {
		part = math.Max(part, s.Part)
	}
	return part
}

type analystPage struct {
	Principal string
	Lines     []Line
	More      int
	Spent     []Spender
	Charges   []Charged
	Refusals  []Unanswered
	Ledger    string
}

func (d *Dashboard) analyst(r *http.Request, _ Viewer) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	who := r.PathValue("principal")
	p := analystPage{Principal: who, Ledger: "/ledger?principal=" + url.QueryEscape(who)}
	if p.Lines, p.More, err = f.lines(cards, func(b *accounting.BudgetStatus) bool { return b.Holder == who }); err != nil {
		return "", nil, err
	}
	if p.Spent, err = f.spenders(pageEntries, who, func(*accounting.BudgetStatus) bool { return true }); err != nil {
		return "", nil, err
	}
	p.Charges, err = f.entries(accounting.Filter{Principal: who, Descending: true, Limit: latest})
	p.Refusals = d.unanswered(latest, func(e *watch.Event) bool { return e.Principal == who })
	known := len(p.Lines) > 0 || len(p.Charges) > 0 || len(p.Refusals) > 0 || slices.Contains(f.principals(), who)
	if err == nil && (!known || !strings.Contains(who, "@")) {
		err = errNotFound
	}
	return "analyst.html", p, err
}
