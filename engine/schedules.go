package engine

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/session"
	"scrim/engine/observe/audit"
	"scrim/internal/refuse"
)

// scheduleEvery is how often it is looked for what is due.
const scheduleEvery = 5 * time.Second

// keepSchedules does what the schedules of views and series say, until ctx ends.
func (s *Server) keepSchedules(ctx context.Context) {
	for _, problem := range s.schedules.Problems() {
		s.log.Warn().Msg(problem)
	}
	tick := time.NewTicker(scheduleEvery)
	defer tick.Stop()
	for {
		s.turn(ctx, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// turn does what is due at a time.
func (s *Server) turn(ctx context.Context, now time.Time) {
	err := mysqlerr.Guard(func() error {
		s.schedules.Turn(ctx, now)
		return nil
	})
	if err != nil {
		s.log.Error().Str("cause", s.wordScheduled("", err)).Msg("what was scheduled did not end well")
	}
	s.warnings.Schedules(s.schedules.Problems())
}

// actAs returns a context of an account that no client is, with its rights as they are now. Only a
// DBA who could log in refreshes views.
func (s *Server) actAs(ctx context.Context, account, owner string) (*sql.Context, func(), error) {
	identity := strings.TrimPrefix(owner, account)
	if u := auth.Named(s.analyzer.Catalog.MySQLDb, account); u == nil || u.Locked || u.Identity != identity {
		return nil, nil, refuse.New(refuse.NotDBA, "The account %s, which set the schedule, was dropped or locked.", account).
			With("Another DBA sets it anew: CALL dp_schedule.")
	}
	at := strings.LastIndexByte(account, '@')
	base := sql.NewBaseSessionWithClientServer("schedule", sql.Client{User: account[:at], Address: account[at+1:]}, 0)
	own := session.New(base, s.sessions)
	own.Identity = identity
	c := sql.NewContext(ctx, sql.WithSession(own))
	if !session.IsDBA(c) {
		own.SessionEnd()
		return nil, nil, refuse.New(refuse.NotDBA, "The account %s, which set the schedule, is no DBA any more.", account).
			With("Another DBA sets it anew: CALL dp_schedule.")
	}
	if err := own.CommandBegin(); err != nil {
		own.SessionEnd()
		return nil, nil, err
	}
	return c, func() { own.CommandEnd(); own.SessionEnd() }, nil
}

// wordScheduled words an error as the account's client would be told it.
func (s *Server) wordScheduled(account string, err error) string {
	return s.handler.Errors.Public(err, mysqlerr.Context{Protected: true, Principal: account}).Error()
}

// scheduleDone tells the log and the audit log of what a schedule had the server do.
func (s *Server) scheduleDone(account, call, problem string) {
	if problem == "" {
		s.log.Info().Str("account", account).Str("call", call).Msg("done as scheduled")
	} else {
		s.log.Warn().Str("account", account).Str("call", call).Str("cause", problem).Msg("not done as scheduled: it is tried again when it is due next")
	}
	s.audit.Write(audit.Record{Kind: audit.Scheduled, Principal: account, Statement: "CALL " + call, Note: problem})
}

// keeping is work beside the clients, which ends with the server.
type keeping struct {
	mu   sync.Mutex
	stop context.CancelFunc
	over bool
	done chan struct{}
}

// begin starts the work, unless the server has ended.
func (k *keeping) begin(work func(context.Context)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over || k.done != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop, k.done = stop, make(chan struct{})
	go func() {
		defer close(k.done)
		work(ctx)
	}()
}

// end ends the work, and waits until it has.
func (k *keeping) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	if k.done != nil {
		k.stop()
		<-k.done
	}
}
