package browse

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysql/tables"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// object is a table or view as an account sees it.
type object struct {
	database, name, comment string
	kind                    string // BASE TABLE, VIEW or SYSTEM VIEW
	engine                  any
	definition              *tables.Described // of tables
	view                    *sql.ViewDefinition
}

// Kinds of objects.
const (
	baseTable  = "BASE TABLE"
	viewKind   = "VIEW"
	systemView = "SYSTEM VIEW"
)

// mysqlName is the database of the accounts.
const mysqlName = "mysql"

// sight is what an account may see, and what it may do there.
type sight struct {
	set mysql_db.PrivilegeSet
	all bool
}

func (s *Server) sight(ctx *sql.Context) sight {
	set := s.catalog.MySQLDb.UserActivePrivilegeSet(ctx)
	return sight{set: set, all: set.Count() > 0}
}

// open reports whether everybody may see a database.
func open(database string) bool {
	return database == sql.InformationSchemaDatabaseName || database == performanceName || database == sysName
}

func (v sight) database(name string) bool {
	return v.all || open(name) || v.set.Database(name).HasPrivileges()
}

func (v sight) table(database, name string) bool {
	if v.all || open(database) {
		return true
	}
	d := v.set.Database(database)
	return d.Count() > 0 || d.Table(name).HasPrivileges()
}

// columnPrivileges are the privileges that MySQL grants on columns, in its order.
var columnPrivileges = []struct {
	privilege sql.PrivilegeType
	text      string
}{
	{sql.PrivilegeType_Select, "select"}, {sql.PrivilegeType_Insert, "insert"},
	{sql.PrivilegeType_Update, "update"}, {sql.PrivilegeType_References, "references"},
}

// privileges lists what the account may do with the columns of a table.
func (v sight) privileges(database, name string) string {
	if open(database) {
		return "select"
	}
	d := v.set.Database(database)
	t := d.Table(name)
	var held []string
	for _, p := range columnPrivileges {
		if v.set.Has(p.privilege) || d.Has(p.privilege) || t.Has(p.privilege) {
			held = append(held, p.text)
		}
	}
	return strings.Join(held, ",")
}

// databases lists the databases that the account may see, by name.
func (s *Server) databases(ctx *sql.Context, v sight) ([]string, error) {
	list, err := s.Tables.Schemas(ctx)
	if err != nil {
		return nil, err
	}
	for n := range s.Tables.Virtual() {
		if !strings.HasSuffix(n, " ") {
			list = append(list, n)
		}
	}
	list = append(list, sql.InformationSchemaDatabaseName, mysqlName)
	list = slices.DeleteFunc(list, func(n string) bool { return !v.database(n) })
	slices.Sort(list)
	return list, nil
}

// must returns the name of a database, the current one for "", or MySQL's error where the account
// sees none.
func (s *Server) must(ctx *sql.Context, v sight, database string) (string, error) {
	if database == "" {
		if database = ctx.GetCurrentDatabase(); database == "" {
			return "", mysql.NewSQLError(mysql.ERNoDb, "3D000", "No database selected")
		}
	}
	database = strings.ToLower(database)
	if !v.database(database) && database != mysqlName {
		c := ctx.Session.Client()
		return "", mysql.NewSQLError(mysql.ERDBAccessDenied, "42000", "Access denied for user '%s'@'%s' to database '%s'", c.User, c.Address, database)
	}
	schemas, err := s.Tables.Schemas(ctx)
	if err != nil {
		return "", err
	}
	if _, virtual := s.Tables.Virtual()[database]; !virtual && !slices.Contains(schemas, database) &&
		database != sql.InformationSchemaDatabaseName && database != mysqlName {
		return "", mysql.NewSQLError(mysql.ERBadDb, "42000", "Unknown database '%s'", database)
	}
	return database, nil
}

// objects lists the tables and views of a database that the account may see, by name. The database
// is one that it may see.
func (s *Server) objects(ctx *sql.Context, v sight, database string) ([]object, error) {
	if d := s.virtual(database); d != nil {
		return s.virtualObjects(ctx, d)
	}
	described, err := s.Tables.Describe(ctx, database)
	if err != nil {
		return nil, err
	}
	views, err := s.Tables.Views(ctx, database)
	if err != nil {
		return nil, err
	}
	list := make([]object, 0, len(described)+len(views))
	for _, d := range described {
		if v.table(database, d.Name) {
			list = append(list, object{database: database, name: d.Name, kind: baseTable, engine: engineName, comment: d.Comment, definition: d})
		}
	}
	for i := range views {
		if v.table(database, views[i].Name) {
			list = append(list, object{database: database, name: views[i].Name, kind: viewKind, comment: viewKind, view: &views[i]})
		}
	}
	slices.SortStableFunc(list, func(a, b object) int { return cmp.Compare(a.name, b.name) })
	return list, nil
}

// StoredTables lists the stored tables, as schema.table: all, or those that the account may see.
func (s *Server) StoredTables(ctx *sql.Context, all bool) ([]string, error) {
	v := s.sight(ctx)
	v.all = v.all || all
	schemas, err := s.Tables.Schemas(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, database := range schemas {
		described, err := s.Tables.Describe(ctx, database)
		if err != nil {
			return nil, err
		}
		for _, d := range described {
			if v.table(database, d.Name) {
				out = append(out, database+"."+d.Name)
			}
		}
	}
	return out, nil
}

// each visits the objects of all databases that the account may see, within bounds.
func (s *Server) each(ctx *sql.Context, only bounds, visit func(object) error) error {
	v := s.sight(ctx)
	databases, err := s.databases(ctx, v)
	if err != nil {
		return err
	}
	for _, d := range databases {
		if !only.in(only.database, d) {
			continue
		}
		list, err := s.objects(ctx, v, d)
		if err != nil {
			return err
		}
		for _, o := range list {
			if !only.in(only.table, o.name) {
				continue
			}
			if err := visit(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// find returns the table or view of a name, or MySQL's error where the account sees none.
func (s *Server) find(ctx *sql.Context, database, name string) (object, error) {
	v := s.sight(ctx)
	database, err := s.must(ctx, v, database)
	if err != nil {
		return object{}, err
	}
	list, err := s.objects(ctx, v, database)
	if err != nil {
		return object{}, err
	}
	if o, ok := lists.Find(list, func(o object) bool { return strings.EqualFold(o.name, name) }); ok {
		return o, nil
	}
	if !v.table(database, strings.ToLower(name)) {
		c := ctx.Session.Client()
		return object{}, mysql.NewSQLError(1142, "42000", "SELECT command denied to user '%s'@'%s' for table '%s'", c.User, c.Address, name)
	}
	return object{}, mysql.NewSQLError(mysql.ERNoSuchTable, "42S02", "Table '%s.%s' doesn't exist", database, name)
}

// virtual returns a database of the server's own, nil for others.
func (s *Server) virtual(database string) sql.Database {
	switch database {
	case sql.InformationSchemaDatabaseName:
		return s.information
	case mysqlName:
		return s.mysql
	}
	return s.Tables.Virtual()[database]
}

// virtualObjects lists the tables of a database of the server's own. They are always the same.
func (s *Server) virtualObjects(ctx *sql.Context, d sql.Database) ([]object, error) {
	if known, ok := s.fixed.Load(d.Name()); ok {
		return known.([]object), nil
	}
	names, err := d.GetTableNames(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var list []object
	for _, n := range names {
		t, ok, err := d.GetTableInsensitive(ctx, n)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		o := object{database: strings.TrimSpace(d.Name()), name: n, kind: baseTable, engine: engineName, definition: &tables.Described{Name: n}}
		if o.database == sql.InformationSchemaDatabaseName {
			o.name, o.kind, o.engine = strings.ToUpper(n), systemView, nil
		}
		o.definition.Columns = append(o.definition.Columns, lists.Map(t.Schema(ctx), plainColumn)...)
		list = append(list, o)
	}
	s.fixed.Store(d.Name(), list)
	return list, nil
}

func plainColumn(c *sql.Column) tables.DescribedColumn {
	return tables.DescribedColumn{Name: c.Name, Type: c.Type, TypeText: tables.TypeText(c.Type), Nullable: c.Nullable, Comment: c.Comment}
}

// columnsOf returns the columns of a table or view. Those of a view follow from its text; a view
// that does not bind any more has none.
func (s *Server) columnsOf(ctx *sql.Context, o object) []tables.DescribedColumn {
	if o.view == nil {
		return o.definition.Columns
	}
	b := planbuilder.New(ctx, s.catalog, nil)
	b.DisableAuth()
	node, _, _, _, err := b.Parse("SELECT * FROM "+sqltext.Name(o.database)+"."+sqltext.Name(o.name), nil, false)
	if err != nil {
		return nil
	}
	var list []tables.DescribedColumn
	for i, c := range node.Schema(ctx) {
		column := plainColumn(c)
		if from := origin(ctx, node, i); from != nil {
			s.inherit(ctx, &column, from)
		}
		list = append(list, column)
	}
	return list
}

// own reports whether an object is a view, or a table of the server's own.
func (o object) own() bool {
	return o.definition == nil || o.definition.Collation == sql.Collation_Unspecified
}

// collation is that of the columns which are declared without one.
func (o object) collation() sql.CollationID {
	if o.own() {
		return sql.Collation_Default
	}
	return o.definition.Collation
}

// origin is the column of a table that a column of a query is, nil where it is computed.
func origin(ctx *sql.Context, n sql.Node, column int) *sql.Column {
	switch n := n.(type) {
	case *plan.SubqueryAlias:
		return origin(ctx, n.Child, column)
	case *plan.ResolvedTable:
		return n.Schema(ctx)[column]
	case *plan.TableAlias, *plan.Filter, *plan.Sort, *plan.Limit, *plan.Offset:
		return origin(ctx, n.Children()[0], column)
	case *plan.Project:
		e := n.Projections[column]
		if a, ok := e.(*expression.Alias); ok {
			e = a.Child
		}
		f, ok := e.(*expression.GetField)
		if !ok {
			return nil
		}
		var found *sql.Column
		transform.InspectWithOpaque(ctx, n.Child, func(ctx *sql.Context, from sql.Node) bool {
			switch named := from.(type) {
			case *plan.SubqueryAlias, *plan.TableAlias, *plan.ResolvedTable:
				if strings.EqualFold(named.(sql.Nameable).Name(), f.Table()) {
					at := from.Schema(ctx).IndexOfColName(f.Name())
					if at >= 0 {
						found = origin(ctx, from, at)
					}
				}
				return false
			}
			return found == nil
		})
		return found
	}
	return nil
}

// inherit gives a view's column the default of the table's column that it is.
func (s *Server) inherit(ctx *sql.Context, c *tables.DescribedColumn, from *sql.Column) {
	list, err := s.Tables.Describe(ctx, from.DatabaseSource)
	if err != nil {
		return
	}
	for _, d := range list {
		for _, o := range d.Columns {
			if strings.EqualFold(d.Name, from.Source) && strings.EqualFold(o.Name, from.Name) {
				c.Default, c.Expression, c.OnUpdate = o.Default, o.Expression, o.OnUpdate
			}
		}
	}
}

// keysOf returns the keys of a table.
func (o object) keysOf() []tables.DescribedKey {
	if o.definition == nil {
		return nil
	}
	return o.definition.Keys
}
