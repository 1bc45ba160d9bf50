package collections

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"scrim/engine/store"
)

// key is the first half of a SHA-256, which is what memory holds of hashes: 128 bits are as hard to
// meet.
type key [16]byte

func keyOf(hash []byte) key { return key(hash[:16]) }

// token is what memory knows of a token.
type token struct {
	key    key
	report key // of SHA-256(token | report); zero while the token is free
	place  place
}

func (t *token) free() bool { return t.report == key{} }

// tokens finds tokens by their hashes. They lie in sorted runs, each at least twice as long as the
// next, so that a look-up takes a few binary searches and tokens can be added at any time. 40 bytes
// a token.
type tokens struct{ runs [][]token }

// find returns a token, or nil. The pointer holds until tokens are added.
func (t *tokens) find(k key) *token {
	for _, run := range t.runs {
		i, ok := slices.BinarySearchFunc(run, k, func(e token, k key) int { return bytes.Compare(e.key[:], k[:]) })
		if ok {
			return &run[i]
		}
	}
	return nil
}

// add adds tokens, which are not there yet.
func (t *tokens) add(list []token) {
	slices.SortFunc(list, compareTokens)
	for len(t.runs) > 0 && len(t.runs[len(t.runs)-1]) < 2*len(list) {
		last := t.runs[len(t.runs)-1]
		t.runs = t.runs[:len(t.runs)-1]
		list = slices.Concat(last, list)
		slices.SortFunc(list, compareTokens)
	}
	t.runs = append(t.runs, list)
}

func compareTokens(a, b token) int { return bytes.Compare(a.key[:], b.key[:]) }

// index returns a collection's tokens, which it reads from the store the first time. c.writing is
// held.
func (c *Collections) index(ctx context.Context, col *collection) (*tokens, error) {
	if col.tokens != nil {
		return col.tokens, nil
	}
	t := &tokens{}
	names := tx{schema: c.own.OwnSchema()}
	var all []token
	err := c.own.ScanBytes(ctx, "SELECT hash, round, stratum, cell FROM "+quoted(names.table(tableToken, col.record)), nil, func(b store.BytesChunk) error {
		for i := range b.Len {
			p := place{uint8(b.Columns[1].Ints[i]), uint16(b.Columns[2].Ints[i]), uint32(b.Columns[3].Ints[i])}
			all = append(all, token{key: keyOf(b.Columns[0].Bytes[i]), place: p})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.add(all)
	err = c.own.ScanBytes(ctx, "SELECT hash, report FROM "+quoted(names.table(tableSpent, col.record)), nil, func(b store.BytesChunk) error {
		for i := range b.Len {
			e := t.find(keyOf(b.Columns[0].Bytes[i]))
			if e == nil {
				return fmt.Errorf("collections: %s has a report of a token that it has not", col.Name)
			}
			e.report = keyOf(b.Columns[1].Bytes[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	col.tokens = t
	return t, nil
}
