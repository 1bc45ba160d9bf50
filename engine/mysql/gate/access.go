package gate

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/catalog"
	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// Access decides by the policies who may read and change stored tables. What an account may do at
// all has been checked by the SQL engine, from the grants, before.
type Access struct {
	Catalog *catalog.Catalog
	Store   store.Store
	Holds   func(store.TableRef) bool // whether a table is a collection's
	Views   func(store.TableRef) bool // whether a table is a DP view's
	// Attached reports whether a name is that of files, and whether it is attached at present.
	Attached func(store.TableRef) (live, known bool)
	Totals   func(store.TableRef) bool // whether a table is that of a series of running totals
}

var _ tables.Access = (*Access)(nil)

// CheckRead implements tables.Access.
func (a *Access) CheckRead(ctx *sql.Context, ref store.TableRef) error {
	switch a.Catalog.Snapshot().Table(ref.String()).State {
	case catalog.Public:
		return nil
	case catalog.Protected:
		if !session.Raw(ctx) {
			return refuse.New(refuse.RawRows, "The table %s is protected: its rows, and exact facts about them, are not shown.", ref)
		}
	default:
		if !session.IsDBA(ctx) {
			return refuse.New(refuse.Undeclared, "The table %s has been declared neither protected nor public.", ref)
		}
	}
	return nil
}

// CheckWrite implements tables.Access: the grants decide, but for the tables of collections.
func (a *Access) CheckWrite(_ *sql.Context, ref store.TableRef) error { return a.checkCollection(ref) }

// CheckDDL implements tables.Access: definitions are a DBA's. A name that no table has is about to
// get one, which nobody has looked at yet.
func (a *Access) CheckDDL(ctx *sql.Context, ref store.TableRef) error {
	if !session.IsDBA(ctx) {
		return refuse.New(refuse.NotDBA, "Tables and databases are defined by a DBA only.")
	}
	if ref.Name == "" {
		return nil
	}
	if err := a.checkCollection(ref); err != nil {
		return err
	}
	if _, ok, err := a.Store.Table(ctx, ref); err != nil || ok {
		return err
	}
	return a.Catalog.Created(ref.String())
}

// CheckAlter implements tables.Access. A definition that a policy rests on does not change under
// it.
func (a *Access) CheckAlter(_ *sql.Context, ref store.TableRef, c tables.Change) error {
	if err := a.checkCollection(ref); err != nil {
		return err
	}
	s, name := a.Catalog.Snapshot(), ref.String()
	var uses []string
	switch c.Op {
	case tables.DropColumn, tables.RenameColumn:
		uses = s.Uses(name, c.Column)
	case tables.ModifyColumn:
		uses = append(uses, lists.Filter(s.Uses(name, c.Column), func(u string) bool { return u != "a column with a domain" })...)
		if err := s.Table(name).Domains[strings.ToLower(c.Column)].Distinct(c.Collation); err != nil {
			return err
		}
	case tables.DropKey:
		for _, col := range c.Columns {
			uses = append(uses, lists.Filter(s.Uses(name, col), func(u string) bool { return strings.HasPrefix(u, "the key that") })...)
		}
	}
	if len(uses) > 0 {
		return refuse.New(refuse.Policy, "A policy rests on this column of %s: it is %s.", name, strings.Join(uses, " and ")).
			With("Change the policy first: see SELECT * FROM dp.policies and CALL dp_unprotect.")
	}
	return nil
}

// Renamed implements tables.Access.
func (a *Access) Renamed(_ *sql.Context, old, new store.TableRef) error {
	return a.Catalog.Rename(old.String(), new.String())
}

// Dropped implements tables.Access.
func (a *Access) Dropped(_ *sql.Context, ref store.TableRef) error {
	return a.Catalog.Dropped(ref.String())
}

// checkCollection refuses to change the table of a collection, of a DP view or of a series of
// totals, its definition or its rows, to everybody. Reports come through the database dp_in, and
// the procedures do the rest.
func (a *Access) checkCollection(ref store.TableRef) error {
	live, known := a.Attached(ref)
	switch {
	case ref.Name == "":
		return nil
	case live:
		return refuse.New(refuse.Unsupported, "The table %s is read from files in place: nobody changes its rows or its definition here.", ref).
			With("CALL dp_detach('%s') removes the table, and leaves the files.", ref)
	case known:
		return refuse.New(refuse.Unsupported, "The name %s belongs to files that were attached: what was spent on them is in its account.", ref).
			With("Attach them again under this name, or choose another name for another table.")
	case a.Views(ref):
		return refuse.New(refuse.Unsupported, "The table %s is a DP view or a synthetic table: its rows are what was released.", ref).
			With("CALL dp_refresh_view('%s') releases them anew, and CALL dp_drop_view('%s') removes it.", ref, ref)
	case a.Totals(ref):
		return refuse.New(refuse.Unsupported, "The table %s is a series of running totals: its rows are what was released.", ref).
			With("CALL dp_continue('%s') releases the next days, and CALL dp_drop_continual('%s') removes the series.", ref, ref)
	case !a.Holds(ref):
		return nil
	}
	return refuse.New(refuse.Unsupported, "The table %s belongs to a collection: nobody changes it or its reports.", ref).
		With("Contributors INSERT INTO dp_in.%s; CALL dp_drop_collection('%s') removes the collection with its table.", ref.Name, ref.Name)
}

// CheckRename refuses to rename tables of another database than the current one, or into another:
// go-mysql-server does not look at the database of a name there, and would rename a table of the
// same name in the current one.
func CheckRename(current string, s ast.Statement) error {
	for _, t := range renamed(s) {
		if db := t.DbQualifier.String(); !t.IsEmpty() && db != "" && !strings.EqualFold(db, current) {
			return refuse.New(refuse.Unsupported, "A table is renamed within the current database only, and %s is not it.", db).
				With("USE the table's database first. A table moves to another one by CREATE TABLE … AS SELECT.")
		}
	}
	return nil
}

// renamed lists the tables that a statement names in order to rename one.
func renamed(s ast.Statement) []ast.TableName {
	switch n := s.(type) {
	case *ast.DDL:
		if n.Action == ast.RenameStr {
			return slices.Concat(n.FromTables, n.ToTables)
		}
	case *ast.AlterTable:
		if d, ok := lists.Find(n.Statements, func(d *ast.DDL) bool { return d.Action == ast.RenameStr && len(d.ToTables) > 0 }); ok {
			return append(slices.Concat(d.FromTables, d.ToTables), n.Table)
		}
	}
	return nil
}

// Lift takes the demand for a privilege off statements that show an account what is its own: SHOW
// GRANTS, and SHOW PROCESSLIST and KILL, which know an analyst's own connections only. MySQL asks
// for none there either. The server's own procedures ask by themselves who calls them.
func Lift(s ast.Statement) {
	switch n := s.(type) {
	case *ast.ShowGrants:
		n.Auth.AuthType = ast.AuthType_IGNORE
	case *ast.Call:
		if strings.HasPrefix(n.ProcName.Name.Lowered(), "dp_") {
			n.Auth.AuthType = ast.AuthType_IGNORE
		}
	case *ast.LockTables:
		readLocks(n)
	case *ast.Update:
		if _, join := n.TableExprs[0].(*ast.JoinTableExpr); join || len(n.TableExprs) > 1 {
			readsTables(n.TableExprs)
		}
	case *ast.Delete:
		if len(n.Targets) > 0 {
			readsTables(n.TableExprs)
		}
	case *ast.Kill:
		n.Auth.AuthType = ast.AuthType_IGNORE
	case *ast.Show:
		if strings.EqualFold(n.Type, "processlist") {
			n.Auth.AuthType = ast.AuthType_IGNORE
		}
	}
}

// readsTables asks for the privilege to read the tables of a statement of several: those that it
// changes are known when it is bound, and are asked for then.
func readsTables(list ast.TableExprs) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if a, ok := n.(ast.AuthNode); ok {
			if t := a.GetAuthInformation().AuthType; t == ast.AuthType_UPDATE || t == ast.AuthType_DELETE {
				a.SetAuthType(ast.AuthType_SELECT)
			}
		}
		return true, nil
	}, list)
}

// readLocks asks for the privilege to read alone where a lock is for reading: it harms nobody here,
// and an analyst's dump of a public table takes it.
func readLocks(n *ast.LockTables) {
	for _, t := range n.Tables {
		a, ok := t.Table.(*ast.AliasedTableExpr)
		if ok && (t.Lock == ast.LockRead || t.Lock == ast.LockReadLocal) {
			a.Auth.AuthType = ast.AuthType_SELECT
		}
	}
}

// checkTables closes the ways around the grants that go-mysql-server leaves open: the grant tables
// are changed by account statements only and read by DBAs only, and who changes rows by a condition
// on them, or by what is there already, may read them.
func checkTables(ctx *sql.Context, grants *mysql_db.MySQLDb, by auth.Caller, n sql.Node) error {
	top, changes := n, changesRows(n)
	var err error
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if err != nil {
			return false
		}
		switch n := n.(type) {
		case *plan.ResolvedTable:
			if err = checkGrantTable(by, n, changes); err == nil {
				err = checkInbox(top, n)
			}
		case *plan.InsertInto:
			err = checkInsert(ctx, grants, by, n)
		case *plan.Update:
			err = mayReadAll(ctx, grants, by, n)
		case *plan.DeleteFrom:
			err = mayReadAll(ctx, grants, by, n)
		}
		return err == nil
	})
	return err
}

// changesRows reports whether a statement writes.
func changesRows(n sql.Node) bool {
	switch n.(type) {
	case *plan.InsertInto, *plan.Update, *plan.DeleteFrom, *plan.Truncate:
		return true
	}
	return false
}

// checkGrantTable refuses access to the tables of the database mysql.
func checkGrantTable(by auth.Caller, t *plan.ResolvedTable, changes bool) error {
	if t.SqlDatabase == nil || !strings.EqualFold(t.SqlDatabase.Name(), "mysql") {
		return nil
	}
	if changes {
		return unsupported("The tables of the database mysql are not changed by hand.", "Use CREATE USER, DROP USER, GRANT and REVOKE.")
	}
	if !by.DBA {
		return denied("SELECT", by, t.Name())
	}
	return nil
}

// checkInsert asks for what an INSERT does beside inserting: ON DUPLICATE KEY UPDATE changes rows
// that are there, and RETURNING, which would show them, is refused.
func checkInsert(ctx *sql.Context, grants *mysql_db.MySQLDb, by auth.Caller, n *plan.InsertInto) error {
	if len(n.Returning) > 0 {
		return unsupported("INSERT … RETURNING is not supported.", "Leave RETURNING out; LAST_INSERT_ID() gives a key that the server made.")
	}
	if by.DBA || !n.OnDupExprs.HasUpdates() {
		return nil
	}
	if err := mayDo(ctx, grants, by, "UPDATE", n.Destination, sql.PrivilegeType_Update); err != nil {
		return err
	}
	return mayReadAll(ctx, grants, by, n.Destination)
}

// mayReadAll asks for the privilege SELECT on every table of a statement that changes rows that are
// there: how many it changed is an answer about them.
func mayReadAll(ctx *sql.Context, grants *mysql_db.MySQLDb, by auth.Caller, n sql.Node) error {
	if by.DBA {
		return nil
	}
	return mayDo(ctx, grants, by, "SELECT", n, sql.PrivilegeType_Select)
}

// mayDo asks for a privilege on every table below n.
func mayDo(ctx *sql.Context, grants *mysql_db.MySQLDb, by auth.Caller, name string, n sql.Node, p sql.PrivilegeType) error {
	var err error
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		t, ok := n.(*plan.ResolvedTable)
		if !ok || t.SqlDatabase == nil || err != nil {
			return err == nil
		}
		subject := sql.PrivilegeCheckSubject{Database: t.SqlDatabase.Name(), Table: t.Name()}
		if !grants.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(subject, p)) {
			err = denied(name, by, t.Name())
		}
		return true
	})
	return err
}

func denied(command string, by auth.Caller, table string) error {
	return mysql.NewSQLError(1142, "42000", "%s command denied to user '%s'@'%s' for table '%s'", command, by.User, by.Host, table)
}

// CurrentRole is the function CURRENT_ROLE(): the roles that the account has been granted, which
// are all active, as MySQL writes them.
func CurrentRole(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) > 0 {
		return nil, sql.ErrInvalidArgumentNumber.New("current_role", 0, len(args))
	}
	roles := session.Roles(ctx)
	for i, r := range roles {
		roles[i] = sqltext.Name(r) + "@`%`"
	}
	if len(roles) == 0 {
		roles = []string{"NONE"}
	}
	return expression.NewLiteral(strings.Join(roles, ","), types.LongText), nil
}
