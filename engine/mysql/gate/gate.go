// Package gate says who may do what: which statements a client may send, which tables an account
// may read and change, and how many connections it may have. A statement passes it five times:
//
//	parsed    Confine: what the account that contributors share is there for; CheckRename
//	names     Function: functions that stall, lock or read files
//	bound     Rule: files, settings, programs that run later, ways around the grants
//	tables    Access: policies, and the tables of collections
//	run       NoFiles
package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/dialect"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/wire"
	"scrim/internal/refuse"
)

// ruleID is outside the range that go-mysql-server uses.
const ruleID analyzer.RuleId = 20100

// Rule is the analysis rule that checks every statement when it is bound.
func Rule() analyzer.Rule { return analyzer.Rule{Id: ruleID, Apply: check} }

// check refuses what the SQL engine would allow and this server must not:
// files, global settings without the privilege, programs that run later, statements about
// statistics, and ways around the grants.
func check(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	grants, by := a.Catalog.MySQLDb, CallerOf(ctx)
	if err := auth.CheckStatement(ctx, grants, by, n); err != nil {
		return nil, transform.SameTree, err
	}
	if err := checkStatement(ctx, n); err != nil {
		return nil, transform.SameTree, err
	}
	if err := checkTables(ctx, grants, by, n); err != nil {
		return nil, transform.SameTree, err
	}
	if change, ok := auth.Changing(grants, n); ok {
		return change, transform.NewTree, nil
	}
	if show, ok := n.(*plan.ShowGrants); ok {
		shown, err := auth.ShowGrants(grants, by, show)
		return shown, transform.NewTree, err
	}
	return n, transform.SameTree, nil
}

// CallerOf is the account behind a statement.
func CallerOf(ctx *sql.Context) auth.Caller {
	c := ctx.Session.Client()
	return auth.Caller{User: c.User, Host: c.Address, DBA: session.IsDBA(ctx), Auditor: session.IsAuditor(ctx)}
}

func unsupported(cause, remedy string) error {
	return refuse.New(refuse.Unsupported, "%s", cause).With("%s", remedy)
}

// checkStatement looks at the kinds of statement.
func checkStatement(ctx *sql.Context, n sql.Node) error {
	switch n := n.(type) {
	case *plan.Set:
		return checkSet(ctx, n)
	case *plan.Kill:
		return checkKill(ctx, n)
	case *plan.LoadData:
		return CheckLoad(&sqlparser.Load{}) // what is supported does not come here
	case *plan.CreateTrigger, *plan.DropTrigger:
		return unsupported("Triggers are not supported.", "Send the statements one by one.")
	case *plan.CreateEvent, *plan.AlterEvent, *plan.DropEvent:
		return unsupported("Events are not supported.", "Send the statement when it is due.")
	case *plan.CreateProcedure, *plan.DropProcedure:
		return unsupported("Stored procedures are not supported.", "Send the statements one by one.")
	case *plan.AnalyzeTable, *plan.UpdateHistogram, *plan.DropHistogram:
		return unsupported("Tables have no statistics to be analysed.", "Nothing needs to be done: the store keeps its own.")
	case *plan.Binlog, *plan.ChangeReplicationSource, *plan.ChangeReplicationFilter,
		*plan.StartReplica, *plan.StopReplica, *plan.ResetReplica:
		return unsupported("Replication is not supported.", "Copy the data directory while the server is stopped.")
	}
	var err error
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		if into, ok := n.(*plan.Into); ok && (into.Outfile != "" || into.Dumpfile != "") {
			err = NoFiles()
		}
		return err == nil
	})
	return err
}

// checkSet keeps SET GLOBAL and SET PERSIST to DBAs: go-mysql-server asks for no privilege.
func checkSet(ctx *sql.Context, n *plan.Set) error {
	for _, e := range n.Exprs {
		set, ok := e.(*expression.SetField)
		if !ok {
			continue
		}
		v, ok := set.LeftChild.(*expression.SystemVar)
		if !ok || v.Scope.IsSessionOnly() || session.IsDBA(ctx) {
			continue
		}
		return mysql.NewSQLError(mysql.ERSpecifiedAccessDenied, "42000",
			"Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation")
	}
	return nil
}

// checkKill lets a client end its own statements and connections, and a DBA everybody's. The
// process list in the context shows a client its own ones only.
func checkKill(ctx *sql.Context, n *plan.Kill) error {
	if slices.ContainsFunc(ctx.ProcessList.Processes(), func(p sql.Process) bool { return p.Connection == n.ConnID }) {
		return nil
	}
	return mysql.NewSQLError(1094, "HY000", "Unknown thread id: %d", n.ConnID)
}

// Functions that reach out of the statement: they stall, take or tell what belongs to others, or
// read files. ForDBAs are for a DBA alone, ForNobody are for no one.
var (
	ForDBAs   = strings.Fields("sleep benchmark get_lock release_lock release_all_locks is_free_lock is_used_lock")
	ForNobody = strings.Fields("load_file")
)

// Function answers in the place of a function that the account may not name, and refuses each call.
// Functions are looked up here when a text is bound, before anything of it is evaluated: a view's,
// a default's, and what a procedure is given as well.
func Function(ctx *sql.Context, name string) (sql.Function, bool) {
	var err error
	switch {
	case slices.Contains(ForNobody, name):
		err = unsupported("The function "+strings.ToUpper(name)+" is not supported.", "Read the file on the client's side.")
	case slices.Contains(ForDBAs, name) && !session.IsDBA(ctx):
		err = refuse.New(refuse.NotDBA, "The function %s is for a DBA only.", strings.ToUpper(name))
	default:
		return nil, false
	}
	return sql.FunctionN{Name: name, Fn: func(*sql.Context, ...sql.Expression) (sql.Expression, error) { return nil, err }}, true
}

// A statement's syntax tree takes some 150 bytes a token before anything about it is checked. In a
// text of up to freeBytes bytes they are not counted, and MaxTokens tokens are everybody's.
const (
	freeBytes = 1 << 20
	MaxTokens = 1_000_000
)

// CheckLength refuses statements of more than MaxTokens tokens to accounts that are not there to
// load data. Anybody may have the account of contributors: a few of their statements of the largest
// packets would be more than the server has memory for.
func CheckLength(ctx *sql.Context, query string) error {
	if len(query) <= freeBytes || ctx == nil || ctx.Session == nil || session.IsDBA(ctx) || session.IsImporter(ctx) {
		return nil
	}
	if !dialect.Longer(query, dialect.ModeOf(sql.LoadSqlMode(ctx)), MaxTokens) {
		return nil
	}
	return mysql.NewSQLError(1436, "HY000", "The statement is too long: %d words, numbers and marks are for accounts with the role importer; send several statements", MaxTokens)
}

// MaxUserConnections is the variable with the number of connections that one account may have.
const MaxUserConnections = "max_user_connections"

// Admitting adds to a login how many connections its account may have, by its own number or else by
// everybody's, and whether it is an administrator's.
func Admitting(login wire.LoginFunc, grants *mysql_db.MySQLDb, options *session.Options) wire.LoginFunc {
	return func(l *wire.Login) (mysql.Getter, error) {
		u, err := login(l)
		account, ok := u.(session.Account)
		if err != nil || !ok {
			return u, err
		}
		l.Account, l.MaxConnections = account.User+"@"+account.Host, connectionsOfAccount()
		l.OwnConnections = int(auth.Connections(auth.Named(grants, l.Account)))
		l.Administrator = func() bool {
			return session.IsDBA(session.ContextOf(options, "login", account.User, account.Host))
		}
		return u, nil
	}
}

// connectionsOfAccount is the variable's value, 0 for any number.
func connectionsOfAccount() int {
	_, v, ok := sql.SystemVariables.GetGlobal(MaxUserConnections)
	if n, isInt := v.(int64); ok && isInt {
		return int(n)
	}
	return 0
}

// SecureFilePriv is @@secure_file_priv, which is NULL: no statement reads or writes a file of the
// server.
func SecureFilePriv() sql.SystemVariable {
	const name = "secure_file_priv"
	return &sql.MysqlSystemVariable{Name: name, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global), Type: alwaysNull{types.NewSystemStringType(name)}}
}

// alwaysNull is the type of a variable that has no value.
type alwaysNull struct{ sql.SystemVariableType }

// Convert implements sql.Type.
func (alwaysNull) Convert(context.Context, any) (any, sql.ConvertInRange, error) {
	return nil, sql.InRange, nil
}

// NoFiles refuses to write a file of the server.
func NoFiles() error {
	return unsupported("SELECT … INTO OUTFILE and INTO DUMPFILE are not supported.", "Write the file on the client's side.")
}

// CheckLoad refuses what LOAD DATA may say and this server does not do.
func CheckLoad(s *sqlparser.Load) error {
	const remedy = "Write LOAD DATA LOCAL INFILE … INTO TABLE … with FIELDS, LINES, IGNORE n LINES and a list of columns."
	switch {
	case !bool(s.Local):
		return refuse.New(refuse.Unsupported, "LOAD DATA without LOCAL would read a file of the server.").With("%s", remedy)
	case len(s.SetExprs) > 0:
		return unsupported("LOAD DATA with SET is not supported.", "Load into a table of its own, and INSERT … SELECT from there.")
	case s.IgnoreOrReplace != "":
		return unsupported("LOAD DATA with IGNORE or REPLACE is not supported: all rows are loaded or none.", remedy)
	case len(s.Partition) > 0:
		return unsupported("Tables have no partitions.", remedy)
	}
	switch s.Charset {
	case "", "utf8mb4", "utf8", "utf8mb3", "ascii":
		return nil
	}
	return unsupported(fmt.Sprintf("LOAD DATA reads utf8mb4, not %q.", s.Charset), "Convert the file to UTF-8.")
}
