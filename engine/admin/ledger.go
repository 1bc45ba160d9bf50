package admin

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
	"scrim/engine/mysql/session"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/spent"
)

// ledgerColumns are the columns of dp.ledger.
var ledgerColumns = []column{
	count("id"), moment("charged_at"), text("principal"), text("entry"), text("statement"), text("digest"), text("mechanisms"), text("events"),
	text("account_type"), text("account"), text("table_name"), real("rho"), real("delta"), real("pure_epsilon"), real("epsilon"),
	real("remaining_epsilon"), real("remaining_rho"), real("remaining_total"), text("outcome"), count("replay_of"), text("reason"), text("remark"),
	text("first_day"), text("last_day"), text("counts_after"),
}

// ledgerPage is how many entries are read from the ledger at a time.
const ledgerPage = 1000

// ledger makes dp.ledger: one line for each account that a statement was charged to or that a
// replay read, and one for each note and each change of a budget. f has been taken from the
// statement, and chooses no fewer entries than the statement shows; of them the first most, where
// that is not 0. An analyst sees their own, and everything else is left out before f is asked. The
// cost in ε is that of the charge by itself, as the account counts it, at the δ that the account's
// budget has now; charges add up in ρ, not in ε.
func (a *Admin) ledger(ctx *sql.Context, f accounting.Filter, most int) func() ([]sql.Row, error) {
	all := a.seesAll(ctx)
	f, none := a.own(ctx, f)
	if f.Limit <= 0 {
		f.Limit = ledgerPage
	}
	most = cmp.Or(most, math.MaxInt)
	lines := &ledgerLines{all: all, price: prices(a.o.Ledger.Budgets())}
	return func() ([]sql.Row, error) {
		var out []sql.Row
		for !none && len(out) == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f.Limit = min(f.Limit, ledgerPage, most)
			list, err := a.o.Ledger.Entries(ctx, f)
			if err != nil {
				return nil, err
			}
			none = len(list) < f.Limit || len(list) == most
			most -= len(list)
			for _, e := range list {
				out = append(out, lines.of(e)...)
				f.AfterID, f.BeforeID = after(f, e.ID)
			}
			f.Limit = ledgerPage
		}
		return out, nil
	}
}

// own narrows a filter to what the session may see of the ledger: an analyst sees their own
// entries, and none of an account that had the name before. none says that this is nothing.
func (a *Admin) own(ctx *sql.Context, f accounting.Filter) (narrowed accounting.Filter, none bool) {
	who := a.o.Principal(ctx)
	none = who == ""
	if !a.seesAll(ctx) {
		none = none || f.Principal != "" && f.Principal != who
		f.Principal, f.AfterID = who, max(f.AfterID, session.Since(ctx))
	}
	return f, none
}

// after returns the bounds on ids of what follows an entry.
func after(f accounting.Filter, id uint64) (above, below uint64) {
	if f.Descending {
		return f.AfterID, id
	}
	return id, f.BeforeID
}

// prices returns a function that gives the ε of a charge at the δ of its account's budget of all
// principals; nil where there is none.
func prices(budgets []budget.Budget) func(accounting.Charge) any {
	type offer struct {
		loss  privacy.Loss
		delta privacy.Delta
	}
	deltas, known := map[account]privacy.Delta{}, map[offer]any{}
	for _, b := range budgets {
		if b.Principal == budget.All {
			deltas[account{b.Account, b.Entity}] = b.Delta
		}
	}
	return func(c accounting.Charge) any {
		delta, ok := deltas[account{c.Account, c.Entity}]
		if !ok {
			return nil
		}
		o := offer{c.Loss, delta}
		if _, ok := known[o]; !ok {
			known[o] = finite(float64(privacy.EpsilonOf(c.Loss, delta)))
		}
		return known[o]
	}
}

// ledgerLines turns entries into rows. all says that the reader sees what is left of common
// budgets.
type ledgerLines struct {
	all   bool
	price func(accounting.Charge) any
}

func (l *ledgerLines) of(e accounting.Entry) []sql.Row {
	b := e.Budget
	switch e.Kind {
	case accounting.ChargeEntry:
		return lists.Map(e.Charges, func(c accounting.EntryCharge) sql.Row { return l.charge(e, c) })
	case accounting.ReplayEntry:
		return replayLines(e)
	case accounting.NoteEntry:
		row := line(e, e.Text)
		row[colOutcome] = e.NoteKind
		return []sql.Row{row}
	case accounting.SetBudgetEntry:
		return []sql.Row{budgetLine(e, "budget of "+b.Principal+": "+limits(b))}
	case accounting.ResetBudgetEntry:
		return []sql.Row{budgetLine(e, "budget of "+b.Principal+" reset")}
	}
	return []sql.Row{budgetLine(e, "budget of "+b.Principal+" removed")}
}

// The columns that are filled in by the kind of entry.
const (
	colStatement = 4 + iota
	colDigest
	colMechanisms
	colEvents
	colAccountType
	colAccount
	colTable
	colRho
	colDelta
	colPure
	colEpsilon
	colRemaining
	colRemainingRho
	colRemainingTotal
	colOutcome
	colReplayOf
	colReason
	colRemark
	colFirstDay
	colLastDay
	colCountsAfter
)

// line is what every entry has.
func line(e accounting.Entry, statement string) sql.Row {
	row := make(sql.Row, len(ledgerColumns))
	row[0], row[1], row[2], row[3], row[colStatement] = int64(e.ID), instant(e.At), e.Principal, string(e.Kind), statement
	return row
}

func (l *ledgerLines) charge(e accounting.Entry, c accounting.EntryCharge) sql.Row {
	row := line(e, e.Statement)
	row[colDigest], row[colMechanisms], row[colEvents] = orNull(e.Digest), orNull(e.Mechanisms), orNull(eventsText(c.Events))
	row[colAccountType], row[colAccount], row[colTable] = accountType(c.Account, c.Entity), c.Account, orNull(c.Table)
	row[colRho], row[colDelta], row[colPure], row[colEpsilon] = c.Loss.Rho.Float(), slack(c.Loss), pure(c.Loss), l.price(c.Charge)
	row[colOutcome], row[colRemark] = e.Outcome.String(), orNull(e.Remark)
	first, last := c.Blocks.All().Dates()
	row[colFirstDay], row[colLastDay], row[colCountsAfter] = orNull(first), orNull(last), orNull(c.CountsAfter())
	for _, left := range c.Left {
		switch {
		case left.Scope == record.Own:
			row[colRemaining] = finite(float64(left.Epsilon))
			if row[colRemaining] == nil {
				row[colRemainingRho] = left.Rho.Float()
			}
		case left.Scope == budget.All && l.all:
			row[colRemainingTotal] = finite(float64(left.Epsilon))
		}
	}
	return row
}

// replayLines shows a replay: it has cost nothing, and names the entry whose charge paid.
func replayLines(e accounting.Entry) []sql.Row {
	var out []sql.Row
	for _, account := range e.Tables {
		row := line(e, e.Statement)
		row[colDigest], row[colAccountType], row[colAccount] = orNull(e.Digest), accountType(account, false), account
		row[colRho], row[colDelta], row[colReplayOf] = 0.0, 0.0, orNull(int64(e.ReplayOf))
		out = append(out, row)
	}
	return out
}

func budgetLine(e accounting.Entry, what string) sql.Row {
	row := line(e, what)
	row[colAccountType], row[colAccount], row[colReason] = accountType(e.Budget.Account, e.Budget.Entity), e.Budget.Account, orNull(e.Budget.Reason)
	return row
}

func limits(b budget.Budget) string {
	if b.Rho > 0 {
		return fmt.Sprintf("rho %v, delta %v, window %s", b.Rho.Float(), float64(b.Delta), b.Window)
	}
	return fmt.Sprintf("epsilon %v, delta %v, window %s", float64(b.Epsilon), float64(b.Delta), b.Window)
}

// eventsText shows what ran: 'gaussian(rho=0.01) × 2; threshold(delta=1e-9)'.
func eventsText(events []privacy.Event) string {
	parts := make([]string, len(events))
	for i, e := range events {
		var args []string
		add := func(name string, value float64) {
			if value > 0 {
				args = append(args, fmt.Sprintf("%s=%.4g", name, value))
			}
		}
		add("rho", e.Rho.Float())
		add("epsilon", e.Epsilon.Float())
		add("delta", e.DeltaEvent)
		parts[i] = e.Kind.String() + "(" + strings.Join(args, ", ") + ")"
		if e.Count > 1 {
			parts[i] += fmt.Sprintf(" × %d", e.Count)
		}
	}
	return strings.Join(parts, "; ")
}

// lastCostColumns are the number of the statement and the columns of dp.ledger.
var lastCostColumns = slices.Concat([]column{count("number")}, ledgerColumns)

// lastCost is what the last private statement of the session that asks was charged: the lines that
// its charges have in dp.ledger, and a line
// for each table that a stored answer is of. A line of a stored answer has no id: the ledger writes
// one entry for many uses.
func (a *Admin) lastCost(ctx *sql.Context) ([]sql.Row, error) {
	k, ok := ctx.Session.(spent.Keeper)
	if !ok {
		return nil, nil
	}
	last := k.Spent()
	lines := &ledgerLines{all: a.seesAll(ctx), price: prices(a.o.Ledger.Budgets())}
	var out []sql.Row
	for _, s := range last.Entries {
		found, err := a.spentOn(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			for _, row := range lines.of(e) {
				if s.Replay {
					row[0], row[1] = nil, nil
				}
				out = append(out, slices.Concat(sql.Row{last.Number}, row))
			}
		}
	}
	return out, nil
}

// spentOn are the ledger's entries of a charge or a stored answer: none where the ledger has been
// archived since.
func (a *Admin) spentOn(ctx *sql.Context, s spent.Entry) ([]accounting.Entry, error) {
	if s.Replay {
		return []accounting.Entry{{
			Kind: accounting.ReplayEntry, Principal: a.o.Principal(ctx), Statement: s.Statement, Digest: s.Digest,
			ReplayOf: s.Charge, Tables: s.Accounts,
		}}, nil
	}
	return a.o.Ledger.Entries(ctx, accounting.Filter{
		Kinds: []accounting.EntryKind{accounting.ChargeEntry}, AfterID: s.Charge - 1, BeforeID: s.Charge + 1, Limit: 1,
	})
}

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
	tables := strings.Join(s.Tables, ", ")
	return sql.Row{int64(s.ID), instant(s.At), s.Principal, s.Statement, s.Digest, tables, s.Bytes,
		yes(s.Shared), int64(uses.Hits), instant(uses.Last), orNull(int64(s.Charge)),
		"a change of the data, the definition or the policy of " + tables + ", or newer answers that need the room"}
}

// verifyProcedure verifies the ledger.
var verifyProcedure = procedure{result: []column{count("records"), count("archived"), count("last_record"), text("last_hash")},
	may: (*Admin).verifying, note: unnoted, run: (*Admin).verifyLedger, Procedure: Procedure{"dp_verify_ledger", "dp_verify_ledger()",
		"Reads and verifies all records of the ledger again while everybody goes on working, and says how many they are, how many more are in archives, " +
			"and the last record with its hash. Where it finds damage, nothing private is answered any more, and the server's log says what to do. For a DBA or an auditor.",
		"CALL dp_verify_ledger()"}}

// verifying refuses who may not verify the ledger.
func (a *Admin) verifying(ctx *sql.Context) error {
	if a.o.Principal(ctx) == "" || !a.seesAll(ctx) {
		return refuse.New(refuse.NotDBA, "dp_verify_ledger may be called by a DBA or an auditor only.")
	}
	return nil
}

func (a *Admin) verifyLedger(ctx *sql.Context, _ []string) ([]sql.Row, error) {
	r, err := a.o.Ledger.Recheck(ctx)
	if err != nil {
		return nil, err
	}
	return []sql.Row{{int64(r.Records), int64(r.Archived), int64(r.End.Record), r.End.Hash}}, nil
}
