package accounting

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
)

// Position is a place in a ledger's chain: a record and its hash, which stands for all records up
// to it.
type Position struct {
	Record uint64    `json:"record"` // 0 before the first
	At     time.Time `json:"at"`     // of the record
	Hash   string    `json:"hash"`
}

// String is the position in one line: record, nanoseconds since 1970 and hash. ParsePosition reads
// it.
func (p Position) String() string {
	return fmt.Sprintf("%d %d %s", p.Record, p.At.UnixNano(), p.Hash)
}

// ParsePosition reads what String writes.
func ParsePosition(text string) (p Position, err error) {
	f := strings.Fields(text)
	if len(f) != 3 {
		return p, fmt.Errorf("accounting: %q is no position of a ledger: want record, time and hash", text)
	}
	id, e1 := strconv.ParseUint(f[0], 10, 64)
	nanos, e2 := strconv.ParseInt(f[1], 10, 64)
	hash, e3 := hex.DecodeString(f[2])
	if e1 != nil || e2 != nil || e3 != nil || len(hash) != len(chain.Sum{}) {
		return p, fmt.Errorf("accounting: %q is no position of a ledger: want record, time and hash", text)
	}
	return Position{id, time.Unix(0, nanos).UTC(), f[2]}, nil
}

// Position is where the ledger ends: its last record that is known to be durable. It may be written
// elsewhere: no crash leaves a ledger that ends before it. It is known still after Close.
func (l *Ledger) Position() Position {
	return positionOf(*l.durable.Load())
}

func positionOf(m chain.Mark) Position { return Position{m.ID, m.At, hex.EncodeToString(m.Hash[:])} }

// Continues reports whether the ledger has the record of p with the same hash: then it holds
// everything that a ledger holds which ends there, and perhaps more.
func (l *Ledger) Continues(p Position) (bool, error) {
	want, err := hex.DecodeString(p.Hash)
	if err != nil || len(want) != len(chain.Sum{}) {
		return false, fmt.Errorf("accounting: %q is no hash of a record", p.Hash)
	}
	have, found, err := l.hashAt(p.Record)
	return found && bytes.Equal(have[:], want), err
}

// hashAt returns the hash of a record as it is stored, if there is one.
func (l *Ledger) hashAt(id uint64) (hash chain.Sum, found bool, err error) {
	switch {
	case id == 0:
		return l.chain.Genesis(l.directory), true, nil
	case id == l.base.end.ID:
		return l.base.end.Hash, true, nil
	case id < l.base.end.ID:
		return l.archivedHash(id)
	}
	err = boltfile.Guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			v := tx.Bucket(chain.Records).Get(chain.RecordKey(id))
			if found = len(v) >= len(hash); found {
				hash = chain.Sum(v[:len(hash)])
			}
			return nil
		})
	})
	return hash, found, err
}
