package contribute

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"scrim/engine/collections/collect"
)

// Token is one person's right to report once, in one place, as the issuer gave it out. Round is 0
// where the issuer gave the secret alone: then the collection has to be of one round and one cell.
type Token struct {
	Secret  [16]byte
	Round   int
	Cell    uint32
	Stratum string // "" where the collection has none
}

// maxTokenText bounds the text of a token.
const maxTokenText = 4096

// ParseToken reads a row of dp_issue_tokens: the secret in hex, the round, the cell and, where
// there is one, the stratum, between tabs, commas or spaces. The secret alone will do for a
// collection of one round and one cell. A line with the columns' names before it is skipped. More
// than one token is an error: a token is one person's.
func ParseToken(text string) (Token, error) {
	if len(text) > maxTokenText {
		return Token{}, errors.New("contribute: this is too long for a token")
	}
	var rows []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(strings.ToLower(line), "token") {
			rows = append(rows, line)
		}
	}
	switch len(rows) {
	case 0:
		return Token{}, errors.New("contribute: there is no token; want a row such as 9f86d081884c7d659a2feaa0c55ad015 1 0")
	case 1:
		return parseRow(rows[0])
	}
	return Token{}, errors.New("contribute: there are several tokens; want the one that was issued to this person")
}

func parseRow(row string) (t Token, err error) {
	fields := cut(row, 4)
	secret, err := hex.DecodeString(fields[0])
	if err != nil || copy(t.Secret[:], secret) != len(t.Secret) || len(secret) != len(t.Secret) {
		return Token{}, fmt.Errorf("contribute: a token begins with %d digits of hex", 2*len(t.Secret))
	}
	if len(fields) == 1 {
		return t, nil
	}
	if len(fields) == 2 {
		return Token{}, errors.New("contribute: after the secret, a token has a round and a cell")
	}
	round, err := strconv.ParseUint(fields[1], 10, 8)
	if err != nil || round == 0 {
		return Token{}, fmt.Errorf("contribute: %.20q is not a token's round", fields[1])
	}
	cell, err := strconv.ParseUint(fields[2], 10, 32)
	if err != nil {
		return Token{}, fmt.Errorf("contribute: %.20q is not a token's cell", fields[2])
	}
	t.Round, t.Cell = int(round), uint32(cell)
	if len(fields) == 4 && fields[3] != "NULL" {
		t.Stratum = fields[3]
	}
	return t, nil
}

// cut splits a row at tabs, commas and spaces into at most n fields; the last one keeps its spaces.
func cut(row string, n int) (fields []string) {
	for len(fields) < n-1 {
		at := strings.IndexAny(row, "\t, ")
		if at < 0 {
			break
		}
		fields, row = append(fields, row[:at]), strings.TrimLeft(row[at+1:], " ")
	}
	if row = strings.TrimSpace(row); row == "" && len(fields) > 0 {
		return fields
	}
	return append(fields, strings.Trim(row, `"`))
}

// String returns the token as ParseToken reads it. It is as secret as the token.
func (t Token) String() string {
	secret := hex.EncodeToString(t.Secret[:])
	if t.Round == 0 {
		return secret
	}
	return strings.TrimRight(fmt.Sprintf("%s\t%d\t%d\t%s", secret, t.Round, t.Cell, t.Stratum), "\t")
}

// fit places a token in a round, or says why it is of another one.
func (t Token) fit(p *Params) (cell uint32, err error) {
	if t.Round == 0 {
		if p.Rounds() != 1 || len(p.Cells) != 1 || p.Stratum != t.Stratum {
			return 0, badToken(p, "says neither round nor cell, and the collection has several")
		}
		return p.Cells[0].Cell, nil
	}
	if t.Round != p.Round {
		return 0, badToken(p, "is of round %d, and the parameters are of round %d", t.Round, p.Round)
	}
	if t.Stratum != p.Stratum {
		return 0, badToken(p, "is of the stratum %.80q, and the parameters are of %.80q", t.Stratum, p.Stratum)
	}
	if _, ok := p.Cell(t.Cell); !ok {
		return 0, badToken(p, "is of cell %d, which round %d does not have", t.Cell, p.Round)
	}
	return t.Cell, nil
}

// Params are the verified public parameters of one round of one stratum.
type Params = collect.Params

// Value is one person's value: one number, one vector, or nil for NULL.
type Value = collect.Value

// Number is the value x. NaN counts as NULL, ±Inf and what is beyond the declared range as its
// nearer end.
func Number(x float64) Value { return Value{x} }

// Vector is a value of several coordinates. It counts as NULL if their number is not the declared
// one, or if one of them is not finite.
func Vector(x ...float64) Value { return append(Value{}, x...) }

// Null is the value of who has none, or does not want to tell. It is reported like any other, as
// the collection's public null_default: nobody can see who did.
func Null() Value { return nil }
