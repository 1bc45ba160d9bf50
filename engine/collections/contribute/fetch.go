package contribute

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
)

// Queryer asks one statement; *sql.DB, *sql.Conn and *sql.Tx are Queryers.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// fetchTime bounds how long a server may take to answer.
const fetchTime = 30 * time.Second

const fetchQuery = "SELECT params, fingerprint FROM dp.collection_rounds WHERE collection = ? AND round = ? AND stratum = ?"

// FetchParams asks a server for the public parameters of the round and stratum that a token is of,
// and verifies them (CheckParams). collection is the collection's name, with its database or
// without. Nothing is sent but the name, the round and the stratum, and again where the connection
// fails or the server is busy.
//
// The server need not be trusted: parameters of another collection, round or stratum are refused,
// as are those that are not what their declaration demands; the answer may take 30 s and one row of
// collect.MaxParams bytes. How much a driver reads before it hands over a row is the driver's: give
// it LimitDial.
//
// An attacker between the two, or the server, can still show this person a collection of their own,
// with an ε within the wallet's caps: compare the fingerprint with one published elsewhere, and use
// TLS that verifies.
func FetchParams(ctx context.Context, db Queryer, collection string, t Token) (*Params, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	short := collection[strings.LastIndex(collection, ".")+1:]
	round := max(t.Round, 1)
	var text, print []byte
	err := persist(ctx, func(ctx context.Context) (err error) {
		text, print, err = oneRow(ctx, db, short, round, t.Stratum)
		return err
	})
	if err != nil {
		return nil, asked(err)
	}
	p, err := CheckParams(text, print)
	if err != nil {
		return nil, err
	}
	if !named(p, collection) || p.Round != round || p.Stratum != t.Stratum {
		return nil, refuse.New(refuse.CollectionParameter, "The server answered with the parameters of %.130q, round %d, stratum %.80q.", p.Collection, p.Round, p.Stratum).
			With("Report nothing with them, and tell whoever runs the collection.")
	}
	return p, nil
}

// named tells whether parameters are of the collection that was asked for. SQL compares names
// without their case.
func named(p *Params, collection string) bool {
	_, short, _ := strings.Cut(p.Collection, ".")
	return strings.EqualFold(p.Collection, collection) || strings.EqualFold(short, collection)
}

// oneRow fetches the row of a round.
func oneRow(ctx context.Context, db Queryer, collection string, round int, stratum string) (text, print []byte, err error) {
	rows, err := db.QueryContext(ctx, fetchQuery, collection, round, stratum)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, nil, err
		}
		return nil, nil, refuse.New(refuse.CollectionState, "The server has no parameters of %.130q for round %d%s.", collection, round, ofStratum(stratum)).
			With("Check the name and the token. A round's parameters are there once it is open: SELECT * FROM dp.collections tells the state.")
	}
	// parts of the driver's own buffer, so that a text is measured before it is copied
	var a, b sql.RawBytes
	if err := rows.Scan(&a, &b); err != nil {
		return nil, nil, refuse.New(refuse.CollectionParameter, "The server answered with something else than parameters and their fingerprint: %v.", err).
			With("Report nothing with them, and tell whoever runs the collection.")
	}
	if len(a) > collect.MaxParams || len(b) != sha256.Size {
		return nil, nil, refuse.New(refuse.CollectionParameter, "The server answered with parameters of %d bytes and a fingerprint of %d.", len(a), len(b)).
			With("Report nothing with them, and tell whoever runs the collection.")
	}
	text, print = append([]byte{}, a...), append([]byte{}, b...)
	if rows.Next() {
		return nil, nil, refuse.New(refuse.CollectionParameter, "The server answered with several parameters for one round.").
			With("Report nothing with them, and tell whoever runs the collection.")
	}
	return text, print, rows.Err()
}

func ofStratum(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf(", stratum %.80q", s)
}

// asked says of an error of the connection what was being done.
func asked(err error) error {
	var answer *Refused
	if _, ours := refuse.As(err); ours || errors.As(err, &answer) {
		return err
	}
	return fmt.Errorf("contribute: ask the server for the parameters: %w", err)
}

// CheckParams reads parameters and verifies them: the fingerprint is the SHA-256 of exactly these
// bytes, which have the one canonical form, and every number that privacy rests on is what follows
// from the declaration, recomputed here.
func CheckParams(text, fingerprint []byte) (*Params, error) {
	if len(text) > collect.MaxParams {
		return nil, errors.New("contribute: parameters are longer than any collection's")
	}
	if sum := sha256.Sum256(text); string(sum[:]) != string(fingerprint) {
		return nil, refuse.New(refuse.CollectionParameter, "The fingerprint %.64x is not that of the parameters, which is %x.", fingerprint, sum).
			With("Report nothing with them, and tell whoever runs the collection.")
	}
	p, err := collect.Parse(text)
	if err != nil {
		return nil, err
	}
	return p, p.Verify()
}

// Dial opens a connection, as (*net.Dialer).DialContext does and mysql.Config.DialFunc wants.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// DialBytes is a limit for LimitDial that leaves room for the parameters of several collections.
const DialBytes = 16 << 20

// LimitDial returns a Dial whose connections break off after so many bytes from the other side,
// where a driver would read on as long as a server sends. dial is nil for the net package's.
func LimitDial(dial Dial, bytes int64) Dial {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l := &limited{Conn: c}
		l.left.Store(bytes)
		return l, nil
	}
}

// limited is a connection that reads so many bytes and no more.
type limited struct {
	net.Conn
	left atomic.Int64
}

var errTooMuch = errors.New("contribute: the server sends more than any collection needs")

// Read implements net.Conn.
func (l *limited) Read(b []byte) (int, error) {
	left := l.left.Load()
	if left <= 0 {
		return 0, errTooMuch
	}
	n, err := l.Conn.Read(b[:min(int64(len(b)), left)])
	l.left.Add(-int64(n))
	return n, err
}

// Pin is a shuffler's word that it waits for bundles of a fingerprint. AskPin gets one; the zero
// value is of no use.
type Pin struct{ fingerprint Hash }

// AskPin asks a shuffler whether it has pinned the parameters. It comes before a bundle is made:
// parameters that no shuffler has pinned may be those of one person only, and must cost nothing and
// bind nothing. No token and no value takes part.
func AskPin(ctx context.Context, shuffler Queryer, p *Params) (Pin, error) {
	if _, err := pinned(ctx, shuffler, p.Collection, p.Fingerprint()); err != nil {
		return Pin{}, err
	}
	return Pin{p.Fingerprint()}, nil
}

// fits refuses parameters of which no shuffler has said that it has pinned them.
func (n Pin) fits(p *Params) error {
	if n.fingerprint == p.Fingerprint() {
		return nil
	}
	return refuse.New(refuse.MalformedReport, "No shuffler has said that it has pinned the parameters of %.130q (fingerprint %x).", p.Collection, p.Fingerprint()).
		With("Nothing was made. Ask the shuffler with AskPin first, with these parameters.")
}

// identity is what shufflers are told apart by: 16 random bytes in hex.
var identity = regexp.MustCompile(`^[0-9a-f]{32}$`)

// pinned asks whether the other side is a shuffler that waits for bundles of a fingerprint, and
// which one.
func pinned(ctx context.Context, db Queryer, collection string, fingerprint Hash) (id string, err error) {
	err = persist(ctx, func(ctx context.Context) error {
		rows, err := db.QueryContext(ctx, "SELECT fingerprint, shuffler FROM pins WHERE fingerprint = ?", fingerprint[:])
		if err != nil {
			return err
		}
		defer rows.Close()
		var print, name sql.RawBytes
		if rows.Next() {
			if err := rows.Scan(&print, &name); err != nil {
				return err
			}
			if id = string(name); bytes.Equal(print, fingerprint[:]) && identity.MatchString(id) {
				return nil
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return refuse.New(refuse.MalformedReport, "The shuffler has not pinned the parameters of %.130q (fingerprint %v).", collection, fingerprint).
			With("Nothing was sent. Try again once the shuffler's operator has pinned them; if it pinned others, the server shows you other parameters than the shuffler.")
	})
	if err != nil {
		return "", fmt.Errorf("contribute: ask the shuffler which parameters it has pinned; nothing was sent: %w", err)
	}
	return id, nil
}

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
