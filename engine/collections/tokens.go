package collections

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/issue"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Token is one person's right to report once, in one place. The server keeps its hash only.
type Token = issue.Token

// Issue says which tokens to issue.
type Issue struct {
	Tokens  uint64
	Stratum string // "" where the collection has none
	// Round is the round that they are for. 0 means all rounds that are not over, by their planned
	// sizes; in a FAILED collection, the round that failed.
	Round int
}

// IssueTokens issues tokens to n further people, in random order: whoever hands them out in the
// order of the result assigns people to rounds and cells at random. Each place has exactly its
// share of all tokens that were ever issued for the same rounds (issue.Apportion). The secrets are
// returned once and kept nowhere.
//
// Tokens of a shuffle collection are a matter of the shuffler: who holds the tokens can supply all
// reports of a batch but one. They are refused unless the declaration says that both are one
// operator, who then has to be trusted anyway. The server keeps none of them, not even hashes.
func (c *Collections) IssueTokens(ctx context.Context, name string, want Issue) ([]Token, error) {
	var col *collection
	var out []Token
	var seats []issue.Seat[place]
	err := c.write(ctx, func(tx tx) (err error) {
		if col, err = c.find(name); err != nil {
			return err
		}
		stratum, err := col.mayIssue(want)
		if err != nil {
			return err
		}
		seats = col.seats(stratum, want.Round)
		strata := col.strata()
		out = issue.Draw(seats, issue.Apportion(seats, want.Tokens), func(p place) Token {
			return Token{Round: int(p.round), Cell: p.cell, Stratum: strata[p.stratum]}
		})
		if err := tx.issue(col, seats); err != nil {
			return err
		}
		if col.model() == collect.Shuffle {
			return nil
		}
		return tx.keepTokens(col, out)
	}, func() {
		for _, s := range seats {
			col.issued[s.Place] = s.Taken
		}
		if col.tokens != nil {
			col.tokens.add(col.tokenEntries(out))
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// mayIssue returns the stratum's place, or says why no tokens can be issued.
func (c *collection) mayIssue(want Issue) (stratum int, err error) {
	stratum, ok := c.stratum(want.Stratum)
	switch {
	case c.State == Final || c.State == Aborted:
		return 0, refuse.New(refuse.CollectionState, "The collection %s is %s.", c.Name, c.where()).
			With("Create a new collection; people report to it with new tokens.")
	case c.model() == collect.Shuffle && c.Declaration.Trust != "same_operator":
		return 0, refuse.New(refuse.CollectionState, "Tokens of %s are issued at its shuffler, or by somebody independent of this server.", c.Name).
			With("Run scrim shuffle's own issuing of tokens. Whoever holds the tokens can supply all but one of a batch's reports.")
	case !ok && len(c.Declaration.Strata) > 0:
		return 0, refuse.New(refuse.CollectionParameter, "The collection %s has no stratum %.80q.", c.Name, want.Stratum).
			With("Its strata are %s.", quotedList(c.strata()))
	case !ok:
		return 0, refuse.New(refuse.CollectionParameter, "The collection %s has no strata.", c.Name).With("Give NULL for the stratum.")
	case want.Tokens == 0 || want.Tokens > issue.Most:
		return 0, refuse.New(refuse.CollectionParameter, "%d tokens cannot be issued at once.", want.Tokens).With("Ask for 1 to %d.", issue.Most)
	case want.Round < 0 || want.Round > c.design.Rounds() || want.Round > 0 && want.Round < c.Round:
		return 0, refuse.New(refuse.CollectionParameter, "Tokens of round %d of %s would never be used.", want.Round, c.Name).
			With("Give a round from %d to %d, or NULL for all of them.", max(1, c.Round), c.design.Rounds())
	}
	return stratum, nil
}

// seats lists the places of a stratum that tokens are issued for.
func (c *collection) seats(stratum, only int) []issue.Seat[place] {
	if only == 0 && c.State == Failed {
		only = c.Round
	}
	var out []issue.Seat[place]
	for r := max(1, c.Round); r <= c.design.Rounds(); r++ {
		if only != 0 && r != only {
			continue
		}
		for _, cell := range c.design.Cells(r) {
			p := place{uint8(r), uint16(stratum), cell.Cell}
			out = append(out, issue.Seat[place]{Place: p, Quota: cell.Quota, Taken: c.issued[p]})
		}
	}
	return out
}

// issue keeps how many tokens were issued.
func (t tx) issue(col *collection, seats []issue.Seat[place]) error {
	counts := maps.Clone(col.issued)
	for _, s := range seats {
		counts[s.Place] = s.Taken
	}
	list := make([]issued, 0, len(counts))
	for p, n := range counts {
		list = append(list, issued{int(p.round), int(p.stratum), p.cell, n})
	}
	slices.SortFunc(list, func(a, b issued) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Stratum, b.Stratum), cmp.Compare(a.Cell, b.Cell))
	})
	return t.put(bucketIssued, col.UUID, list)
}

// keepTokens keeps the hashes of tokens, in their order: it is that of no people.
func (t tx) keepTokens(col *collection, list []Token) error {
	sorted := lists.Map(list, col.hashed)
	slices.SortFunc(sorted, func(a, b hashed) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	for part := range slices.Chunk(sorted, fillRows) {
		rows := lists.Map(part, func(h hashed) []any {
			return []any{h.hash[:], int64(h.place.round), int64(h.place.stratum), int64(h.place.cell)}
		})
		if err := t.fill(t.table(tableToken, col.record), rows); err != nil {
			return err
		}
	}
	return nil
}

// hashed is what is kept of a token.
type hashed struct {
	hash  [32]byte
	place place
}

func (c *collection) hashed(t Token) hashed {
	s, _ := c.stratum(t.Stratum)
	return hashed{sha256.Sum256(t.Secret[:]), place{uint8(t.Round), uint16(s), t.Cell}}
}

func (c *collection) tokenEntries(list []Token) []token {
	return lists.Map(list, func(t Token) token {
		h := c.hashed(t)
		return token{key: keyOf(h.hash[:]), place: h.place}
	})
}

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
