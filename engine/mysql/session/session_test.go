package session

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"scrim/engine/store"
	"scrim/internal/params"
	"scrim/internal/refuse"
)

// recorder is a store that notes what happens to its transactions.
type recorder struct {
	storeSession
	log  []string
	open bool
}

type storeSession interface{ store.Session }

func (r *recorder) Session(context.Context) (store.Session, error) {
	r.log = append(r.log, "open")
	return r, nil
}
func (r *recorder) Begin(context.Context) error {
	r.log = append(r.log, "begin")
	r.open = true
	return nil
}
func (r *recorder) Commit(context.Context) error {
	r.log = append(r.log, "commit")
	r.open = false
	return nil
}
func (r *recorder) Rollback(context.Context) error {
	r.log = append(r.log, "rollback")
	r.open = false
	return nil
}
func (r *recorder) InTransaction() bool { return r.open }
func (r *recorder) Close() error        { r.log = append(r.log, "close"); return nil }

func newSession(t *testing.T, opts *Options) (*sql.Context, *Session) {
	t.Helper()
	RegisterVariables()
	base := sql.NewBaseSessionWithClientServer("", sql.Client{User: "ann", Address: "%"}, 1)
	opts.Account = func(string) *mysql_db.User { return &mysql_db.User{} }
	s := New(base, opts)
	return sql.NewContext(context.Background(), sql.WithSession(s)), s
}

func TestVariablesAreChecked(t *testing.T) {
	ctx, s := newSession(t, &Options{})
	for _, c := range []struct {
		name  string
		value any
		ok    bool
	}{
		{"dp_epsilon", 0.5, true},
		{"dp_epsilon", int8(2), true},
		{"dp_epsilon", int64(0), false},
		{"dp_epsilon", 0.0, false},
		{"dp_epsilon", -1.0, false},
		{"dp_epsilon", math.NaN(), false},
		{"dp_epsilon", math.Inf(1), false},
		{"dp_epsilon", 1e308, false},
		{"dp_epsilon", 101.0, false},
		{"dp_epsilon", "1", false},
		{"dp_epsilon", "text", false},
		{"dp_epsilon", nil, false},
		{"dp_delta", 1e-7, true},
		{"dp_delta", 0.5, false},
		{"dp_delta", math.NaN(), false},
		{"dp_rho", 0.01, true},
		{"dp_rho", math.Inf(-1), false},
		{"dp_max_groups_contributed", int8(3), true},
		{"dp_max_groups_contributed", 2.5, false},
		{"dp_max_groups_contributed", int8(0), false},
		{"dp_group_by", "Vector", true},
		{"dp_group_by", "separate", true},
		{"dp_group_by", "", true},
		{"dp_group_by", "best", false},
		{"dp_group_by", nil, false},
		{"dp_method", "Plan", true},
		{"dp_method", "auto", true},
		{"dp_method", "", true},
		{"dp_method", "best", false},
		{"dp_method", int8(1), false},
		{"dp_method", nil, false},
		{"dp_rewrite", "OFF", true},
		{"dp_rewrite", int8(1), true},
		{"dp_rewrite", "maybe", false},
		{"dp_rewrite", nil, false},
	} {
		before, _ := s.GetSessionVariable(ctx, c.name)
		err := s.SetSessionVariable(ctx, c.name, c.value)
		if (err == nil) != c.ok {
			t.Errorf("SET %s = %v: got %v, want ok %v", c.name, c.value, err, c.ok)
		}
		if r, is := refuse.As(err); err != nil && (!is || r.Code != refuse.Parameter) {
			t.Errorf("SET %s = %v: got %v, want the refusal %s", c.name, c.value, err, refuse.Parameter)
		}
		if after, _ := s.GetSessionVariable(ctx, c.name); err != nil && after != before {
			t.Errorf("SET %s = %v was refused and changed the value from %v to %v", c.name, c.value, before, after)
		}
	}
}

func TestEpsilonAndRhoExcludeEachOther(t *testing.T) {
	ctx, s := newSession(t, &Options{})
	if _, set := s.Parameter(params.Epsilon); set {
		t.Error("dp_epsilon is set in a new session")
	}
	for _, step := range []struct {
		of    *params.Parameter
		value float64
		other *params.Parameter
	}{{params.Epsilon, 0.5, params.Rho}, {params.Rho, 0.25, params.Epsilon}, {params.Epsilon, 2, params.Rho}} {
		if err := s.SetSessionVariable(ctx, step.of.Name, step.value); err != nil {
			t.Fatal(err)
		}
		if v, set := s.Parameter(step.of); !set || v != (params.Value{Number: step.value}) {
			t.Errorf("got %s = %v, %v, want %v", step.of.Name, v, set, step.value)
		}
		if v, set := s.Parameter(step.other); set {
			t.Errorf("got %s = %v beside %s, want it unset", step.other.Name, v, step.of.Name)
		}
	}
}

func TestRawAccess(t *testing.T) {
	dba, noted, fail := false, 0, error(nil)
	ctx, s := newSession(t, &Options{
		IsDBA: func(*sql.Context) bool { return dba },
		NoteRaw: func(_ *sql.Context, who string) error {
			if who != "ann@%" {
				t.Errorf("got principal %q, want ann@%%", who)
			}
			noted++
			return fail
		},
	})
	set := func(v any) error { return s.SetSessionVariable(ctx, "dp_raw", v) }
	if err := set("ON"); err == nil || Raw(ctx) || noted != 0 {
		t.Errorf("an analyst: got %v, raw %v, %d notes, want a refusal without a note", err, Raw(ctx), noted)
	}
	dba, fail = true, errors.New("disk")
	if err := set("ON"); err == nil || Raw(ctx) {
		t.Errorf("a note that fails: got %v, raw %v, want a refusal", err, Raw(ctx))
	}
	fail = nil
	if err := set("ON"); err != nil || !Raw(ctx) || noted != 2 {
		t.Errorf("a DBA: got %v, raw %v, %d notes, want raw access with a note", err, Raw(ctx), noted)
	}
	dba = false
	if Raw(ctx) {
		t.Error("raw access outlived the DBA's privilege")
	}
	dba = true
	if err := set("OFF"); err != nil || Raw(ctx) {
		t.Errorf("got %v, raw %v, want it off", err, Raw(ctx))
	}
}

func TestTransactions(t *testing.T) {
	run := func(f func(ctx *sql.Context, s *Session)) []string {
		r := &recorder{}
		ctx, s := newSession(t, &Options{Store: r})
		f(ctx, s)
		return r.log
	}
	statement := func(ctx *sql.Context, s *Session) { // as GMS begins one
		if ctx.GetTransaction() == nil {
			tx, err := s.StartTransaction(ctx, sql.ReadWrite)
			if err != nil {
				t.Fatal(err)
			}
			ctx.SetTransaction(tx)
		}
		if _, err := s.Store(ctx); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(ctx *sql.Context, s *Session) {
		for range 2 { // the second one is BEGIN's own
			tx, err := s.StartTransaction(ctx, sql.ReadWrite)
			if err != nil {
				t.Fatal(err)
			}
			ctx.SetTransaction(tx)
		}
		ctx.SetIgnoreAutoCommit(true)
	}
	for _, c := range []struct {
		name string
		f    func(ctx *sql.Context, s *Session)
		want []string
	}{
		{"autocommit", func(ctx *sql.Context, s *Session) { statement(ctx, s); s.SessionEnd() }, []string{"open", "close"}},
		{"BEGIN alone", func(ctx *sql.Context, s *Session) { begin(ctx, s); s.SessionEnd() }, nil},
		{"BEGIN and commit", func(ctx *sql.Context, s *Session) {
			begin(ctx, s)
			statement(ctx, s)
			statement(ctx, s)
			_ = s.CommitTransaction(ctx, ctx.GetTransaction())
		}, []string{"open", "begin", "commit"}},
		{"BEGIN and rollback", func(ctx *sql.Context, s *Session) {
			begin(ctx, s)
			statement(ctx, s)
			_ = s.Rollback(ctx, ctx.GetTransaction())
		}, []string{"open", "begin", "rollback"}},
		{"the client goes away", func(ctx *sql.Context, s *Session) { begin(ctx, s); statement(ctx, s); s.SessionEnd() },
			[]string{"open", "begin", "rollback", "close"}},
		{"autocommit = 0", func(ctx *sql.Context, s *Session) {
			_ = s.SetSessionVariable(ctx, "autocommit", int8(0))
			statement(ctx, s)
			_ = s.Rollback(ctx, ctx.GetTransaction())
		}, []string{"open", "begin", "rollback"}},
		{"autocommit on again", func(ctx *sql.Context, s *Session) {
			_ = s.SetSessionVariable(ctx, "autocommit", int8(0))
			statement(ctx, s)
			_ = s.SetSessionVariable(ctx, "autocommit", int8(1))
		}, []string{"open", "begin", "commit"}},
	} {
		got := run(c.f)
		if len(got) != len(c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: got %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

func TestPreparedTextsAreBounded(t *testing.T) {
	s := &Session{}
	half := Prepared{Text: strings.Repeat("x", maxPreparedText/2)}
	for _, name := range []string{"a", "A", "b", "a"} {
		if name != "b" {
			s.Forget(name)
		}
		if err := s.Remember(name, half); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if s.Remember("c", half) == nil {
		t.Error("a third half was kept")
	}
	if !s.Forget("B") || s.Remember("c", half) != nil {
		t.Error("what was given up is still counted")
	}
}
