package collect

import (
	"bytes"
	"encoding/json"

	"scrim/internal/refuse"
)

// Canonical returns the parameters' canonical JSON: the fields in the order of Params, absent ones
// left out, no spaces, numbers in their shortest form, integers over 2^62 as texts, keys and seeds
// in base64. The same parameters have the same bytes everywhere. It panics on a number that is NaN
// or infinite and on an epsilon out of range; Parse and Design.Params let none through.
func (p *Params) Canonical() []byte {
	b, err := p.encode()
	if err != nil {
		panic("collect: parameters without a canonical form: " + err.Error())
	}
	return b
}

func (p *Params) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Parse reads canonical parameters. Anything that Canonical would write otherwise is refused:
// unknown or repeated fields, other forms of a number, spaces, more than MaxParams bytes. It does
// not verify.
func Parse(b []byte) (*Params, error) {
	if len(b) > MaxParams {
		return nil, bad("Parameters of %d bytes are longer than any collection's.", len(b))
	}
	var p Params
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, notCanonical()
	}
	if again, err := p.encode(); err != nil || !bytes.Equal(again, b) {
		return nil, notCanonical()
	}
	p.keep(b)
	return &p, nil
}

func notCanonical() error {
	return refuse.New(refuse.CollectionParameter, "These are not the canonical parameters of a collection.").
		With("Take the bytes of the column params of dp.collection_rounds unchanged, with a library of this version.")
}
