package browse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/mysql/session"
	"scrim/internal/collation"
)

// engineName is what every table says that it is stored in: tools ask for it to know of
// transactions.
const engineName = "InnoDB"

// defCatalog is MySQL's name of the one catalogue.
const defCatalog = "def"

// informationSchema is information_schema: go-mysql-server's tables, with the rows of those that
// speak of databases, tables and accounts made here, and those about a storage engine's inside,
// about statistics and about what the server does not have empty.
func (s *Server) informationSchema() *database {
	own := map[string]func(*sql.Context, bounds) ([]sql.Row, error){
		"schemata": s.schemata, "tables": s.tables, "columns": s.columns, "views": s.views, "partitions": s.partitions,
		"schemata_extensions": s.schemataExtensions, "tables_extensions": s.tablesExtensions, "columns_extensions": s.columnsExtensions,
		"statistics": s.statistics, "key_column_usage": s.keyColumnUsage, "table_constraints": s.tableConstraints,
		"table_constraints_extensions": s.tableConstraintsExtensions, "check_constraints": s.checkConstraints, "referential_constraints": s.referentialConstraints,
	}
	whole := map[string]func(*sql.Context) ([]sql.Row, error){
		"routines": s.routines, "parameters": s.parameters, "processlist": s.processes,
		"enabled_roles": s.enabledRoles, "applicable_roles": s.applicableRoles, "plugins": plugins, "character_sets": characterSets,
	}
	kept := map[string]bool{"collations": true, "collation_character_set_applicability": true, "engines": true, "keywords": true,
		"st_spatial_reference_systems": true, "st_units_of_measure": true}
	d := newDatabase(sql.InformationSchemaDatabaseName)
	all := information_schema.GetInformationSchemaTables()
	all[information_schema.StatisticsTableName] = information_schema.NewDefaultStats()
	for name, base := range all {
		t := newTable(strings.ToUpper(name), plainSchema(base.Schema(nil)), none)
		bounded, ours := own[name]
		read, all := whole[name]
		known, ok := base.(*information_schema.InformationSchemaTable)
		switch {
		case ours:
			t.within = bounded
		case all:
			t.read = read
		case ok && kept[name] && known.Reader != nil:
			t.read = s.translated(known)
		case ok && grantColumns[name] > 0:
			t.read = s.ownGrants(known, grantColumns[name])
		}
		d.tables[name] = t
	}
	return d
}

// plainSchema makes texts of the columns that list words: an expression over a word is the word,
// not its number.
func plainSchema(from sql.Schema) sql.Schema {
	to := make(sql.Schema, len(from))
	for i, c := range from {
		n := *c
		n.Nullable, n.Default, n.DatabaseSource, n.Source = true, nil, sql.InformationSchemaDatabaseName, strings.ToUpper(c.Source)
		if types.IsEnum(c.Type) || types.IsSet(c.Type) {
			n.Type = name
		}
		to[i] = &n
	}
	return to
}

// translated reads a table of go-mysql-server, with words in the place of their numbers.
func (s *Server) translated(t *information_schema.InformationSchemaTable) func(*sql.Context) ([]sql.Row, error) {
	return func(ctx *sql.Context) ([]sql.Row, error) {
		iter, err := t.Reader(ctx, s.catalog)
		if err != nil {
			return nil, err
		}
		list, err := sql.RowIterToRows(ctx, iter)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(t.Name(), "collation") {
			list = slices.DeleteFunc(list, func(r sql.Row) bool {
				c, err := sql.ParseCollation("", fmt.Sprint(r[0]), false)
				return err != nil || !collation.Supported(c)
			})
		}
		for i, c := range t.TableSchema {
			e, ok := c.Type.(sql.EnumType)
			if !ok {
				continue
			}
			for _, r := range list {
				if n, ok := r[i].(uint16); ok {
					r[i], _ = e.At(int(n))
				}
			}
		}
		return list, nil
	}
}

// characterSets lists the character sets that the server has.
func characterSets(*sql.Context) (list []sql.Row, err error) {
	iter := sql.NewCharacterSetsIterator()
	for c, ok := iter.Next(); ok; c, ok = iter.Next() {
		if collation.SupportedCharset(c.ID) {
			list = append(list, sql.Row{c.Name, c.DefaultCollation.Name(), c.Description, uint32(c.MaxLength)})
		}
	}
	return list, nil
}

// plugins lists what accounts can be made with.
func plugins(*sql.Context) ([]sql.Row, error) {
	var list []sql.Row
	for _, p := range [][3]string{
		{"mysql_native_password", "AUTHENTICATION", "Native MySQL authentication"},
		{"caching_sha2_password", "AUTHENTICATION", "Caching sha2 authentication"},
		{engineName, "STORAGE ENGINE", "Tables in columns"},
	} {
		list = append(list, sql.Row{p[0], "1.0", "ACTIVE", p[1], "1.0", nil, nil, "Scrim", p[2], "", "FORCE"})
	}
	return list, nil
}

// routineDatabase is where the server's procedures are said to be. They are called by their name
// alone, too.
const routineDatabase = session.DPDatabase

// routineType is what all of them are: functions are part of the server, and not listed by MySQL
// either.
const routineType = "PROCEDURE"

func (s *Server) routines(*sql.Context) ([]sql.Row, error) {
	var list []sql.Row
	for _, r := range s.Routines {
		list = append(list, sql.Row{r.Name, defCatalog, routineDatabase, r.Name, routineType, "", nil, nil, nil, nil, nil, nil, nil, nil,
			"SQL", nil, nil, "SQL", "SQL", "NO", "MODIFIES SQL DATA", nil, "INVOKER", nil, nil, "", r.Doc, "root@%", defaultCharset(), defaultCollation(), defaultCollation()})
	}
	return list, nil
}

// parameters lists the parameters of the procedures, all of which are texts.
func (s *Server) parameters(*sql.Context) ([]sql.Row, error) {
	var list []sql.Row
	for _, r := range s.Routines {
		for i, p := range parametersOf(r.Signature) {
			list = append(list, sql.Row{defCatalog, routineDatabase, r.Name, uint64(i + 1), "IN", p, "text", nil, nil, nil, nil, nil, defaultCharset(), defaultCollation(), "text", routineType})
		}
	}
	return list, nil
}

// parametersOf reads the names of parameters in a signature such as
//
//	dp_set_budget(table | 'entity:NAME', principal, epsilon | 'rho=R', delta, window [, reason])
func parametersOf(signature string) []string {
	_, inside, ok := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	if !ok {
		return nil
	}
	var names []string
	for _, p := range strings.Split(inside, ",") {
		p, _, _ = strings.Cut(p, "|")
		if p = strings.Trim(p, " []"); p != "" {
			names = append(names, p)
		}
	}
	return names
}
