package browse

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysql/tables"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// The answers of SHOW about databases, tables and columns, with the columns that MySQL gives them.

// heading is the heading of a list that a pattern narrows.
func heading(of string, pattern *string) string {
	if pattern == nil {
		return of
	}
	return of + " (" + *pattern + ")"
}

// showDatabases answers SHOW DATABASES [LIKE pattern].
func (s *Server) showDatabases(ctx *sql.Context, args []*string) (*table, error) {
	names, err := s.databases(ctx, s.sight(ctx))
	if err != nil {
		return nil, err
	}
	var list []sql.Row
	for _, n := range names {
		if like(args[0], n) {
			list = append(list, sql.Row{n})
		}
	}
	return fixedRows(columns("", "SCHEMATA", heading("Database", args[0]), sql.Type(name)), list), nil
}

// showTables answers SHOW TABLES [FROM database] [LIKE pattern].
func (s *Server) showTables(ctx *sql.Context, args []*string) (*table, error) {
	return s.listTables(ctx, args, false)
}

func (s *Server) showFullTables(ctx *sql.Context, args []*string) (*table, error) {
	return s.listTables(ctx, args, true)
}

// visible lists what the caller may see of a database, the current one where name is empty.
func (s *Server) visible(ctx *sql.Context, name string) (database string, list []object, err error) {
	v := s.sight(ctx)
	if database, err = s.must(ctx, v, name); err != nil {
		return "", nil, err
	}
	list, err = s.objects(ctx, v, database)
	return database, list, err
}

func (s *Server) listTables(ctx *sql.Context, args []*string, full bool) (*table, error) {
	database, objects, err := s.visible(ctx, of(args[0]))
	if err != nil {
		return nil, err
	}
	var list []sql.Row
	for _, o := range objects {
		switch {
		case !like(args[1], o.name):
		case full:
			list = append(list, sql.Row{o.name, o.kind})
		default:
			list = append(list, sql.Row{o.name})
		}
	}
	pairs := []any{heading("Tables_in_"+database, args[1]), sql.Type(name)}
	if full {
		pairs = append(pairs, "Table_type", sql.Type(name))
	}
	return fixedRows(columns("", "TABLE_NAMES", pairs...), list), nil
}

// showNothingIn answers SHOW TRIGGERS, EVENTS and OPEN TABLES [FROM database]: there are none. The
// second argument is the list of columns.
func (s *Server) showNothingIn(ctx *sql.Context, args []*string) (*table, error) {
	if args[0] != nil {
		if _, err := s.must(ctx, s.sight(ctx), *args[0]); err != nil {
			return nil, err
		}
	}
	return fixedRows(named("", "", strings.Split(of(args[1]), ",")...), nil), nil
}

// showColumns answers SHOW COLUMNS FROM table.
func (s *Server) showColumns(ctx *sql.Context, args []*string) (*table, error) {
	return s.listColumns(ctx, args, false)
}

func (s *Server) showFullColumns(ctx *sql.Context, args []*string) (*table, error) {
	return s.listColumns(ctx, args, true)
}

func (s *Server) listColumns(ctx *sql.Context, args []*string, full bool) (*table, error) {
	o, err := s.find(ctx, of(args[0]), of(args[1]))
	if err != nil {
		return nil, err
	}
	privileges := s.sight(ctx).privileges(o.database, o.name)
	var list []sql.Row
	for _, c := range s.columnsOf(ctx, o) {
		r := sql.Row{c.Name, c.TypeText, yes(c.Nullable), c.Key, shownDefault(c), extra(c)}
		if full {
			_, _, _, collated := textual(ctx, c.Type)
			r = sql.Row{c.Name, c.TypeText, collated, yes(c.Nullable), c.Key, shownDefault(c), extra(c), privileges, c.Comment}
		}
		list = append(list, r)
	}
	pairs := []any{"Field", sql.Type(name), "Type", text}
	if full {
		pairs = append(pairs, "Collation", sql.Type(name))
	}
	pairs = append(pairs, "Null", sql.Type(name), "Key", sql.Type(name), "Default", text, "Extra", sql.Type(long))
	if full {
		pairs = append(pairs, "Privileges", sql.Type(long), "Comment", text)
	}
	return fixedRows(columns("", "COLUMNS", pairs...), list), nil
}

// showIndex answers SHOW INDEX FROM table. The cardinality would tell of rows, and is NULL.
func (s *Server) showIndex(ctx *sql.Context, args []*string) (*table, error) {
	o, err := s.find(ctx, of(args[0]), of(args[1]))
	if err != nil {
		return nil, err
	}
	var list []sql.Row
	for _, k := range o.keysOf() {
		for i, c := range k.Columns {
			null := ""
			if o.nullable(c) {
				null = "YES"
			}
			column, expression := k.Part(i)
			list = append(list, sql.Row{o.name, nonUnique(k), k.Name, int64(i + 1), column, "A", nil, k.SubPart(i), nil, null, "BTREE", "", k.Comment, "YES", expression})
		}
	}
	return fixedRows(columns("", "SHOW_STATISTICS", "Table", sql.Type(name), "Non_unique", types.Int32, "Key_name", sql.Type(name), "Seq_in_index", number,
		"Column_name", sql.Type(name), "Collation", sql.Type(name), "Cardinality", number, "Sub_part", number, "Packed", sql.Type(name), "Null", sql.Type(name),
		"Index_type", sql.Type(name), "Comment", sql.Type(name), "Index_comment", sql.Type(long), "Visible", sql.Type(name), "Expression", text), list), nil
}

// showTableStatus answers SHOW TABLE STATUS [FROM database]. As in information_schema.tables,
// nothing is told of rows that are not public.
func (s *Server) showTableStatus(ctx *sql.Context, args []*string) (*table, error) {
	_, objects, err := s.visible(ctx, of(args[0]))
	if err != nil {
		return nil, err
	}
	var list []sql.Row
	size, next := s.sizes(ctx), s.next(ctx)
	for _, o := range objects {
		var version, format, collated, options any
		if o.kind != viewKind {
			version, format, collated, options = int64(10), "Dynamic", o.collation().Name(), ""
		}
		list = append(list, sql.Row{o.name, o.engine, version, format, size(o), nil, nil, nil, nil, nil, next(o), nil, nil, nil, collated, nil, options, o.comment})
	}
	return fixedRows(columns("", "TABLES", "Name", sql.Type(name), "Engine", sql.Type(name), "Version", number, "Row_format", sql.Type(name),
		"Rows", natural, "Avg_row_length", natural, "Data_length", natural, "Max_data_length", natural, "Index_length", natural, "Data_free", natural,
		"Auto_increment", natural, "Create_time", moment, "Update_time", moment, "Check_time", moment, "Collation", sql.Type(name), "Checksum", number,
		"Create_options", sql.Type(long), "Comment", text), list), nil
}

// showAbsent answers SHOW CREATE of what there is none of, with MySQL's error: errno, SQLSTATE and
// text.
func (*Server) showAbsent(_ *sql.Context, args []*string) (*table, error) {
	var errno int
	if _, err := fmt.Sscan(of(args[0]), &errno); err != nil {
		return nil, err
	}
	return nil, mysql.NewSQLError(errno, of(args[1]), "%s", of(args[2]))
}

// showErrors answers SHOW ERRORS: the errors among the messages of the statement before.
func (*Server) showErrors(ctx *sql.Context, _ []*string) (*table, error) {
	var list []sql.Row
	for _, w := range ctx.Session.Warnings() {
		if w.Level == "Error" {
			list = append(list, sql.Row{w.Level, int64(w.Code), w.Message})
		}
	}
	return fixedRows(columns("", "", "Level", sql.Type(name), "Code", number, "Message", text), list), nil
}

// showCount answers SHOW COUNT(*) WARNINGS and ERRORS.
func (s *Server) showCount(ctx *sql.Context, args []*string) (*table, error) {
	n, heading := int64(len(ctx.Session.Warnings())), "@@session.warning_count"
	if strings.EqualFold(of(args[0]), "ERRORS") {
		n, heading = 0, "@@session.error_count"
		for _, w := range ctx.Session.Warnings() {
			if w.Level == "Error" {
				n++
			}
		}
	}
	return fixedRows(columns("", "", heading, number), []sql.Row{{n}}), nil
}

// showCreateTable answers SHOW CREATE TABLE, of a view as SHOW CREATE VIEW does.
func (s *Server) showCreateTable(ctx *sql.Context, args []*string) (*table, error) {
	o, err := s.find(ctx, of(args[0]), of(args[1]))
	if err != nil {
		return nil, err
	}
	if o.view != nil {
		return createView(o), nil
	}
	return fixedRows(columns("", "", "Table", sql.Type(name), "Create Table", text), []sql.Row{{o.name, createTable(o, s.next(ctx)(o))}}), nil
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
		[]sql.Row{{o.name, "CREATE VIEW " + sqltext.Name(o.name) + " AS " + o.view.TextDefinition, defaultCharset(), defaultCollation()}})
}

// createTable writes the statement that makes a table, which this server would take.
func createTable(o object, next any) string {
	lines := lists.Map(o.definition.Columns, func(c tables.DescribedColumn) string { return "  " + sqltext.Name(c.Name) + " " + columnText(c, o) })
	for _, k := range o.keysOf() {
		head := "KEY " + sqltext.Name(k.Name)
		switch {
		case k.Primary():
			head = "PRIMARY KEY"
		case k.Unique:
			head = "UNIQUE " + head
		}
		quoted := make([]string, len(k.Columns))
		for i, c := range k.Columns {
			quoted[i] = sqltext.Name(c)
			switch _, expression := k.Part(i); {
			case expression != nil:
				quoted[i] = fmt.Sprintf("(%s)", expression)
			case k.SubPart(i) != nil:
				quoted[i] += fmt.Sprintf("(%d)", k.SubPart(i))
			}
		}
		line := "  " + head + " (" + strings.Join(quoted, ",") + ")"
		if k.Comment != "" {
			line += " COMMENT " + sqltext.Text(k.Comment)
		}
		lines = append(lines, line)
	}
	lines = append(lines, lists.Map(o.definition.Foreign, func(k tables.ForeignKey) string { return "  " + k.Text() })...)
	for _, c := range o.definition.Checks {
		line := "  CONSTRAINT " + sqltext.Name(c.Name) + " CHECK ((" + c.Text + "))"
		if !c.Enforced {
			line += " /*!80016 NOT ENFORCED */"
		}
		lines = append(lines, line)
	}
	word := "CREATE TABLE "
	if o.kind == systemView {
		word = "CREATE TEMPORARY TABLE " // MySQL's own word for them
	}
	first := ""
	switch {
	case next != nil:
		first = fmt.Sprintf(" AUTO_INCREMENT=%d", next)
	case o.definition.First > 0:
		first = fmt.Sprintf(" AUTO_INCREMENT=%d", o.definition.First)
	}
	t := word + sqltext.Name(o.name) + " (\n" + strings.Join(lines, ",\n") + "\n) ENGINE=" + engineName + first +
		" DEFAULT CHARSET=" + o.collation().CharacterSet().Name() + " COLLATE=" + o.collation().Name()
	if o.comment != "" {
		t += " COMMENT=" + sqltext.Text(o.comment)
	}
	return t
}

// collated is what a column says of its character set and its collation, where the table has
// others.
func (o object) collated(t sql.Type) (text string) {
	c, ok := t.(sql.TypeWithCollation)
	table := o.collation()
	if !ok || o.own() || types.IsBinaryType(t) || c.Collation() == table {
		return ""
	}
	if c.Collation().CharacterSet() != table.CharacterSet() {
		text = " CHARACTER SET " + c.Collation().CharacterSet().Name()
	}
	return text + " COLLATE " + c.Collation().Name()
}

func columnText(c tables.DescribedColumn, o object) string {
	t := c.TypeText + o.collated(c.Type)
	if c.Generated != "" {
		t += " GENERATED ALWAYS AS (" + c.Generated + ")" + map[bool]string{true: " VIRTUAL", false: " STORED"}[c.Virtual]
	}
	if !c.Nullable {
		t += " NOT NULL"
	} else if strings.HasPrefix(t, "timestamp") {
		t += " NULL"
	}
	switch {
	case c.Generated != "":
	case c.Auto:
		t += " AUTO_INCREMENT"
	case c.Default == nil && c.Nullable && !strings.HasSuffix(dataType(c.TypeText), "text") && !strings.HasSuffix(dataType(c.TypeText), "blob"):
		t += " DEFAULT NULL"
	case c.Default == nil:
	case c.Expression && strings.HasPrefix(*c.Default, "CURRENT_TIMESTAMP"):
		t += " DEFAULT " + *c.Default
	case c.Expression:
		t += " DEFAULT (" + *c.Default + ")"
	case strings.HasPrefix(*c.Default, "0x") && strings.Contains(c.TypeText, "binary"), strings.HasPrefix(c.TypeText, "bit"):
		t += " DEFAULT " + *c.Default
	default:
		t += " DEFAULT " + sqltext.Text(*c.Default)
	}
	if c.OnUpdate != "" {
		t += " ON UPDATE " + onUpdate(c)
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
	r, ok := lists.Find(s.Routines, func(r Routine) bool { return strings.EqualFold(r.Name, of(args[1])) })
	if !ok {
		return nil, mysql.NewSQLError(1305, "42000", "PROCEDURE %s does not exist", of(args[1]))
	}
	schema := named("", "", "Procedure", "sql_mode", "Create Procedure", "character_set_client", "collation_connection", "Database Collation")
	return fixedRows(schema, []sql.Row{{r.Name, "", nil, defaultCharset(), defaultCollation(), defaultCollation()}}), nil
}
