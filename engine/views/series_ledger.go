package views

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// A day that were released twice, with other noise, would cost again. The store knows which days
// are released; but a store may be put back as it was before. So the ledger notes every release
// under a random name, and nothing is released unless the last one that it has noted is the last
// one that the store knows of.

// noteKind is the kind of these notes.
const noteKind = "totals"

// note is the text of that of the last release.
func (r *Series) note() string {
	return fmt.Sprintf("%s %s: %s up to %s", r.ID, r.State.Last, r.Ref(), r.Options.day(r.State.Kept-1))
}

// settle compares a series with the ledger, and shows what is kept and not shown, as a crash leaves
// it.
func (v *Totals) settle(ctx *sql.Context, r *Series) (*Series, error) {
	if r.State.Ended != "" {
		return nil, r.over()
	}
	noted, why, err := v.noted(ctx, r)
	if err != nil {
		return nil, err
	}
	pending := r.State.Shown < r.State.Kept
	switch {
	case why != "":
	case noted == r.State.Last && pending:
		return v.shown(ctx, r, r.State.Ledger)
	case noted == r.State.Last:
		return r, nil
	case noted == r.State.Before && pending:
		return v.show(ctx, r)
	default:
		why = "the ledger knows of another last release than the data: the data are of another time"
	}
	next := r.clone()
	next.State.Ended = why
	if err := v.Views.within(ctx, func(s store.Session) error { return next.write(ctx, s) }); err != nil {
		return nil, err
	}
	v.series.put(r.Ref(), next)
	return nil, next.over()
}

// over refuses to go on with a series.
func (r *Series) over() error {
	return refuse.New(refuse.View, "The series %s has ended: %s. Days that were released would be released again, with other noise.", r.Ref(), r.State.Ended).
		With("What is in its table stays. CALL dp_continual makes another series, for another charge.")
}

// noted is the name of the last release of a series that the ledger has noted, "" for none; why
// says that it may not go on, whatever is noted.
func (v *Totals) noted(ctx *sql.Context, r *Series) (name, why string, err error) {
	known, err := accounting.ParsePosition(r.State.Ledger)
	if err != nil {
		return "", "", err
	}
	if ok, err := v.Ledger.Continues(known); err != nil {
		return "", "", err
	} else if !ok {
		return "", "the ledger is older than its last release", nil
	}
	list, err := v.Ledger.Entries(ctx, accounting.Filter{Kinds: []accounting.EntryKind{accounting.NoteEntry}, AfterID: known.Record})
	for _, e := range list {
		switch {
		case e.NoteKind == accounting.RestoreNote && !strings.HasSuffix(e.Text, accounting.LedgerStays):
			why = "an older ledger was accepted since, which may not know of its last release"
		case e.NoteKind == noteKind:
			if id, rest, _ := strings.Cut(e.Text, " "); id == r.ID {
				name, _, _ = strings.Cut(rest, ":")
			}
		}
	}
	return name, why, err
}
