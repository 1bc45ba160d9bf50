package mysqlerr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/rs/zerolog"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
	"scrim/engine/store"
	"scrim/internal/durable"
	"scrim/internal/refuse"
)

// monthsOf is the stretch of whole months of 2025 from one to another.
func monthsOf(first, last time.Month) *days.Span {
	at := func(m time.Month) days.Day { return days.Of(time.Date(2025, m, 1, 0, 0, 0, 0, time.UTC)) }
	return &days.Span{First: at(first), Last: at(last+1) - 1}
}

func TestPublicErrors(t *testing.T) {
	const secret = "alice@example.org"
	failed := refuse.Lookup(refuse.Failed).SQLState
	for _, c := range []struct {
		name      string
		err       error
		protected bool
		errno     int
		state     string
		text      string // part of the message
	}{
		{"refusal", refuse.New(refuse.RawRows, "No rows of t."), true, 1644, "45002", "No rows of t. Ask for"},
		{"wrapped refusal", fmt.Errorf("plan: %w", refuse.New(refuse.Shape, "No.")), true, 1644, "45003", "No."},
		{"refusal within a sort", sql.ErrUnableSort.Wrap(refuse.New(refuse.RawRows, "No.")), false, 1644, "45002", "No."},
		{"refusal inside an INSERT", sql.WrappedInsertError{Cause: refuse.New(refuse.RawRows, "No.")}, false, 1644, "45002", "No."},
		{"refusal at the deadline", errors.Join(context.DeadlineExceeded, refuse.New(refuse.Failed, "It ended.")), true, 1644, failed, "It ended."},
		{"no budget", &accounting.NoBudgetError{Account: "a", Table: "s.t"}, false, 1644, "45012", "s.t has no budget"},
		{"exhausted", &accounting.ExhaustedError{Account: "a", Table: "s.t", Scope: budget.All, Requested: 1, Window: budget.Never}, true, 1644, "45013", "all principals together"},
		{"exhausted until", &accounting.ExhaustedError{Table: "s.t", Scope: "default", WindowEnds: time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)}, true, 1644, "45013", "2030-01-02"},
		{"not pure", &accounting.ExhaustedError{Table: "s.t", Scope: "default", NotPure: true}, true, 1644, "45013", "Your budget on s.t has delta 0, and the query was planned"},
		{"spent not pure", &accounting.ExhaustedError{Account: "e", Entity: true, Scope: "*", SpentNotPure: true}, true, 1644, "45013", "on entity e has delta 0, and its window holds"},
		{"pure", &accounting.ExhaustedError{Table: "s.t", Scope: "*", Requested: 0.5, Remaining: 0.25}, true, 1644, "45013", "the pure epsilon 0.5 of the budget of all principals together on s.t, and less remains until ever"},
		{"own pure", &accounting.ExhaustedError{Table: "s.t", Scope: "u@%", Requested: 0.5, Remaining: 0.25}, true, 1644, "45013", "the pure epsilon 0.5 of your budget on s.t, of which 0.25 remains until ever"},
		{"of a role in rho", &accounting.ExhaustedError{Table: "s.t", Scope: "role:team", LimitRho: 9, RequestedRho: privacy.RhoOf(0.5), RemainingRho: privacy.RhoOf(0.25)}, true, 1644, "45013", "cost rho 0.5 of the budget of the role team on s.t, and less remains"},
		{"own in rho", &accounting.ExhaustedError{Table: "s.t", Scope: "u@%", LimitRho: 9, RequestedRho: privacy.RhoOf(0.5), RemainingRho: privacy.RhoOf(0.25)}, true, 1644, "45013", "of which rho 0.25 remains"},
		{"no slack beside epsilon", &accounting.ExhaustedError{Table: "s.t", Scope: "u@%", Limit: 9, Delta: 1e-9, NoSlack: true}, true, 1644, "45013", "does not fit into what is left of the share for it in the delta 1e-09 of your budget"},
		{"no slack", &accounting.ExhaustedError{Table: "s.t", Scope: "u@%", LimitRho: 9, Delta: 1e-9, NoSlack: true}, true, 1644, "45013", "does not fit into the delta 1e-09 of your budget"},
		{"exhausted at a delta", &accounting.ExhaustedError{Table: "s.t", Scope: "*", Requested: 0.5, Delta: 1e-6}, true, 1644, "45013", "cost epsilon 0.5 (rho 0)"},
		{"of periods, shared", &accounting.ExhaustedError{Table: "s.t", Scope: "*", LimitRho: 9, Asked: monthsOf(6, 8), Blocks: []days.Span{*monthsOf(7, 7)}}, true, 1644, "45013", "on s.t for the periods 2025-06-01 to 2025-08-31, and less remains"},
		{"of periods, one's own", &accounting.ExhaustedError{Table: "s.t", Scope: "u@%", LimitRho: 9, Asked: monthsOf(6, 8), Blocks: []days.Span{*monthsOf(7, 7)}}, true, 1644, "45013", "your budget on s.t for the periods 2025-07-01 to 2025-07-31, of which"},
		{"of every period, shared", &accounting.ExhaustedError{Table: "s.t", Scope: "*", LimitRho: 9, Blocks: []days.Span{*monthsOf(7, 7)}}, true, 1644, "45013", "on s.t, and less remains"},
		{"over all periods", &accounting.ExhaustedError{Account: "e over all periods", Entity: true, Scope: "*", LimitRho: 9, RequestedRho: privacy.RhoOf(0.5)}, true, 1644, "45013", "one person of entity e loses over all periods, the query would cost rho 0.5 of it, and less remains"},
		{"over all periods, one's own", &accounting.ExhaustedError{Account: "e over all periods", Entity: true, Scope: "u@%", LimitRho: 9, RemainingRho: privacy.RhoOf(0.25)}, true, 1644, "45013", "Your budget caps what one person of entity e loses over all periods, the query would cost rho 0 of it, and rho 0.25 remains"},
		{"without a bound", &accounting.ExhaustedError{Account: "e over all periods", Entity: true, Scope: "*", NoBound: true, NoSlack: true}, true, 1644, "45013", "loses over all periods, and the query has no bound on that. Say a first and a last day"},
		{"over all periods, pure", &accounting.ExhaustedError{Account: "e over all periods", Entity: true, Scope: "role:r", NotPure: true}, true, 1644, "45013", "with delta 0, and the query was planned"},
		{"over all periods, slack", &accounting.ExhaustedError{Account: "e over all periods", Entity: true, Scope: "*", NoSlack: true, Delta: 1e-6}, true, 1644, "45013", "does not fit into its delta 1e-06"},
		{"ledger in doubt", fmt.Errorf("%w: %w", accounting.ErrInDoubt, accounting.ErrUnavailable), false, 1644, "45016", "Whether the charge or the change counts"},
		{"ledger", fmt.Errorf("x: %w", accounting.ErrUnavailable), true, 1644, "45016", "nothing was read"},
		{"unknown column", sql.ErrColumnNotFound.New("x"), false, 1054, "42S22", "x"},
		{"unknown column on protected", sql.ErrColumnNotFound.New("x"), true, 1054, "42S22", "x"},
		{"no table", sql.ErrTableNotFound.New("t"), false, 1146, "42S02", "t"},
		{"syntax", sql.ErrSyntaxError.New("near x"), false, 1064, "42000", "near x"},
		{"no database", sql.ErrDatabaseNotFound.New("d"), false, 1049, "42000", "d"},
		{"none selected", sql.ErrNoDatabaseSelected.New(), false, 1046, "3D000", ""},
		{"access to a database", sql.ErrDatabaseAccessDeniedForUser.New("u", "d"), false, 1044, "42000", "d"},
		{"access to a table", sql.ErrTableAccessDeniedForUser.New("u", "t"), false, 1142, "42000", "t"},
		{"command denied", sql.ErrPrivilegeCheckFailed.New("u"), false, 1142, "42000", "u"},
		{"duplicate", sql.ErrPrimaryKeyViolation.New(), false, 1062, "23000", ""},
		{"wrapped duplicate", sql.WrappedInsertError{Cause: sql.ErrUniqueKeyViolation.New()}, false, 1062, "23000", ""},
		{"not null", sql.ErrInsertIntoNonNullableProvidedNull.New("c"), false, 1048, "23000", "c"},
		{"no default", sql.ErrInsertIntoNonNullableDefaultNullColumn.New("c"), false, 1364, "HY000", "c"},
		{"no function", sql.ErrFunctionNotFound.New("f"), false, 1305, "42000", "f"},
		{"not prepared", sql.ErrUnboundPreparedStatementVariable.New("v1"), false, 1064, "42000", "'?' stands only in statements that are prepared"},
		{"collation of another charset", errors.New("utf8mb4 is not a valid character set for ascii_bin"), false, 1253, "42000", "COLLATION 'ascii_bin' is not valid for CHARACTER SET 'utf8mb4'"},
		{"a join by NATURAL", errors.New("unknown using join type: natural full join"), false, 1235, "42000", "Write FULL OUTER JOIN with ON."},
		{"of no kind on protected", errors.New("utf8mb4 is not a valid character set for ascii_bin"), true, 1644, failed, ""},
		{"arguments", errors.New("incorrect arguments to: f"), false, 1210, "HY000", "Incorrect arguments to f"},
		{"secure file", sql.ErrSecureFilePriv.New(), false, 1290, "HY000", ""},
		{"MySQL's own", mysql.NewSQLError(1234, "42000", "text"), true, 1234, "42000", "text"},
		{"killed", context.Canceled, false, 1317, "70100", "interrupted"},
		{"time limit", context.DeadlineExceeded, false, 3024, "HY000", "maximum statement execution time"},
		{"killed on protected", context.Canceled, true, 1644, failed, "its charge stands"},
		{"time limit on protected", context.DeadlineExceeded, true, 1644, failed, "its charge stands"},
		{"store interrupted", &store.Error{Kind: store.Interrupted}, false, 1317, "70100", ""},
		{"store duplicate", &store.Error{Kind: store.DuplicateKey, Driver: secret}, false, 1062, "23000", ""},
		{"store not null", &store.Error{Kind: store.NotNull, Column: "c", Driver: secret}, false, 1048, "23000", "'c'"},
		{"store conflict", &store.Error{Kind: store.Conflict}, false, 1213, "40001", ""},
		{"store memory", &store.Error{Kind: store.OutOfMemory}, false, 1041, "HY000", ""},
		{"store memory on protected", &store.Error{Kind: store.OutOfMemory, Driver: secret}, true, 1644, failed, ""},
		{"full disk of a file", fmt.Errorf("accounts: %w", &os.PathError{Op: "write", Path: "users", Err: syscall.ENOSPC}), false, 1021, "HY000", "its log says which"},
		{"failing disk of a file", &os.LinkError{Op: "rename", Old: "a", New: "users", Err: syscall.EIO}, false, 1026, "HY000", "its log says which"},
		{"a file in doubt", fmt.Errorf("accounts: %w", &durable.InDoubt{Err: &os.PathError{Op: "sync", Path: "data", Err: syscall.EIO}}), false, 1180, "HY000", "look whether it is kept"},
		{"full disk of a file on protected", &os.PathError{Op: "write", Path: "users", Err: syscall.ENOSPC}, true, 1644, failed, ""},
		{"commit in doubt", &store.Error{Kind: store.InDoubt, Driver: secret}, false, 1180, "HY000", "Whether the change is kept"},
		{"halted", &store.Error{Kind: store.Halted, Driver: secret}, false, 1836, "HY000", "opened its data anew"},
		{"store bug", &store.Error{Kind: store.Internal, Driver: secret}, false, 1105, "HY000", "internal error (statement id theid)"},
		{"other kind", sql.ErrInvalidType.New("x"), false, 1105, "HY000", "x"},
		{"other kind on protected", sql.ErrInvalidType.New(secret), true, 1644, failed, ""},
		{"unknown", errors.New(secret), false, 1105, "HY000", "internal error (statement id theid)"},
		{"unknown on protected", errors.New(secret), true, 1644, failed, ""},
		{"hidden in MySQL's unknown", mysql.NewSQLError(1105, "HY000", secret), false, 1105, "HY000", "internal error"},
		{"panic", Guard(func() error { panic(secret) }), false, 1105, "HY000", "internal error"},
		{"panic on protected", Guard(func() error { panic(secret) }), true, 1644, failed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			tr := &Translator{Log: zerolog.New(&log)}
			err := tr.Public(c.err, Context{c.protected, "u@%", "theid", Statement{}})
			var got *mysql.SQLError
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want a MySQL error", err)
			}
			if got.Num != c.errno || got.State != c.state || !strings.Contains(got.Message, c.text) {
				t.Errorf("got %d %s %q, want %d %s …%q…", got.Num, got.State, got.Message, c.errno, c.state, c.text)
			}
			if fails := c.state == failed || c.state == "45016"; fails != strings.HasSuffix(got.Message, "(statement id theid)") && got.Num == refuse.MySQLErrno {
				t.Errorf("got %q; want the statement's id where the client is not told the cause, and there only", got.Message)
			}
			if strings.Contains(got.Message+got.Query, secret) || strings.Contains(log.String(), secret) {
				t.Errorf("a value of a row got out: %q, log %q", got.Message, log.String())
			}
		})
	}
	if err := (&Translator{}).Public(nil, Context{Protected: true}); err != nil {
		t.Errorf("got %v for no error, want nil", err)
	}
}

func TestPanicsAreFoundInTheLog(t *testing.T) {
	var log bytes.Buffer
	tr := &Translator{Log: zerolog.New(&log)}
	err := tr.Public(Guard(func() error { panic("boom") }), Context{ID: "theid"})
	_, id, ok := strings.Cut(err.Error(), "statement id ")
	id, _, _ = strings.Cut(id, ")")
	if !ok || !strings.Contains(log.String(), id) || !strings.Contains(log.String(), "stack") {
		t.Errorf("got %q, which the log does not explain: %s", err, log.String())
	}
}

// TestValuesOfProtectedRowsAreNotInErrors: the kinds that speak of values are told on public data
// alone.
func TestValuesOfProtectedRowsAreNotInErrors(t *testing.T) {
	for _, c := range valueConditions {
		err := fmt.Errorf("x: %w", c.kind.New("secret", "secret", "secret"))
		if public := (&Translator{Log: zerolog.Nop()}).Public(err, Context{Protected: true, ID: "theid"}); strings.Contains(public.Error(), "secret") || !strings.Contains(public.Error(), "its charge stands") {
			t.Errorf("%s: got %v on protected data", c.kind.Message, public)
		}
		var e *mysql.SQLError
		if public := (&Translator{Log: zerolog.Nop()}).Public(err, Context{ID: "theid"}); !errors.As(public, &e) || e.Num != c.errno {
			t.Errorf("%s: got %v on public data, want error %d", c.kind.Message, public, c.errno)
		}
	}
}

// TestErrorsOfNoKind: what go-mysql-server says without a kind has MySQL's number where its text is
// known, and is told to nobody where protected tables were read.
func TestErrorsOfNoKind(t *testing.T) {
	tr := &Translator{Log: zerolog.Nop()}
	err := errors.New("missing value for JSON_TABLE column 'c1'")
	if got := tr.Public(err, Context{ID: "x"}).Error(); got != "Missing value for JSON_TABLE column 'c1' (errno 3665) (sqlstate 22035)" {
		t.Errorf("got %s", got)
	}
	for text, want := range map[string]string{
		"missing mandatory attribute NAME":               "Of a spatial reference system: missing mandatory attribute NAME.",
		"the organization name can't be an empty string": "Of a spatial reference system: the organization name can't be an empty string.",
		"invalid AS OF expression type":                  "AS OF is no part of MySQL's grammar.",
	} {
		if got := tr.Public(errors.New(text), Context{ID: "x"}).Error(); !strings.HasPrefix(got, want) {
			t.Errorf("got %s", got)
		}
	}
	for _, c := range []Context{{ID: "x", Protected: true}, {ID: "x"}} {
		e := errors.New("something else, missing value for JSON_TABLE column")
		if c.Protected {
			e = err
		}
		if got := tr.Public(e, c).Error(); strings.Contains(got, "JSON_TABLE") {
			t.Errorf("got %s", got)
		}
	}
}
