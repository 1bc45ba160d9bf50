package accounting

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Position is a place in a ledger's chain: a record and its hash, which stands for all records up to it.
type Position struct {
	Record uint64    `json:"record"` // 0 before the first
	At     time.Time `json:"at"`     // of the record
	Hash   string    `json:"hash"`
}

// Position is where the ledger ends: its last durable record.
func (l *Ledger) Position() (p Position, err error) {
	err = guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			h, err := decodeHead(tx.Bucket(metaBucket).Get(headKey))
			if err != nil {
				return damaged(l.path, err)
			}
			p = Position{h.id, h.at, hex.EncodeToString(h.hash[:])}
			return nil
		})
	})
	return p, err
}

// Continues reports whether the ledger has the record of p with the same hash: then it holds everything that a ledger holds which ends
// there, and perhaps more.
func (l *Ledger) Continues(p Position) (bool, error) {
	want, err := hex.DecodeString(p.Hash)
	if err != nil || len(want) != len(sum{}) {
		return false, fmt.Errorf("accounting: %q is no hash of a record", p.Hash)
	}
	if p.Record == 0 {
		g := l.chain.genesis(l.directory)
		return bytes.Equal(g[:], want), nil
	}
	found := false
	err = guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			v := tx.Bucket(recordsBucket).Get(binary.BigEndian.AppendUint64(nil, p.Record))
			found = len(v) >= len(want) && bytes.Equal(v[:len(want)], want)
			return nil
		})
	})
	return found, err
}
