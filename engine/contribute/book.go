package contribute

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// magic begins the file; the hash of the rest follows.
const magic = "scrim wallet 1 "

// maxFile bounds the wallet's file.
const maxFile = 64 << 20

// book is what a wallet holds: the contents of its file. Books that were written are not changed
// any more.
type book struct {
	Serial  uint64   `json:"serial"` // of the write; 0 before the first
	Caps    Caps     `json:"caps"`
	Records []Record `json:"records"`
}

// find returns the record of a collection, or nil.
func (b *book) find(uuid string) *Record {
	if i := slices.IndexFunc(b.Records, func(r Record) bool { return r.UUID == uuid }); i >= 0 {
		return &b.Records[i]
	}
	return nil
}

// redeemed returns the record that a token has been used for, or nil.
func (b *book) redeemed(token Hash) *Record {
	if i := slices.IndexFunc(b.Records, func(r Record) bool { return r.TokenHash == token }); i >= 0 {
		return &b.Records[i]
	}
	return nil
}

// spent adds up what the records cost.
func (b *book) spent() (sum Loss) {
	for _, r := range b.Records {
		sum = sum.Add(r.Cost)
	}
	return sum
}

// with returns a book with a record put in, in the place of the one of the same collection or at
// the end.
func (b book) with(r Record) book {
	b.Records = slices.Clone(b.Records)
	if old := b.find(r.UUID); old != nil {
		*old = r
		return b
	}
	b.Records = append(b.Records, r)
	return b
}

// check tells whether the book can have been written by a wallet.
func (b *book) check() error {
	uuids, tokens := map[string]bool{}, map[Hash]bool{}
	for i := range b.Records {
		r := &b.Records[i]
		if err := r.check(); err != nil {
			return err
		}
		if uuids[r.UUID] || tokens[r.TokenHash] {
			return fmt.Errorf("the collection %.60q or its token is there twice", r.Collection)
		}
		uuids[r.UUID], tokens[r.TokenHash] = true, true
	}
	return nil
}

// encode returns the file's bytes.
func (b *book) encode() ([]byte, error) {
	if b.Records == nil {
		b.Records = []Record{}
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("contribute: %w", err)
	}
	if body.Len() > maxFile/2 {
		return nil, fmt.Errorf("contribute: the wallet would be larger than %d MiB; send the bundles that are pending", maxFile>>21)
	}
	return slices.Concat([]byte(magic), fmt.Appendf(nil, "%x\n", sha256.Sum256(body.Bytes())), body.Bytes()), nil
}

// decode reads a file. Everything is checked: the hash, the form, and what the records say of each
// other.
func decode(file []byte) (b book, err error) {
	head, body, ok := bytes.Cut(file, []byte("\n"))
	sum, isWallet := strings.CutPrefix(string(head), magic)
	switch {
	case !ok || !isWallet:
		return book{}, fmt.Errorf("it does not begin with %q", strings.TrimSpace(magic))
	case sum != fmt.Sprintf("%x", sha256.Sum256(body)):
		return book{}, fmt.Errorf("its bytes are not those of its hash")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return book{}, fmt.Errorf("it is not of this version: %w", err)
	}
	if again, err := b.encode(); err != nil || !bytes.Equal(again, file) {
		return book{}, fmt.Errorf("it is not in the form that this version writes")
	}
	return b, b.check()
}
