package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"scrim/accounting"
)

// ledgerPage is a page of the ledger.
type ledgerPage struct {
	Principal, Account, Kind string // the filter
	Kinds                    []string
	List                     []Charged
	Older                    string // the link to the page before; "" on the last
	Filtered                 bool
	Lacking                  bool // only charges whose answers were empty or NULL
}

// entryKinds are the kinds that the form offers.
var entryKinds = []accounting.EntryKind{
	accounting.ChargeEntry, accounting.ReplayEntry, accounting.NoteEntry,
	accounting.SetBudgetEntry, accounting.RemoveBudgetEntry, accounting.ResetBudgetEntry,
}

func (d *Dashboard) ledger(r *http.Request, _ Viewer) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	q := r.URL.Query()
	p := ledgerPage{Principal: q.Get("principal"), Account: q.Get("account"), Kind: q.Get("kind")}
	filter := accounting.Filter{Principal: p.Principal, Account: f.account(p.Account), Descending: true, Limit: pageEntries + 1}
	for _, k := range entryKinds {
		p.Kinds = append(p.Kinds, string(k))
	}
	if slices.Contains(p.Kinds, p.Kind) {
		filter.Kinds = []accounting.EntryKind{accounting.EntryKind(p.Kind)}
	}
	if n, err := strconv.ParseUint(q.Get("before"), 10, 64); err == nil {
		filter.BeforeID = n
	}
	p.Lacking = q.Get("lacking") != ""
	p.Filtered = p.Principal != "" || p.Account != "" || len(filter.Kinds) > 0 || p.Lacking
	if p.Lacking {
		var before uint64
		if p.List, before, err = f.lackingOf(filter, pageEntries); before > 0 {
			p.Older = older(p, before)
		}
		return "ledger.html", p, err
	}
	p.List, err = f.entries(filter)
	if len(p.List) > pageEntries {
		p.List = p.List[:pageEntries]
		p.Older = older(p, p.List[pageEntries-1].ID)
	}
	return "ledger.html", p, err
}

// account finds the account of a table's name; what is none is taken as an account.
func (f *facts) account(name string) string {
	for _, t := range f.tables {
		if t.Name == name && t.Account != "" {
			return t.Account
		}
	}
	return name
}

// older links to the entries before one.
func older(p ledgerPage, before uint64) string {
	q := url.Values{"before": {strconv.FormatUint(before, 10)}}
	for k, v := range map[string]string{"principal": p.Principal, "account": p.Account, "kind": p.Kind} {
		if v != "" {
			q.Set(k, v)
		}
	}
	if p.Lacking {
		q.Set("lacking", "yes")
	}
	return "/ledger?" + q.Encode()
}
