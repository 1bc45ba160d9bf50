package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/collections"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/intake"
	"scrim/engine/mysql/inbox"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/statement/trace"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/watch"
	"scrim/internal/digest"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// listenContribute opens the socket of contributors.
func (s *Server) listenContribute() error {
	if s.cfg.ContributeListen == "" {
		return nil
	}
	origins, err := intake.ParseOrigins(s.cfg.ContributeOrigins)
	if err != nil {
		return err
	}
	certificate := s.certificate.operators()
	s.intake, err = intake.Listen(s.cfg.ContributeListen, intake.Options{
		Backend: contributors{s}, TLS: certificate, Secure: certificate != nil, Origins: origins,
		Page: true, MaxBody: intake.MaxLocal, MaxConnections: s.cfg.MaxConnections, Log: s.log,
	})
	return err
}

// contributors are served over HTTP as they are over the MySQL protocol by an INSERT into dp_in:
// the same place in the audit log first, the same checks and transaction of collections.Accept, and
// of a report that was taken no record of who sent it.
type contributors struct{ s *Server }

var _ intake.Backend = contributors{}

// httpContributor is the principal of refused reports: there is no account.
const httpContributor = "(contributor over HTTP)"

// Round implements intake.Backend.
func (c contributors) Round(name string, round int, stratum string) (*collect.Params, error) {
	if round == 0 {
		found, _ := c.s.collections.Lookup(name)
		round = found.Round
	}
	return c.s.collections.Params(name, round, stratum)
}

// Accept implements intake.Backend.
func (c contributors) Accept(ctx context.Context, name string, token, report []byte) error {
	place, err := c.s.audit.Admit()
	if err != nil {
		return err
	}
	begun := time.Now()
	err = c.s.collections.Accept(ctx, name, []collections.Submission{{Token: token, Report: report}})
	e := c.event(name, begun)
	if err == nil {
		place.Free()
		c.s.observers.Statement(e)
		return nil
	}
	e.ID, e.Principal, e.Outcome = trace.NewID(), httpContributor, watch.Failed
	if r, ok := refuse.As(err); ok {
		e.Outcome, e.Cause, e.Errno, e.SQLState = watch.Refused, string(r.Code), refuse.MySQLErrno, refuse.Lookup(r.Code).SQLState
	} else {
		public := c.s.handler.Errors.Public(err, mysqlerr.Context{Principal: e.Principal, ID: e.ID, Statement: mysqlerr.Statement{Text: e.Statement}})
		own, _ := mysqlerr.AsSQLError(public)
		own = cmp.Or(own, mysql.NewSQLError(mysql.ERUnknownError, mysql.SSUnknownSQLState, "internal error"))
		e.Errno, e.SQLState = own.Num, own.State
	}
	place.Write(audit.Of(e))
	c.s.observers.Statement(e)
	return err
}

// event is that of an INSERT of one report. A name that is no collection's is not repeated.
func (c contributors) event(name string, begun time.Time) watch.Event {
	table := "?"
	if found, ok := c.s.collections.Lookup(name); ok {
		table = sqltext.Name(found.Name)
	}
	text := "INSERT INTO " + inbox.Name + "." + table + " (token, report) VALUES (?, ?)"
	return watch.Event{At: begun, Duration: time.Since(begun), Statement: text, Digest: digest.Of(text), Outcome: watch.Answered}
}
