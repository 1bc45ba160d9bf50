package source

import (
	"errors"
	"testing"
)

// TestPiped hands over all rows in their order, and ends at the first error of either side, or a
// panic, whichever batch it is at.
func TestPiped(t *testing.T) {
	columns := []Column{{Name: "n", Type: "BIGINT"}}
	// read fills batches of three with numbers below rows, and fails then with err.
	read := func(rows int, err error) func(*Batch, func(*Batch) (*Batch, error)) (*Batch, error) {
		return func(b *Batch, next func(*Batch) (*Batch, error)) (*Batch, error) {
			for n := range rows {
				b.Columns[0].Ints[b.Len] = int64(n)
				if b.Len++; b.Len == 3 {
					var err error
					if b, err = next(b); err != nil {
						return nil, err
					}
				}
			}
			return b, err
		}
	}
	ours, theirs := errors.New("each"), errors.New("read")
	for rows := range 20 {
		for at := range rows + 1 { // the row that each fails at; rows: none
			for _, failing := range []error{nil, theirs} {
				next, fail := 0, at
				err := Piped(columns, func(b *Batch) error {
					for _, v := range b.Columns[0].Ints[:b.Len] {
						if v != int64(next) {
							t.Errorf("%d of %d rows: %d", next, rows, v)
						}
						if next++; v == int64(fail) {
							return ours
						}
					}
					return nil
				}, read(rows, failing))
				switch {
				case failing == nil && at < rows && err != ours, failing == nil && at == rows && (err != nil || next != rows):
					t.Errorf("%d rows, failing at %d: %v after %d", rows, at, err, next)
				case failing != nil && err != theirs && (at == rows || err != ours):
					t.Errorf("%d rows, failing at %d: %v", rows, at, err)
				}
			}
		}
	}
	defer func() {
		if r := recover(); r != "broken" {
			t.Errorf("recovered %v", r)
		}
	}()
	Piped(columns, func(*Batch) error { panic("broken") }, read(20, nil)) //nolint:errcheck // it panics
}
