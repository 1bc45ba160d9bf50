package accounting

import (
	"slices"
	"strings"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// Request asks for the charges of one statement: all of them, or none.
type Request struct {
	Principal string // who pays: a MySQL account, user@host
	// the roles granted to them, without RolePrefix: what each spends on an account counts for
	// every one
	Roles []string
	// without its literals, which can be values of rows; the record keeps its first 16 KiB
	Statement  string
	Digest     string // of Statement
	Mechanisms string // what runs, for the record
	Charges    []Charge
}

// Charge is a loss on one account.
type Charge struct {
	Account string // a table's account (it outlives renaming), or an entity's name
	Entity  bool   // Account names an entity
	Table   string // schema.table for messages; empty for an entity
	// Blocks are whose loss it is, where the unit is one person's rows of one period; nil: every
	// block's.
	Blocks *days.Span
	Loss   privacy.Loss
	Events []privacy.Event // what Loss is the sum of, in the order of the mechanisms
	// Since is, of an entry that renews a charge, the ledger's day of that one: it counts in the
	// windows that began after. 0, and in a request: in all.
	Since budget.Date
	// Rounded are the same events where Gaussian noise is drawn as rounded normal numbers, which a
	// Gaussian account wants; nil: the caller cannot draw it so.
	Rounded []privacy.Event
}

// Receipt says that a charge is durable.
type Receipt struct {
	ID uint64    // of the charge's record
	At time.Time // when it was made
	// Rounded says that Charge.Rounded is what was charged: all Gaussian noise of the statement has
	// to be drawn as rounded normal numbers.
	Rounded bool
}

// check refuses a request that no account could book.
func (r *Request) check() error {
	if err := budget.CheckName("principal", r.Principal); err != nil {
		return err
	}
	if r.Principal == budget.All || r.Principal == budget.Default {
		return invalid.New("principal %q names a budget, not an account", r.Principal)
	}
	if strings.HasPrefix(r.Principal, budget.RolePrefix) {
		return invalid.New("principal %q names a role, not an account", r.Principal)
	}
	for _, role := range r.Roles {
		if err := budget.CheckName("role", budget.RolePrefix+role); err != nil || role == "" {
			return invalid.New("role %q is not a name", role)
		}
	}
	if len(r.Charges) == 0 {
		return invalid.New("no charges")
	}
	for _, c := range r.Charges {
		if err := budget.CheckName("account", c.Account); err != nil {
			return err
		}
		if err := c.Loss.Check(); err != nil {
			return err
		}
		if err := c.Blocks.Check(); err != nil {
			return err
		}
		for _, e := range slices.Concat(c.Events, c.Rounded) {
			if err := e.Check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// renewal begins the digest of a renewal; behind it stands the record of the first charge.
const renewal = "renews "

// unique returns the names in order, each once.
func unique(names []string) []string {
	s := slices.Clone(names)
	slices.Sort(s)
	return slices.Compact(s)
}

// exhausted tells what a charge would cost that does not fit on some of its blocks, and what fits
// on the heaviest of them.
func exhausted(b *budget.Budget, c *record.Booked, r *record.Record, full []state.Stretch) error {
	before := &full[state.Heaviest(full)].Spent
	e := &ExhaustedError{
		Account: c.Account, Entity: c.Entity, Table: c.Table, Scope: b.Principal, Principal: r.Principal,
		Limit: b.Epsilon, LimitRho: b.Rho, Delta: b.Delta, Window: b.Window, WindowEnds: b.Window.End(r.Day),
		RequestedRho: c.Loss.Rho, Asked: c.Blocks, Renews: strings.HasPrefix(r.Digest, renewal), NoBound: c.Loss.Loss().DeltaEvent >= 1,
	}
	for i := range full {
		if on := full[i].Span; (&on).Whole() != nil {
			e.Blocks = append(e.Blocks, on)
		}
	}
	// Between two orders of the grid the curve of what is not Gaussian noise may count a little
	// more than α·ρ.
	e.RemainingRho = min(b.RemainingRho(before, c.Loss), c.Loss.Rho-min(c.Loss.Rho, 1))
	if b.Rho > 0 {
		e.NoSlack = before.Rho.Add(c.Loss.Rho) <= b.Rho
		return e
	}
	ideal := *before
	ideal.Plus(&privacy.Amount{Tally: privacy.Tally{Rho: c.Loss.Rho}, Curve: c.Amount().Curve})
	ideal.Event, ideal.TV = privacy.Slack{}, privacy.Slack{}
	e.NoSlack = b.Delta > 0 && b.Fits(&ideal)
	e.EventShare, e.TVShare = b.SlackShares()
	e.Requested, e.Remaining = b.Cost(c.Loss.Loss()), b.RemainingFor(c.Loss, before)
	e.NotPure = b.Delta == 0 && !c.Loss.Loss().IsPure()
	e.SpentNotPure = b.Delta == 0 && !before.Loss().IsPure()
	return e
}
