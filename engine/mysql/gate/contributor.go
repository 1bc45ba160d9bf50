package gate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/browse"
	"scrim/engine/mysql/inbox"
	"scrim/engine/mysql/session"
)

// Confine refuses what the account of contributors is not there for. Its password may be
// everybody's, so one of them must not be able to lock the others out, to see or end their
// connections, or to keep the server busy. Most statements of others end at the first check as
// well: the grants are looked at only for those that do not.
func Confine(ctx *sql.Context, grants *mysql_db.MySQLDb, text string, s ast.Statement) error {
	if forContributors(s, ctx.GetCurrentDatabase()) {
		return nil
	}
	by := CallerOf(ctx)
	if !auth.Contributor(grants, inbox.Name, by.User, by.Host) {
		return nil
	}
	return mysql.NewSQLError(mysql.ERSpecifiedAccessDenied, "42000",
		"Access denied; %s is not for '%s'@'%s', an account that contributors share: it reads the public parameters in %s, one table at a time, and inserts reports into %s. "+
			"Use an account of your own, which a DBA makes with CREATE USER and gives a role or a further privilege",
		statementKind(text, s), by.User, by.Host, strings.Join(publicParameters, ", "), inbox.Name)
}

// publicParameters are the tables of dp that tell contributors what they would take part in.
var publicParameters = []string{"dp.collections", "dp.collection_rounds", "dp.collection_cells", "dp.protocols"}

// probed are the tables by which the server answers what clients ask of every server: its
// variables, character sets and engines.
var probed = []string{
	"performance_schema.session_variables", "performance_schema.global_variables", "performance_schema.session_status", "performance_schema.global_status",
	"information_schema.collations", "information_schema.engines", "information_schema.plugins",
}

// forContributors reports whether a statement is one that a contributor's program may need: an
// INSERT of reports, the public parameters, and what clients send by themselves when they connect,
// commit or disconnect.
func forContributors(s ast.Statement, current string) bool {
	switch s := s.(type) {
	case *ast.Insert:
		_, ok := inbox.Destination(s, current)
		return ok && s.With == nil && computed(s)
	case *ast.Select:
		return readsOne(s, current, true)
	case *ast.ParenSelect:
		return forContributors(s.Select, current)
	case *ast.Set:
		return computed(s)
	case *ast.Show:
		return slices.Contains([]string{"warnings", "charset", "create database"}, strings.ToLower(s.Type)) && computed(s)
	case *ast.Use, *ast.Begin, *ast.Commit, *ast.Rollback, *ast.Savepoint, *ast.RollbackSavepoint, *ast.ReleaseSavepoint,
		// what they prepare and execute comes here by itself
		*ast.Prepare, *ast.Execute, *ast.Deallocate,
		*ast.ShowGrants, *ast.ShowPrivileges:
		return true
	}
	return false
}

// computed reports whether a statement reads no table but the one into which it inserts.
func computed(s ast.SQLNode) bool {
	reads := false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Subquery, *ast.SetOp:
			reads = true
		case *ast.Select:
			reads = reads || len(n.From) > 0 || n.With != nil || len(n.Window) > 0
		}
		return !reads, nil
	}, s)
	return !reads
}

// readsOne reports whether a SELECT reads at most one table, one that is open to contributors. SHOW
// … LIKE is a SELECT from such a SELECT.
func readsOne(s *ast.Select, current string, outer bool) bool {
	if s.With != nil || len(s.Window) > 0 || len(s.From) > 1 || !computed(apartFrom(s)) {
		return false
	}
	if len(s.From) == 0 {
		return true
	}
	from, ok := s.From[0].(*ast.AliasedTableExpr)
	if !ok {
		return false
	}
	switch t := from.Expr.(type) {
	case ast.TableName:
		return shownTo(t, current)
	case *ast.Subquery:
		inner, ok := t.Select.(*ast.Select)
		return ok && outer && readsOne(inner, current, false)
	}
	return false
}

// apartFrom is a SELECT without its tables.
func apartFrom(s *ast.Select) *ast.Select {
	rest := *s
	rest.From = nil
	return &rest
}

// shownTo reports whether contributors may read a table. What stands for SHOW and DESCRIBE checks
// by itself what it tells to whom.
func shownTo(t ast.TableName, current string) bool {
	db := cmp.Or(t.DbQualifier.String(), current)
	if strings.EqualFold(db, session.DPDatabase) {
		return slices.Contains(publicParameters, session.DPDatabase+"."+strings.ToLower(t.Name.String()))
	}
	return db == browse.ShowDatabase || slices.Contains(probed, strings.ToLower(db+"."+t.Name.String()))
}

// statementKind names a statement. What begins with SHOW has become a SELECT by now.
func statementKind(text string, s ast.Statement) string {
	if words := strings.Fields(text); len(words) > 1 && strings.EqualFold(words[0], "SHOW") {
		return strings.ToUpper(strings.TrimRight(strings.Join(words[:min(len(words), 3)], " "), "; "))
	}
	switch s := s.(type) {
	case *ast.Select, *ast.SetOp, *ast.ParenSelect:
		return "a SELECT of other tables, or of several"
	case *ast.Insert:
		return "an INSERT of anything but reports that the statement holds itself"
	case *ast.Kill:
		return "KILL"
	case *ast.Call:
		return "CALL " + s.ProcName.Name.String()
	case *ast.DDL:
		return "a change of accounts or definitions, such as SET PASSWORD or ALTER USER,"
	}
	return "this statement"
}

// MaySubmit asks for the privilege to INSERT into a table of dp_in.
func MaySubmit(ctx *sql.Context, grants *mysql_db.MySQLDb, table string) error {
	subject := sql.PrivilegeCheckSubject{Database: inbox.Name, Table: table}
	if grants.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(subject, sql.PrivilegeType_Insert)) {
		return nil
	}
	return denied("INSERT", CallerOf(ctx), table)
}

// checkInbox refuses statements about a table of dp_in that neither insert into it nor show what it
// is.
func checkInbox(n sql.Node, t *plan.ResolvedTable) error {
	if _, ok := sql.GetUnderlyingTable(t.Table).(*inbox.Table); !ok {
		return nil
	}
	switch n.(type) {
	case *plan.InsertInto, // as a source, its rows are refused when they are read
		*plan.ShowColumns, *plan.ShowCreateTable, *plan.ShowIndexes, *plan.DescribeQuery, *plan.ShowTables:
		return nil
	}
	return inbox.InsertOnly()
}
