package budget

import (
	"cmp"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"scrim/accounting/internal/bisect"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/internal/roundup"
	"scrim/accounting/privacy"
)

// The two words that a budget may carry in place of a principal's name.
const (
	All     = "*"       // the cap on all principals together
	Default = "default" // the cap on each principal who has no budget of their own
)

// RolePrefix begins the principal of a budget that caps all members of a role together.
const RolePrefix = "role:"

// Budget is a cap on the spending on one account: by everyone, by each, by the members of a role,
// or by one principal. It is stated as (ε, δ), as a pure ε (δ = 0), or in ρ.
type Budget struct {
	Account string
	Entity  bool // Account names an entity, not a table
	// All, Default, RolePrefix and a role's name, or a MySQL account (user@host)
	Principal string
	Epsilon   privacy.Epsilon // within (0, MaxEpsilon]; 0 for a budget in ρ
	// above 0 for a budget in ρ: charges fit whose ρ add up to at most this, and whose δ to at most
	// Delta
	Rho privacy.Rho
	// within [0, 1); 0: the pure account, where only charges with a pure ε fit; in ρ: only charges
	// without slack
	Delta  privacy.Delta
	Window Window
	// Order is the Rényi order of the filter's test, chosen by the ledger when the budget is made;
	// 0: none, see boxes.
	Order float64
	// Gaussian says that the account is a Gaussian one: besides the other tests, charges fit whose
	// μ² add up to what the exact curve of Gaussian noise allows. It wants an Order.
	Gaussian bool
	Reason   string // why it was set, for the record
	SetBy    string
	SetAt    time.Time
}

// Check refuses a budget that means nothing and says what would be right.
func (b Budget) Check() error {
	if err := CheckName("account", b.Account); err != nil {
		return err
	}
	if err := CheckName("principal", b.Principal); err != nil {
		return err
	}
	e, d := float64(b.Epsilon), float64(b.Delta)
	switch {
	case b.Principal == RolePrefix:
		return invalid.New("principal %q names no role", b.Principal)
	case b.Rho > privacy.MaxRho:
		return invalid.New("budget rho: want a number above 0 and at most %v, have %v", privacy.MaxRho.Float(), b.Rho.Float())
	case b.Rho > 0 && e != 0:
		return invalid.New("budget: want either an epsilon or a rho, have epsilon %v and rho %v", e, b.Rho.Float())
	case b.Rho > 0:
	case math.IsNaN(e):
		return invalid.New("budget epsilon is NaN: want a number above 0 and at most %v", float64(privacy.MaxEpsilon))
	case math.IsInf(e, 0):
		return invalid.New("budget epsilon is infinite: want a number above 0 and at most %v", float64(privacy.MaxEpsilon))
	case e <= 0 || b.Epsilon > privacy.MaxEpsilon:
		return invalid.New("budget epsilon: want a number above 0 and at most %v, have %v", float64(privacy.MaxEpsilon), e)
	}
	switch {
	case math.IsNaN(d):
		return invalid.New("budget delta is NaN: want a number of at least 0 and below 1, for example 1e-6")
	case d < 0 || d >= 1:
		return invalid.New("budget delta: want a number of at least 0 and below 1, for example 1e-6, have %v", d)
	}
	if b.Gaussian && (b.Rho > 0 || d == 0) {
		return invalid.New("a gaussian account wants an epsilon and a delta above 0, for example 1 and 1e-6")
	}
	if _, err := ParseWindow(string(b.Window)); err != nil {
		return err
	}
	if len(b.SetBy) > MaxName || !utf8.ValidString(b.SetBy) {
		return invalid.New("budget set by: want at most %d bytes of UTF-8", MaxName)
	}
	if len(b.Reason) > MaxStatement || !utf8.ValidString(b.Reason) {
		return invalid.New("budget reason: want at most %d bytes of UTF-8", MaxStatement)
	}
	return nil
}

// Whole is a loss beside which nothing fits the budget. It is not pure, so that a pure budget takes
// nothing beside it either.
func (b *Budget) Whole() privacy.Loss {
	if b.Rho > 0 {
		return privacy.Loss{Rho: b.Rho, DeltaEvent: float64(b.Delta)}
	}
	return privacy.Loss{Rho: max(1, privacy.RhoFor(b.Epsilon, b.Delta)), DeltaEvent: float64(b.Delta)}
}

// BoundDelta is the δ at which a budget in ρ enters the bound of an entity in ε, beside its own δ
// for slack.
const BoundDelta privacy.Delta = 1e-6

// Promise returns the (ε, δ) that a budget keeps to. For one in ρ, with at most δ of slack: the
// ideal mechanisms are (ε, BoundDelta)-DP, and all slack may be of the kind that enters (1+e^ε)
// times.
func (b *Budget) Promise() (privacy.Epsilon, privacy.Delta) {
	if b.Rho == 0 {
		return b.Epsilon, b.Delta
	}
	eps := privacy.EpsilonOf(privacy.Loss{Rho: b.Rho}, BoundDelta)
	return eps, privacy.Delta(roundup.Add(float64(BoundDelta), roundup.Mul(roundup.Add(1, roundup.Exp(float64(eps))), float64(b.Delta))))
}

// The kinds of accounts, by what adds up in them.
const (
	ZCDPAccount     = "zcdp"     // ρ, beside other noise at a Rényi order
	PureAccount     = "pure"     // ε
	GaussianAccount = "gaussian" // μ², or else as in a zCDP account
)

// Kind returns which of the kinds of accounts the budget is.
func (b *Budget) Kind() string {
	switch {
	case b.Gaussian:
		return GaussianAccount
	case b.IsPure():
		return PureAccount
	}
	return ZCDPAccount
}

// IsPure reports whether only charges with a pure ε fit a budget. One in ρ with δ = 0 takes every
// charge without slack.
func (b *Budget) IsPure() bool { return b != nil && b.Rho == 0 && b.Delta == 0 }

// overPeriods ends the name of an account of persons. No entity's name has a space.
const overPeriods = " over all periods"

// OverPeriods returns the account of what one person of an entity loses over all periods, where the
// unit is one person's rows of one period. It is an account of the entity beside its own, on which
// each release counts for neighbours that differ in all rows of a person.
func OverPeriods(entity string) string { return entity + overPeriods }

// OfPersons returns the entity of an account that bounds persons over all periods; ok is false for
// other accounts.
func OfPersons(account string) (entity string, ok bool) {
	return strings.CutSuffix(account, overPeriods)
}

// Compare orders budgets: those on tables before those on entities, by account, and of one account
// All, Default, roles and principals by name.
func Compare(a, b Budget) int {
	rank := func(p string) int {
		switch p {
		case All:
			return 0
		case Default:
			return 1
		}
		if strings.HasPrefix(p, RolePrefix) {
			return 2
		}
		return 3
	}
	if a.Entity != b.Entity {
		if b.Entity {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(rank(a.Principal), rank(b.Principal)),
		cmp.Compare(a.Principal, b.Principal))
}

// MaxStatement is how many bytes of a statement a record keeps: enough to recognise a generated
// query, little enough that a flood of long ones does not fill the disk.
const MaxStatement = 16 << 10

// MaxName bounds the names of accounts and principals. MySQL's longest user@host is 32+1+255
// characters of up to four bytes.
const MaxName = 4 * 320

// CheckName refuses an s that is no name of what: one that is empty, longer than MaxName bytes, not
// UTF-8, or with a NUL character.
func CheckName(what, s string) error {
	switch {
	case s == "":
		return invalid.New("%s is empty", what)
	case len(s) > MaxName:
		return invalid.New("%s: want at most %d bytes, have %d", what, MaxName, len(s))
	case !utf8.ValidString(s):
		return invalid.New("%s is not UTF-8", what)
	case strings.IndexByte(s, 0) >= 0:
		return invalid.New("%s holds a NUL character", what)
	}
	return nil
}

// Clip cuts a text to what a record keeps, at a character's edge.
func Clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= MaxStatement {
		return s
	}
	cut := MaxStatement - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// What remains of a budget is what the next charge of a kind is granted: Gaussian noise of some ρ,
// the ε that a statement asks for to be charged that ρ, or a pure ε. Each is the largest that
// passes the filter's test beside what is spent, rounded down.

// Remaining returns what the next statement is granted: where δ = 0 the largest pure ε, else the
// largest ε whose ρ at the budget's δ fits. NaN for a budget in ρ.
func (b *Budget) Remaining(spent *privacy.Amount) privacy.Epsilon {
	switch {
	case b.Rho > 0:
		return privacy.Epsilon(math.NaN())
	case b.Delta == 0:
		return b.RemainingPure(spent).EpsilonDown()
	}
	return privacy.EpsilonWithin(b.RemainingRho(spent, privacy.Tally{}), b.Delta)
}

// Cost returns the ε of a charge by itself, which compares with remainingFor: its pure ε, or that
// at the budget's δ.
func (b *Budget) Cost(l privacy.Loss) privacy.Epsilon {
	if l.Pure > 0 {
		return l.Pure.Epsilon()
	}
	return privacy.EpsilonOf(l, b.Delta)
}

// RemainingFor is remaining, of statements of the kind of a charge: a pure ε where it is pure.
func (b *Budget) RemainingFor(charge privacy.Tally, spent *privacy.Amount) privacy.Epsilon {
	if b.Rho == 0 && charge.Pure > 0 {
		return b.RemainingPure(spent).EpsilonDown()
	}
	return b.Remaining(spent)
}

// RemainingRho returns the largest ρ of Gaussian noise that fits with the δ of a pending charge,
// rounded down.
func (b *Budget) RemainingRho(spent *privacy.Amount, pending privacy.Tally) privacy.Rho {
	sum := *spent
	sum.Plus(&privacy.Amount{Tally: privacy.Tally{Event: pending.Event, TV: pending.TV}})
	l := sum.Loss()
	total := privacy.Rho(0)
	switch {
	case b.Rho > 0:
		if roundup.Add(l.DeltaEvent, l.DeltaTV) <= float64(b.Delta) {
			total = b.Rho
		}
	case b.Order > 0:
		if r := b.rule(); r.slack(l) {
			return max(r.rho(&sum), b.gaussianRho(&sum))
		}
	default:
		for _, x := range b.boxes() {
			if x.slack(l) {
				total = max(total, privacy.RhoFor(x.epsilon, x.conversion))
			}
		}
	}
	return total - min(total, spent.Rho)
}

// RemainingPure returns the largest ε of a pure charge that fits, of whose mechanism nothing else
// is known; 0 for a budget in ρ.
func (b *Budget) RemainingPure(spent *privacy.Amount) privacy.Pure {
	if b.Rho > 0 {
		return 0
	}
	fits := func(p privacy.Pure) bool { return b.Fits(spent.With(privacy.PureLoss(p.Float()))) }
	lo, hi := privacy.Pure(0), privacy.PureWithin(b.Epsilon)
	if spent.Loss().IsPure() && spent.Pure <= hi {
		lo = hi - spent.Pure // by the pure test
	}
	if b.Delta == 0 {
		return lo
	}
	for hi = max(hi, lo+1); hi < privacy.MaxPure/2 && fits(hi); hi *= 2 {
		lo = hi
	}
	return bisect.Largest(lo, hi, fits)
}

// Holds returns how many charges of one loss fit on top of what is spent, at most MaxForecast.
func (b *Budget) Holds(spent, loss *privacy.Amount) int {
	fits := func(n int) bool {
		sum := *spent
		sum.Plus(loss.Times(n))
		return b.Fits(&sum)
	}
	lo, hi := 0, 1
	for hi <= MaxForecast && fits(hi) {
		lo, hi = hi, 2*hi
	}
	hi = min(hi, MaxForecast+1)
	return bisect.Largest(lo, hi, fits)
}

// MaxForecast is the largest number of repetitions that a forecast counts.
const MaxForecast = 1_000_000

// Window is the period after which a budget's spending starts anew. Windows follow the UTC
// calendar.
type Window string

// The windows. A week starts on Monday, as in ISO 8601.
const (
	Never Window = "never"
	Day   Window = "day"
	Week  Window = "week"
	Month Window = "month"
)

// ParseWindow returns the window with that name, in any case.
func ParseWindow(s string) (Window, error) {
	switch w := Window(strings.ToLower(s)); w {
	case Never, Day, Week, Month:
		return w, nil
	}
	return "", invalid.New("window: want never, day, week or month, have %q", s)
}

// day is a UTC day: the number of days since 1970-01-01.
type Date int32

const secondsPerDay = 24 * 60 * 60

// DateOf returns the UTC day of t. Days before 1970 and beyond the type's range are moved to its
// ends: a clock that far off must not wrap around.
func DateOf(t time.Time) Date {
	const last = 1 << 30
	s := t.Unix()
	if s < 0 {
		return 0
	}
	return Date(min(s/secondsPerDay, last))
}

// Time returns the beginning of the day.
func (d Date) Time() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// Start returns the first day of the window that holds d; 0 for Never.
func (w Window) Start(d Date) Date {
	switch w {
	case Day:
		return d
	case Week:
		// 1970-01-01 was a Thursday, the fourth day of its week.
		return max(0, d-(d+3)%7)
	case Month:
		t := d.Time()
		return DateOf(time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC))
	}
	return 0
}

// End returns when the window that holds d ends; the zero time for Never.
func (w Window) End(d Date) time.Time {
	switch w {
	case Day:
		return d.Time().AddDate(0, 0, 1)
	case Week:
		return (d - (d+3)%7).Time().AddDate(0, 0, 7)
	case Month:
		t := d.Time()
		return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Time{}
}

// Starts are the first days of the windows that hold a day, in the order of windows.
type Starts [4]Date

// Windows are all windows; a place in it stands for the window.
var Windows = [len(Starts{})]Window{Never, Day, Week, Month}

// InWindows says of each window whether something lies in it.
type InWindows [len(Windows)]bool

// Hold returns which of the windows hold d, which is not after the day that all hold, and not an
// earlier day, since, 0 for none.
func (s Starts) Hold(d, since Date) (in InWindows) {
	for i, first := range s {
		in[i] = first <= d && (since == 0 || first > since)
	}
	return in
}

// StartsOf returns the first day of each window that d lies in.
func StartsOf(d Date) (s Starts) {
	for i, w := range Windows {
		s[i] = w.Start(d)
	}
	return s
}

// Index returns the place of w in Windows.
func (w Window) Index() int {
	for i, v := range Windows {
		if v == w {
			return i
		}
	}
	return 0
}
