package contribute

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Wallet is one person's account of what they have reported. It holds every report that was made,
// as the bytes that are sent, and the sum of what they cost. It is safe for concurrent use. A file
// is held by one Wallet at a time.
//
// One person has one wallet: two devices with a wallet each would each allow what the caps allow. A
// wallet is never to be put back from an older copy.
type Wallet struct {
	mu     sync.Mutex
	disk   *disk // nil in memory
	book   book
	closed bool
	failed error // of a write: what is on disk is not known
}

// DefaultPath returns where the wallet is unless its owner wants it elsewhere: scrim/wallet in the
// directory of the user's configuration.
func DefaultPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("contribute: no place for a wallet: %w; name a file", err)
	}
	return filepath.Join(dir, "scrim", "wallet"), nil
}

// Open opens the wallet in a file and holds it until Close; path "" is DefaultPath. A file that has
// never been there is a wallet with DefaultCaps and nothing spent, and is written by the first
// report or SetCaps.
//
// Errors: ErrInUse if another process or Wallet holds it; ErrDamaged if its bytes are not what was
// written; ErrLost if it was there and is missing, or is an older copy.
func Open(path string) (*Wallet, error) {
	if path == "" {
		var err error
		if path, err = DefaultPath(); err != nil {
			return nil, err
		}
	}
	d, b, err := openDisk(path)
	if err != nil {
		return nil, err
	}
	return &Wallet{disk: d, book: b}, nil
}

// InMemory returns a wallet that forgets everything when the program ends, for tests and
// simulations: 20,000 made-up people need 20,000 wallets, but no files. For a real person it breaks
// the promise: after a restart, the same value would be randomised again.
func InMemory(caps Caps) *Wallet { return &Wallet{book: book{Caps: caps}} }

// Close lets go of the file.
func (w *Wallet) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	if w.disk == nil {
		return nil
	}
	return w.disk.close()
}

// Path returns the wallet's file; "" in memory.
func (w *Wallet) Path() string {
	if w.disk == nil {
		return ""
	}
	return w.disk.path
}

// Caps returns what all reports together may cost.
func (w *Wallet) Caps() Caps {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.book.Caps
}

// SetCaps sets what all reports together may cost. Caps below what is spent allow no further
// report.
func (w *Wallet) SetCaps(c Caps) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.book
	b.Caps = c
	return w.commit(b)
}

// Spent returns what all reports together cost, also those that never arrived: nobody knows who has
// seen them.
func (w *Wallet) Spent() Loss {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.book.spent()
}

// Records returns what the wallet keeps, in the order in which it was made.
func (w *Wallet) Records() []Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return lists.Map(w.book.Records, func(r Record) Record { return r.clone() })
}

// Record returns what the wallet keeps of a collection; ok is false where it has no report.
func (w *Wallet) Record(uuid string) (r Record, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.book.find(uuid); r != nil {
		return r.clone(), true
	}
	return Record{}, false
}

// Verify reads the file again and compares it with what the wallet holds.
func (w *Wallet) Verify() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil || w.disk == nil || w.book.Serial == 0 {
		return err
	}
	b, err := w.disk.read()
	if err != nil {
		return err
	}
	if b.Serial != w.book.Serial {
		return fmt.Errorf("%w: %s was written by somebody else meanwhile", ErrDamaged, w.disk.path)
	}
	return nil
}

// commit makes b the wallet's book, on disk first. An error leaves the wallet unusable until it is
// opened again: the file then says which of the two it is. mu is held.
func (w *Wallet) commit(b book) error {
	if err := w.usable(); err != nil {
		return err
	}
	b.Serial++
	if w.disk != nil {
		if err := w.disk.write(b); err != nil {
			w.failed = err
			return err
		}
	}
	w.book = b
	return nil
}

// usable is nil unless the wallet was closed or a write failed. mu is held.
func (w *Wallet) usable() error {
	switch {
	case w.closed:
		return errors.New("contribute: the wallet is closed")
	case w.failed != nil:
		return fmt.Errorf("contribute: a write of the wallet failed; open it again: %w", w.failed)
	}
	return nil
}

// Allows tells whether the wallet would let a report with these parameters be made: it is nil, or
// the refusal. A report that has been made is not asked about again.
func (w *Wallet) Allows(p *Params) error {
	cost, err := CostOf(p)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	if r := w.book.find(p.UUID); r != nil {
		return r.same(p)
	}
	return w.book.allows(p, cost)
}

// allows tells whether a further cost is within the caps.
func (b *book) allows(p *Params, cost Loss) error {
	spent := b.spent()
	if spent.Add(cost).Within(b.Caps) {
		return nil
	}
	return refuse.New(refuse.BudgetExhausted, "A report to %.130q costs %v; with %v spent, this is beyond the wallet's cap of %v.", p.Collection, cost, spent, b.Caps).
		With("Report nothing, or raise the cap if you want to: scrim wallet set-cap --epsilon %v --delta %v.",
			max(b.Caps.Epsilon, spent.Epsilon+cost.Epsilon), maxDelta(b.Caps.Delta, spent.Delta.Add(cost.Delta)))
}

func maxDelta(a, b Delta) Delta {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// same refuses parameters that are not those of the record.
func (r *Record) same(p *Params) error {
	if r.Fingerprint == p.Fingerprint() {
		return nil
	}
	what := "other parameters"
	if r.Round == p.Round && r.Stratum == p.Stratum {
		what = "another key, other results of earlier rounds, or another declaration for the same round"
	}
	return refuse.New(refuse.SpentToken, "The wallet has a report to %.130q from %s, round %d, and these are %s (fingerprint %x, the report's is %x).",
		r.Collection, r.Made, r.Round, what, firstOf(p.Fingerprint()), firstOf(r.Fingerprint)).
		With("Nobody reports twice to a collection. If you did not expect this, the server shows you something else than others: tell whoever runs the collection.")
}

func firstOf(h [32]byte) []byte { return slices.Clone(h[:8]) }

// Epsilon is an amount of ε in ten-thousandths: sums of what reports cost are exact.
type Epsilon uint64

const (
	epsilonUnit   = 10_000
	epsilonDigits = 4
)

// ParseEpsilon reads a decimal with at most four digits after the point, such as 2 or 0.5.
func ParseEpsilon(s string) (Epsilon, error) {
	whole, fraction, point := strings.Cut(s, ".")
	if !digits(whole) || point && !digits(fraction) || len(fraction) > epsilonDigits || len(whole) > 8 {
		return 0, fmt.Errorf("contribute: epsilon %.20q is not a decimal such as 2 or 0.5, with at most %d digits after the point", s, epsilonDigits)
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", epsilonDigits-len(fraction)), 10, 64)
	return Epsilon(n), err
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// String returns the shortest decimal that is ε.
func (e Epsilon) String() string {
	s := fmt.Sprintf("%d.%04d", uint64(e)/epsilonUnit, uint64(e)%epsilonUnit)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// MarshalText implements encoding.TextMarshaler.
func (e Epsilon) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Only what String returns is accepted.
func (e *Epsilon) UnmarshalText(text []byte) error {
	parsed, err := ParseEpsilon(string(text))
	if err != nil || parsed.String() != string(text) {
		return fmt.Errorf("contribute: %.20q is not an epsilon in its shortest form", text)
	}
	*e = parsed
	return nil
}

// Delta is an amount of δ, a decimal: sums are exact. The zero value is 0.
type Delta struct{ units *big.Int } // of 10^-deltaDigits; nil is 0

// deltaDigits holds every digit of every δ of a collection: at least 10^-15, with the 17 digits of
// a float.
const deltaDigits = 32

var (
	oneDelta  = new(big.Int).Exp(big.NewInt(10), big.NewInt(deltaDigits), nil)
	deltaForm = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,40})?(e[-+]?[0-9]{1,2})?$`)
)

// ParseDelta reads a decimal from 0 to 1 with at most 32 digits after the point, such as 1e-6 or
// 0.000001.
func ParseDelta(s string) (Delta, error) {
	if !deltaForm.MatchString(s) {
		return Delta{}, fmt.Errorf("contribute: delta %.40q is not a decimal such as 1e-6", s)
	}
	r, _ := new(big.Rat).SetString(s) // of this form, it is a number
	r.Mul(r, new(big.Rat).SetInt(oneDelta))
	if !r.IsInt() || r.Num().Cmp(oneDelta) > 0 {
		return Delta{}, fmt.Errorf("contribute: want delta from 0 to 1 with at most %d digits after the point, have %.40s", deltaDigits, s)
	}
	return Delta{new(big.Int).Set(r.Num())}, nil
}

// deltaOf returns the decimal that stands for a float in parameters: the shortest that reads as it.
func deltaOf(x float64) (Delta, error) { return ParseDelta(strconv.FormatFloat(x, 'e', -1, 64)) }

func (d Delta) int() *big.Int {
	if d.units == nil {
		return new(big.Int)
	}
	return d.units
}

// Add returns d+o.
func (d Delta) Add(o Delta) Delta { return Delta{new(big.Int).Add(d.int(), o.int())} }

// Sub returns d−o, or 0 if that is less.
func (d Delta) Sub(o Delta) Delta {
	if d.Cmp(o) < 0 {
		return Delta{}
	}
	return Delta{new(big.Int).Sub(d.int(), o.int())}
}

// Cmp returns -1, 0 or 1 as d is less than o, equal or more.
func (d Delta) Cmp(o Delta) int { return d.int().Cmp(o.int()) }

// String returns the shortest decimal that is δ: "0", "1", "1e-9", "1.25e-7".
func (d Delta) String() string {
	if d.int().Sign() == 0 {
		return "0"
	}
	all := d.int().String()
	exponent := len(all) - 1 - deltaDigits
	s := strings.TrimRight(all, "0")
	if len(s) > 1 {
		s = s[:1] + "." + s[1:]
	}
	if exponent == 0 {
		return s
	}
	return fmt.Sprintf("%se%d", s, exponent)
}

// MarshalText implements encoding.TextMarshaler.
func (d Delta) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Only what String returns is accepted.
func (d *Delta) UnmarshalText(text []byte) error {
	parsed, err := ParseDelta(string(text))
	if err != nil || parsed.String() != string(text) {
		return fmt.Errorf("contribute: %.40q is not a delta in its shortest form", text)
	}
	*d = parsed
	return nil
}

// Loss is an amount of (ε, δ): what reports cost together, or what they may cost.
type Loss struct {
	Epsilon Epsilon `json:"epsilon"`
	Delta   Delta   `json:"delta"`
}

// Caps are what a person allows all reports together to cost.
type Caps = Loss

// DefaultCaps are those of a new wallet: they are for the person to change.
func DefaultCaps() Caps {
	delta, _ := ParseDelta("1e-6")
	return Caps{4 * epsilonUnit, delta}
}

// Add returns the sum of two losses: what both cost together, by basic composition.
func (l Loss) Add(o Loss) Loss { return Loss{l.Epsilon + o.Epsilon, l.Delta.Add(o.Delta)} }

// Within tells whether l is at most a cap in both of its numbers.
func (l Loss) Within(cap Caps) bool { return l.Epsilon <= cap.Epsilon && l.Delta.Cmp(cap.Delta) <= 0 }

// String returns the loss as text.
func (l Loss) String() string { return fmt.Sprintf("epsilon %v, delta %v", l.Epsilon, l.Delta) }

// CostOf returns what a report with these parameters costs its person: the declared (ε, δ), where a
// report that is zCDP only is stated as (ρ + 2·sqrt(ρ·ln(1/δ)), δ) at δ = collect.WalletDelta,
// rounded up (collect.Params.Cost).
func CostOf(p *Params) (Loss, error) {
	c := p.Cost()
	delta, err := deltaOf(c.Delta)
	return Loss{Epsilon(c.Epsilon), delta}, err
}
