package browse

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/tables"
)

// The rows of the tables of information_schema that list keys. There are no foreign keys and no
// checks.

// nullable reports whether a column of an object may be NULL.
func (o object) nullable(column string) bool {
	for _, c := range o.definition.Columns {
		if c.Name == column {
			return c.Nullable
		}
	}
	return false
}

// eachKey visits the keys of all tables.
func (s *Server) eachKey(ctx *sql.Context, only bounds, visit func(o object, k tables.DescribedKey)) error {
	return s.each(ctx, only, func(o object) error {
		for _, k := range o.keysOf() {
			visit(o, k)
		}
		return nil
	})
}

// statistics lists the columns of keys. Their cardinality would tell of rows, and is NULL.
func (s *Server) statistics(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := s.eachKey(ctx, only, func(o object, k tables.DescribedKey) {
		for i, c := range k.Columns {
			null := ""
			if o.nullable(c) {
				null = "YES"
			}
			list = append(list, sql.Row{defCatalog, o.database, o.name, int32(0), o.database, k.Name, uint32(i + 1), c,
				"A", nil, nil, nil, null, "BTREE", "", "", "YES", nil})
		}
	})
	return list, err
}

func (s *Server) keyColumnUsage(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := s.eachKey(ctx, only, func(o object, k tables.DescribedKey) {
		for i, c := range k.Columns {
			list = append(list, sql.Row{defCatalog, o.database, k.Name, defCatalog, o.database, o.name, c, uint32(i + 1), nil, nil, nil, nil})
		}
	})
	return list, err
}

func (s *Server) tableConstraints(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := s.eachKey(ctx, only, func(o object, k tables.DescribedKey) {
		kind := "UNIQUE"
		if k.Primary() {
			kind = "PRIMARY KEY"
		}
		list = append(list, sql.Row{defCatalog, o.database, k.Name, o.database, o.name, kind, "YES"})
	})
	return list, err
}

func (s *Server) tableConstraintsExtensions(ctx *sql.Context, only bounds) ([]sql.Row, error) {
	var list []sql.Row
	err := s.eachKey(ctx, only, func(o object, k tables.DescribedKey) {
		list = append(list, sql.Row{defCatalog, o.database, k.Name, o.name, nil, nil})
	})
	return list, err
}
