package browse

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/tables"
	"scrim/internal/sqltext"
)

// showCreateTable answers SHOW CREATE TABLE, of a view as SHOW CREATE VIEW does.
func (s *Server) showCreateTable(ctx *sql.Context, args []*string) (*table, error) {
	o, err := s.find(ctx, of(args[0]), of(args[1]))
	if err != nil {
		return nil, err
	}
	if o.view != nil {
		return createView(o), nil
	}
	return fixedRows(columns("", "", "Table", sql.Type(name), "Create Table", text), []sql.Row{{o.name, createTable(o)}}), nil
}

// showCreateView answers SHOW CREATE VIEW.
func (s *Server) showCreateView(ctx *sql.Context, args []*string) (*table, error) {
	o, err := s.find(ctx, of(args[0]), of(args[1]))
	if err != nil {
		return nil, err
	}
	if o.view == nil {
		return nil, mysql.NewSQLError(1347, "HY000", "'%s.%s' is not VIEW", o.database, o.name)
	}
	return createView(o), nil
}

func createView(o object) *table {
	return fixedRows(columns("", "", "View", sql.Type(name), "Create View", text, "character_set_client", sql.Type(name), "collation_connection", sql.Type(name)),
		[]sql.Row{{o.name, "CREATE VIEW " + sqltext.Name(o.name) + " AS " + o.view.TextDefinition, charset(), collation()}})
}

// createTable writes the statement that makes a table, which this server would take.
func createTable(o object) string {
	var lines []string
	for _, c := range o.definition.Columns {
		lines = append(lines, "  "+sqltext.Name(c.Name)+" "+columnText(c))
	}
	for _, k := range o.keysOf() {
		head := "UNIQUE KEY " + sqltext.Name(k.Name)
		if k.Primary() {
			head = "PRIMARY KEY"
		}
		quoted := make([]string, len(k.Columns))
		for i, c := range k.Columns {
			quoted[i] = sqltext.Name(c)
		}
		lines = append(lines, "  "+head+" ("+strings.Join(quoted, ",")+")")
	}
	word := "CREATE TABLE "
	if o.kind == systemView {
		word = "CREATE TEMPORARY TABLE " // MySQL's own word for them
	}
	t := word + sqltext.Name(o.name) + " (\n" + strings.Join(lines, ",\n") + "\n) ENGINE=" + engineName + " DEFAULT CHARSET=" + charset() + " COLLATE=" + collation()
	if o.comment != "" {
		t += " COMMENT=" + sqltext.Text(o.comment)
	}
	return t
}

func columnText(c tables.DescribedColumn) string {
	t := c.TypeText
	if !c.Nullable {
		t += " NOT NULL"
	}
	switch {
	case c.Auto:
		t += " AUTO_INCREMENT"
	case c.Default == nil && c.Nullable && !strings.HasSuffix(dataType(c.TypeText), "text") && !strings.HasSuffix(dataType(c.TypeText), "blob"):
		t += " DEFAULT NULL"
	case c.Default == nil:
	case c.Expression && strings.HasPrefix(*c.Default, "CURRENT_TIMESTAMP"):
		t += " DEFAULT " + *c.Default
	case c.Expression:
		t += " DEFAULT (" + *c.Default + ")"
	default:
		t += " DEFAULT " + sqltext.Text(*c.Default)
	}
	if c.OnUpdate != "" {
		t += " ON UPDATE CURRENT_TIMESTAMP"
	}
	if c.Comment != "" {
		t += " COMMENT " + sqltext.Text(c.Comment)
	}
	return t
}

// showCreateUser answers SHOW CREATE USER: of the account itself, to a DBA of any. No password is
// part of it.
func (s *Server) showCreateUser(ctx *sql.Context, args []*string) (*table, error) {
	user, host := of(args[0]), of(args[1])
	c := ctx.Session.Client()
	if !s.DBA(ctx) && (user != c.User || host != c.Address) {
		return nil, mysql.NewSQLError(mysql.ERSpecifiedAccessDenied, "42000", "Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation")
	}
	text, ok := s.ShowCreateUser(user, host)
	if !ok {
		return nil, mysql.NewSQLError(1396, "HY000", "Operation SHOW CREATE USER failed for %s@%s", sqltext.Text(user), sqltext.Text(host))
	}
	return fixedRows(columns("", "", "CREATE USER for "+user+"@"+host, long), []sql.Row{{text}}), nil
}

// showCreateRoutine answers SHOW CREATE PROCEDURE: the server's own have a signature and no text.
func (s *Server) showCreateRoutine(_ *sql.Context, args []*string) (*table, error) {
	r, ok := s.routine(of(args[1]))
	if !ok {
		return nil, mysql.NewSQLError(1305, "42000", "PROCEDURE %s does not exist", of(args[1]))
	}
	schema := named("", "", "Procedure", "sql_mode", "Create Procedure", "character_set_client", "collation_connection", "Database Collation")
	return fixedRows(schema, []sql.Row{{r.Name, "", nil, charset(), collation(), collation()}}), nil
}
