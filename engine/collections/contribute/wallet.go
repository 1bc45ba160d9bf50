package contribute

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
