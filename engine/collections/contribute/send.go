package contribute

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"

	"scrim/engine/collections/collect"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// Execer runs one statement; *sql.DB, *sql.Conn and *sql.Tx are Execers.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// DB is a connection to a server or a shuffler; *sql.DB is one, and gets a new connection where one
// breaks.
type DB interface {
	Queryer
	Execer
}

// How a statement is sent. All attempts have the same bytes: of a report the other side takes one,
// and parameters are only read.
const (
	attempts    = 6
	attemptTime = time.Minute
	firstPause  = 200 * time.Millisecond // doubles, and is drawn between half and all of it
)

// Send sends the kept report of a collection of the local model to the server, and keeps that it
// arrived. It tries again where the connection fails or the server is busy. Nothing is sent, and
// nil returned, if it arrived before.
//
// A *Refused is the server's own answer: the report stays pending, and charged. Any other error
// leaves open whether it has arrived: Send again.
func (w *Wallet) Send(ctx context.Context, db Execer, uuid string) error {
	r, err := w.toSend(uuid, collect.Local)
	if err != nil || r.State == Acknowledged {
		return err
	}
	short := r.Collection[strings.LastIndex(r.Collection, ".")+1:]
	table := "`dp_in`." + sqltext.Name(short)
	return w.deliver(ctx, db, "INSERT INTO "+table+" (token, report) VALUES (?, ?)", r)
}

// SendBundle is Send for the shuffle model: the kept bundle goes to the shuffler. It is asked first
// whether it has pinned the fingerprint, and sent nothing if not: a bundle that reached the server
// instead would not be private. All attempts go to one shuffler.
func (w *Wallet) SendBundle(ctx context.Context, shuffler DB, uuid string) error {
	r, err := w.toSend(uuid, collect.Shuffle)
	if err != nil || r.State == Acknowledged {
		return err
	}
	id, err := pinned(ctx, shuffler, r.Collection, r.Fingerprint)
	if err != nil {
		return err
	}
	if err := w.bind(uuid, id); err != nil {
		return err
	}
	return w.deliver(ctx, shuffler, "INSERT INTO inbox (token, bundle) VALUES (?, ?)", r)
}

// Contribute does everything for one person: it fetches and verifies the parameters, makes the
// report or the bundle once, keeps it, and sends it. Called again it goes on where it was. shuffler
// is nil for collections of the local model; it is asked whether it has pinned the parameters
// before a bundle is made. Some collections want a Consent.
func (w *Wallet) Contribute(ctx context.Context, server, shuffler DB, collection string, t Token, v Value, consents ...Consent) error {
	p, err := FetchParams(ctx, server, collection, t)
	if err != nil {
		return err
	}
	if info, _ := p.Protocol.Info(); info.Model == collect.Local {
		if _, err := w.Report(p, t, v); err != nil {
			return err
		}
		return w.Send(ctx, server, p.UUID)
	}
	if shuffler == nil {
		return refuse.New(refuse.CollectionState, "%.130q is a collection of the shuffle model.", p.Collection).
			With("Give the shuffler's address. Nothing was made or sent.")
	}
	pin := Pin{}
	if _, made := w.Record(p.UUID); !made {
		if pin, err = AskPin(ctx, shuffler, p); err != nil {
			return err
		}
	}
	if _, err := w.Bundle(pin, p, t, v, consents...); err != nil && !errors.Is(err, ErrForgotten) {
		return err
	}
	return w.SendBundle(ctx, shuffler, p.UUID)
}

// toSend returns a copy of a record.
func (w *Wallet) toSend(uuid string, model collect.Model) (Record, error) {
	r, ok := w.Record(uuid)
	if !ok {
		return Record{}, nothingTo(uuid)
	}
	if r.State == Abandoned {
		return Record{}, refuse.New(refuse.CollectionState, "The report to %.130q was given up.", r.Collection).With("It is not sent any more, and there is no second one.")
	}
	if r.Model() != model {
		return Record{}, refuse.New(refuse.CollectionState, "%.130q is a collection of the %s model.", r.Collection, r.Model()).
			With("Reports of the local model go to the server by Send, bundles to the shuffler by SendBundle.")
	}
	return r, nil
}

// bind keeps, before anything is sent, which shuffler a bundle goes to, and refuses any other: a
// bundle in batches of two shufflers would be known to the server by the messages that both batches
// have.
func (w *Wallet) bind(uuid, shuffler string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.book.find(uuid)
	switch {
	case r == nil:
		return nothingTo(uuid)
	case r.Shuffler == shuffler:
		return w.usable()
	case r.Shuffler != "":
		return refuse.New(refuse.CollectionState, "The bundle for %.130q may have reached another shuffler (%s; this one is %s).", r.Collection, r.Shuffler, shuffler).
			With("Send it to that one, or scrim wallet abandon it: in the batches of two shufflers the server would recognise it.")
	}
	bound := *r
	bound.Shuffler = shuffler
	return w.commit(w.book.with(bound))
}

// deliver sends a record's bytes, and keeps that they arrived.
func (w *Wallet) deliver(ctx context.Context, db Execer, statement string, r Record) error {
	err := persist(ctx, func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, statement, []byte(r.Token), r.Report)
		return err
	})
	if err != nil {
		return fmt.Errorf("contribute: send the report: %w", err)
	}
	return w.acknowledge(r.UUID)
}

// acknowledge keeps that a report has arrived.
func (w *Wallet) acknowledge(uuid string) error { return w.end(uuid, Acknowledged) }

// Abandon gives up a report that is pending: it is not sent any more, and of a bundle only the hash
// is kept. What it cost stays spent, because it may have been seen, and there is no second report
// to the collection.
func (w *Wallet) Abandon(uuid string) error {
	if _, ok := w.Record(uuid); !ok {
		return nothingTo(uuid)
	}
	return w.end(uuid, Abandoned)
}

// end ends a report that is pending.
func (w *Wallet) end(uuid string, as State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.book.find(uuid)
	if r == nil || r.State != Pending {
		return w.usable()
	}
	return w.commit(w.book.with(r.ended(as)))
}

func nothingTo(uuid string) error {
	return fmt.Errorf("contribute: the wallet has no report to the collection %.40q", uuid)
}

// persist calls f until it succeeds or trying again will not help.
func persist(ctx context.Context, f func(context.Context) error) error {
	for i := 1; ; i++ {
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		err := f(attempt)
		cancel()
		if err == nil {
			return nil
		}
		answer, isAnswer := refused(err)
		if isAnswer {
			err = answer
		}
		if i == attempts || ctx.Err() != nil || isAnswer && !answer.Temporary() || final(err) {
			return err
		}
		pause := firstPause << (i - 1)
		select {
		case <-time.After(pause/2 + rand.N(pause/2)):
		case <-ctx.Done():
			return err
		}
	}
}

// final tells whether an error of ours, or of TLS, stays as it is.
func final(err error) bool {
	_, ours := refuse.As(err)
	var untrusted *tls.CertificateVerificationError
	return ours || errors.As(err, &untrusted)
}

// Refused is what a server or a shuffler answered to a report: it has arrived, and it was not
// taken. Sending it again will not help, unless Temporary.
type Refused struct {
	Number int // of the error, in MySQL's numbering; 1644 for refusals of collections
	// 45D20 to 45D42 for refusals of collections; see the table of refusals in docs/reference.md
	SQLState string
	Message  string
}

// Error implements error.
func (r *Refused) Error() string {
	return fmt.Sprintf("refused by the server: %s (%d, %s)", r.Message, r.Number, r.SQLState)
}

// Temporary tells whether the server may take the same bytes later.
func (r *Refused) Temporary() bool {
	switch r.Number {
	case 1040, 1053, 1203, 1205, 1213, 1317, 3024: // too many connections, shutting down, locks, interrupted, too slow
		return true
	}
	return false
}

// answer is how drivers for MySQL print what a server answered, as go-sql-driver/mysql does: by it
// alone it is told from errors of the connection, as the package knows no driver.
var answer = regexp.MustCompile(`(?s)^Error (\d{1,5})(?: \(([0-9A-Z]{5})\))?: (.*)$`)

// maxMessage bounds what is repeated of a server's words.
const maxMessage = 1000

// refused reads a server's answer; ok is false for errors of the connection.
func refused(err error) (r *Refused, ok bool) {
	m := answer.FindStringSubmatch(err.Error())
	if m == nil {
		return nil, false
	}
	number, _ := strconv.Atoi(m[1])
	return &Refused{number, m[2], clean(m[3])}, true
}

// clean makes a server's words fit for a terminal: printable, and not too many.
func clean(s string) string {
	out := []rune{}
	for _, r := range s {
		if len(out) == maxMessage {
			return string(out) + "…"
		}
		if !strconv.IsPrint(r) {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

// Code names the kind of a refusal, of this package or of the server: SPENT_TOKEN, BUDGET_EXHAUSTED
// and so on, as in the table of refusals in docs/reference.md. It is "" for other errors.
func Code(err error) string {
	var r *Refused
	if e, ok := refuse.As(err); ok {
		return string(e.Code)
	}
	if !errors.As(err, &r) {
		return ""
	}
	if e, ok := lists.Find(refuse.Table, func(e refuse.Entry) bool { return e.SQLState == r.SQLState }); ok {
		return string(e.Code)
	}
	return ""
}

func badToken(p *Params, format string, args ...any) error {
	return refuse.New(refuse.ClosedToken, "The token for %.130q %s.", p.Collection, fmt.Sprintf(format, args...)).
		With("Take the whole row that the issuer sent: secret, round, cell, stratum. Nothing was made or sent.")
}
