package browse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/lists"
)

// The rows of the tables of information_schema that list databases, tables and columns, in the
// order of their columns.

func (s *Server) schemata(ctx *sql.Context, _ bounds) ([]sql.Row, error) {
	names, err := s.databases(ctx, s.sight(ctx))
	if err != nil {
		return nil, err
	}
	list := make([]sql.Row, len(names))
	for i, n := range names {
		c, err := s.Tables.Collation(ctx, n)
		if err != nil {
			return nil, err
		}
		list[i] = sql.Row{defCatalog, n, c.CharacterSet().Name(), c.Name(), nil, "NO"}
	}
	return list, nil
}

func (s *Server) schemataExtensions(ctx *sql.Context, _ bounds) ([]sql.Row, error) {
	names, err := s.databases(ctx, s.sight(ctx))
	return lists.Map(names, func(n string) sql.Row { return sql.Row{defCatalog, n, ""} }), err
}

// defaultCharset and defaultCollation are those of texts that are declared without them.
func defaultCharset() string   { return sql.Collation_Default.CharacterSet().Name() }
func defaultCollation() string { return sql.Collation_Default.Name() }

// collect makes a row of every object that make has one of.
func (s *Server) collect(ctx *sql.Context, only bounds, make func(object) sql.Row) ([]sql.Row, error) {
	var list []sql.Row
	err := s.each(ctx, only, func(o object) error {
		if r := make(o); r != nil {
			list = append(list, r)
		}
		return nil
	})
	return list, err
}

// sizes returns the number of rows of an object, where it is told: about how many a public table
// has, to those who may read it.
func (s *Server) sizes(ctx *sql.Context) func(object) any {
	v, sizes := s.sight(ctx), s.Tables.Sizes(ctx, s.Public)
	return func(o object) any {
		n, ok := sizes[store.TableRef{Schema: o.database, Name: o.name}]
		if !ok || o.kind != baseTable || !strings.Contains(v.privileges(o.database, o.name), "select") {
			return nil
		}
		return n
	}
}

// next returns the next AUTO_INCREMENT value of a table. It is nil where the value is 1, or the
// account may not read the rows.
func (s *Server) next(ctx *sql.Context) func(object) any {
	v := s.sight(ctx)
	return func(o object) any {
		if o.kind != baseTable || !slices.ContainsFunc(o.definition.Columns, func(c tables.DescribedColumn) bool { return c.Auto }) ||
			!strings.Contains(v.privileges(o.database, o.name), "select") {
			return nil
		}
		n, err := s.Tables.NextID(ctx, store.TableRef{Schema: o.database, Name: o.name})
		if err != nil || n <= 1 {
			return nil
		}
		return n
	}
}

// tables tells nothing of the rows of tables that are not public: their number, their size, the
// next key, and when they were last changed are NULL.
func (s *Server) tables(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	size, next := s.sizes(ctx), s.next(ctx)
	return s.collect(ctx, only, func(o object) sql.Row {
		var version, format, collated, options any
		if o.kind != viewKind {
			version, format, collated, options = int32(10), "Dynamic", o.collation().Name(), ""
		}
		return sql.Row{defCatalog, o.database, o.name, o.kind, o.engine, version, format,
			size(o), nil, nil, nil, nil, nil, next(o), nil, nil, nil, collated, nil, options, o.comment}
	})
}

func (s *Server) tablesExtensions(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	return s.collect(ctx, only, func(o object) sql.Row { return sql.Row{defCatalog, o.database, o.name, nil, nil} })
}

// partitions has one row a table, as MySQL has for tables that are not partitioned.
func (s *Server) partitions(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	width := len(s.information.tables["partitions"].Columns)
	return s.collect(ctx, only, func(o object) sql.Row {
		if o.kind != baseTable {
			return nil
		}
		r := make(sql.Row, width)
		r[0], r[1], r[2], r[22] = defCatalog, o.database, o.name, ""
		return r
	})
}

func (s *Server) views(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	return s.collect(ctx, only, func(o object) sql.Row {
		if o.view == nil {
			return nil
		}
		return sql.Row{defCatalog, o.database, o.name, o.view.TextDefinition, "NONE", "NO", "root@%", "INVOKER", defaultCharset(), defaultCollation()}
	})
}

func (s *Server) columns(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	v := s.sight(ctx)
	err := s.each(ctx, only, func(o object) error {
		privileges := v.privileges(o.database, o.name)
		for i, c := range s.columnsOf(ctx, o) {
			list = append(list, columnRow(ctx, o, i, c, privileges))
		}
		return nil
	})
	return list, err
}

func (s *Server) columnsExtensions(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := s.each(ctx, only, func(o object) error {
		for _, c := range s.columnsOf(ctx, o) {
			list = append(list, sql.Row{defCatalog, o.database, o.name, c.Name, nil, nil})
		}
		return nil
	})
	return list, err
}

func columnRow(ctx *sql.Context, o object, i int, c tables.DescribedColumn, privileges string) sql.Row {
	characters, octets, set, collated := textual(ctx, c.Type)
	precision, scale, fraction := numeric(c.Type, c.TypeText)
	return sql.Row{defCatalog, o.database, o.name, c.Name, uint32(i + 1), shownDefault(c), yes(c.Nullable), dataType(c.TypeText),
		characters, octets, precision, scale, fraction, set, collated, c.TypeText, c.Key, extra(c), privileges, c.Comment, c.Generated, nil}
}

// shownDefault is a default without the quotes of its text.
func shownDefault(c tables.DescribedColumn) any {
	if c.Default == nil {
		return nil
	}
	return *c.Default
}

func yes(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// dataType is a type's text without its arguments.
func dataType(text string) string {
	if i := strings.IndexAny(text, "( "); i >= 0 {
		return text[:i]
	}
	return text
}

func extra(c tables.DescribedColumn) string {
	var words []string
	if c.Auto {
		words = append(words, "auto_increment")
	}
	switch {
	case c.Generated != "" && c.Virtual:
		words = append(words, "VIRTUAL GENERATED")
	case c.Generated != "":
		words = append(words, "STORED GENERATED")
	case c.Expression:
		words = append(words, "DEFAULT_GENERATED")
	}
	if c.OnUpdate != "" {
		words = append(words, "on update "+onUpdate(c))
	}
	return strings.Join(words, " ")
}

// onUpdate is ON UPDATE in MySQL's words.
func onUpdate(c tables.DescribedColumn) string {
	if _, digits, ok := strings.Cut(strings.TrimSuffix(c.OnUpdate, "()"), "("); ok {
		return "CURRENT_TIMESTAMP(" + digits
	}
	return "CURRENT_TIMESTAMP"
}

// textual returns the length of a text in characters and bytes, its character set and its
// collation; NULL for other types.
func textual(ctx *sql.Context, t sql.Type) (characters, octets, set, collated any) {
	if s, ok := t.(sql.StringType); ok {
		characters, octets = s.MaxCharacterLength(), s.MaxByteLength()
	}
	if types.IsBinaryType(t) {
		return characters, octets, nil, nil
	}
	if c, ok := t.(sql.TypeWithCollation); ok {
		set, collated = c.Collation().CharacterSet().Name(), c.Collation().Name()
		if types.IsEnum(t) || types.IsSet(t) {
			n := int64(t.MaxTextResponseByteLength(ctx))
			characters, octets = n/c.Collation().CharacterSet().MaxLength(), n
		}
	}
	return characters, octets, set, collated
}

// digits are the decimal digits that MySQL gives to each width of integers and floats, in bytes.
var digits = map[string]uint64{
	"tinyint": 3, "smallint": 5, "mediumint": 7, "int": 10, "bigint": 19, "float": 12, "double": 22, "year": 0,
}

// numeric returns the precision and scale of a number, and the digits of the seconds of a time;
// NULL for other types.
func numeric(t sql.Type, text string) (precision, scale, fraction any) {
	switch t := t.(type) {
	case sql.DecimalType:
		return uint64(t.Precision()), uint64(t.Scale()), nil
	case types.BitType:
		return uint64(t.NumberOfBits()), nil, nil
	case sql.DatetimeType:
		if types.IsDateType(t) {
			return nil, nil, nil
		}
		return nil, nil, uint32(t.Precision())
	}
	if standard.IsTimespan(t) {
		digits := uint32(0)
		_, _ = fmt.Sscanf(text, "time(%d)", &digits)
		return nil, nil, digits
	}
	n, ok := digits[dataType(text)]
	switch {
	case !ok || n == 0:
		return nil, nil, nil
	case types.IsFloat(t):
		return n, nil, nil
	case dataType(text) == "bigint" && strings.Contains(text, "unsigned"):
		return uint64(20), uint64(0), nil
	}
	return n, uint64(0), nil
}

// The rows of the tables of information_schema that list keys, foreign keys and checks.

// nullable reports whether a column of an object may be NULL, as an expression may, "".
func (o object) nullable(column string) bool {
	if column == "" {
		return true
	}
	if c, ok := lists.Find(o.definition.Columns, func(c tables.DescribedColumn) bool { return c.Name == column }); ok {
		return c.Nullable
	}
	return false
}

// foreign and checks are what a table's definition has of both.
func foreign(o object) []tables.ForeignKey {
	if o.definition == nil {
		return nil
	}
	return o.definition.Foreign
}

func checks(o object) []tables.DescribedCheck {
	if o.definition == nil {
		return nil
	}
	return o.definition.Checks
}

// eachOf visits what all tables have of one kind.
func eachOf[X any](ctx *sql.Context, s *Server, only bounds, of func(object) []X, visit func(o object, x X)) error {
	return s.each(ctx, only, func(o object) error {
		for _, x := range of(o) {
			visit(o, x)
		}
		return nil
	})
}

// statistics lists the columns of keys and indexes. Their cardinality would tell of rows, and is
// NULL.
func (s *Server) statistics(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := eachOf(ctx, s, only, object.keysOf, func(o object, k tables.DescribedKey) {
		for i, c := range k.Columns {
			null := ""
			if o.nullable(c) {
				null = "YES"
			}
			column, expression := k.Part(i)
			list = append(list, sql.Row{defCatalog, o.database, o.name, nonUnique(k), o.database, k.Name, uint32(i + 1), column,
				"A", nil, k.SubPart(i), nil, null, "BTREE", "", k.Comment, "YES", expression})
		}
	})
	return list, err
}

func nonUnique(k tables.DescribedKey) int32 {
	if k.Unique {
		return 0
	}
	return 1
}

// eachConstraint visits the keys that are no mere indexes.
func (s *Server) eachConstraint(ctx *sql.Context, only bounds, visit func(o object, k tables.DescribedKey)) error {
	return eachOf(ctx, s, only, object.keysOf, func(o object, k tables.DescribedKey) {
		if k.Unique {
			visit(o, k)
		}
	})
}

func (s *Server) keyColumnUsage(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := s.eachConstraint(ctx, only, func(o object, k tables.DescribedKey) {
		for i, c := range k.Columns {
			list = append(list, sql.Row{defCatalog, o.database, k.Name, defCatalog, o.database, o.name, c, uint32(i + 1), nil, nil, nil, nil})
		}
	})
	if err == nil {
		err = eachOf(ctx, s, only, foreign, func(o object, k tables.ForeignKey) {
			for i, c := range k.Columns {
				list = append(list, sql.Row{defCatalog, o.database, k.Name, defCatalog, o.database, o.name, c, uint32(i + 1), uint32(i + 1),
					o.database, k.Parent, k.Referenced[i]})
			}
		})
	}
	return list, err
}

func (s *Server) tableConstraints(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := s.eachConstraint(ctx, only, func(o object, k tables.DescribedKey) {
		kind := "UNIQUE"
		if k.Primary() {
			kind = "PRIMARY KEY"
		}
		list = append(list, sql.Row{defCatalog, o.database, k.Name, o.database, o.name, kind, "YES"})
	})
	if err == nil {
		err = eachOf(ctx, s, only, foreign, func(o object, k tables.ForeignKey) {
			list = append(list, sql.Row{defCatalog, o.database, k.Name, o.database, o.name, "FOREIGN KEY", "YES"})
		})
	}
	if err == nil {
		err = eachOf(ctx, s, only, checks, func(o object, c tables.DescribedCheck) {
			list = append(list, sql.Row{defCatalog, o.database, c.Name, o.database, o.name, "CHECK", yes(c.Enforced)})
		})
	}
	return list, err
}

// referentialConstraints lists the foreign keys with the key of the parent that each is about: a
// mere index is none.
func (s *Server) referentialConstraints(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	keys := map[string]any{} // the first that covers the columns, by table and columns
	err := s.eachConstraint(ctx, bounds{database: only.database}, func(o object, k tables.DescribedKey) {
		for n := range k.Columns {
			name := strings.ToLower(fmt.Sprintf("%q", append([]string{o.database, o.name}, k.Columns[:n+1]...)))
			if keys[name] == nil {
				keys[name] = k.Name
			}
		}
	})
	if err != nil {
		return nil, err
	}
	rule := func(action string) string {
		if action == "" {
			return "NO ACTION"
		}
		return action
	}
	var list []sql.Row
	err = eachOf(ctx, s, bounds{database: only.database}, foreign, func(o object, k tables.ForeignKey) {
		key := keys[strings.ToLower(fmt.Sprintf("%q", append([]string{o.database, k.Parent}, k.Referenced...)))]
		list = append(list, sql.Row{defCatalog, o.database, k.Name, defCatalog, o.database, key, "NONE", rule(k.OnUpdate), rule(k.OnDelete), o.name, k.Parent})
	})
	return list, err
}

func (s *Server) checkConstraints(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := eachOf(ctx, s, bounds{database: only.database}, checks, func(o object, c tables.DescribedCheck) {
		list = append(list, sql.Row{defCatalog, o.database, c.Name, "(" + c.Text + ")"})
	})
	return list, err
}

func (s *Server) tableConstraintsExtensions(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := s.eachConstraint(ctx, only, func(o object, k tables.DescribedKey) {
		list = append(list, sql.Row{defCatalog, o.database, k.Name, o.name, nil, nil})
	})
	if err == nil {
		err = eachOf(ctx, s, only, foreign, func(o object, k tables.ForeignKey) {
			list = append(list, sql.Row{defCatalog, o.database, k.Name, o.name, nil, nil})
		})
	}
	return list, err
}
