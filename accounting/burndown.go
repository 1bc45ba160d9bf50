package accounting

import (
	"bytes"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"
)

// DaySpent is what one holder spent on one UTC day.
type DaySpent struct {
	Day   time.Time
	Spent Loss
}

// Burndown returns what a holder (All, RolePrefix and a role's name, or an account) spent on an account on each of the UTC days from
// the one of from to that of to, both included, days without spending left out. Resets do not show: it is what was spent.
func (l *Ledger) Burndown(account string, entity bool, principal string, from, to time.Time) []DaySpent {
	if l.usable() != nil {
		return nil
	}
	var list []DaySpent
	first := counter{holder{account, entity, principal}, dayOf(from)}.appendKey(nil)
	prefix, last := first[:len(first)-4], dayOf(to)
	err := guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			c := tx.Bucket(countersBucket).Cursor()
			for k, v := c.Seek(first); bytes.HasPrefix(k, prefix) && len(k) == len(first); k, v = c.Next() {
				d := day(binary.BigEndian.Uint32(k[len(prefix):]))
				if d > last {
					return nil
				}
				spent := decoder{b: v}
				list = append(list, DaySpent{d.time(), spent.tally().loss()})
			}
			return nil
		})
	})
	if err != nil {
		return nil
	}
	return list
}
