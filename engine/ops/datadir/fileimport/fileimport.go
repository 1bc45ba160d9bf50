// Package fileimport loads files into a table of a data directory that nobody serves, or reads them
// for a table of a running server.
package fileimport

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"scrim/catalog"
	"scrim/engine/collections"
	"scrim/engine/mysql/tables"
	"scrim/engine/ops/datadir"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
)

// Mode says what an import does with a table that is there already.
type Mode = duckdb.ImportMode

// Modes; duckdb documents them.
const (
	Create  = duckdb.ImportCreate
	Append  = duckdb.ImportAppend
	Replace = duckdb.ImportReplace
)

// Options say how a file is read; duckdb documents them. Load sets Creating and Open.
type Options = duckdb.ImportOptions

// Result describes a finished import.
type Result = duckdb.Import

// Described is what is known of files before their rows are read.
type Described = duckdb.Described

// Rejected tells of lines that cannot be read, Repeated of a file that is in the table already.
// and Unreadable of what else is wrong with a file, or with what was asked of it.
type (
	Rejected   = duckdb.Rejected
	Repeated   = duckdb.Repeated
	Unreadable = duckdb.Unreadable
)

// Formats are the names of the formats of files.
var Formats = duckdb.Formats

// Describe tells the columns and types that an import into a new table would make.
func Describe(ctx context.Context, file string, o Options) (Result, error) {
	return duckdb.DescribeFile(ctx, file, o)
}

// Stream reads files for a table of a running server and hands their rows over as lines of LOAD
// DATA; duckdb documents it.
func Stream(ctx context.Context, file string, o Options, start func(Described) error, each func(line []byte) error, progress func(done, total int64)) (Result, error) {
	return duckdb.StreamFile(ctx, file, o, start, each, progress)
}

// Load reads a file into a table of a data directory, all of it or nothing. table is schema.table;
// progress gets the bytes that are done and all of them. The table's policy does not change: a new
// table is refused to analysts until a DBA declares it. A directory that is being served is refused
// with datadir.ErrInUse, lines that cannot be read with *Rejected, a file that is in the
// table already with *Repeated.
func Load(ctx context.Context, p datadir.Place, file, table string, o Options, progress func(done, total int64)) (Result, error) {
	schema, name, ok := strings.Cut(table, ".")
	if !ok || schema == "" || name == "" || strings.Contains(name, ".") {
		return Result{}, fmt.Errorf("table %q: want schema.table", table)
	}
	if tables.Reserved(schema) {
		return Result{}, fmt.Errorf("table %q: the database name %s is reserved", table, schema)
	}
	dir, err := datadir.Open(p.Dir)
	if err != nil {
		return Result{}, err
	}
	defer dir.Close()
	if err := p.CheckEarlier(); err != nil {
		return Result{}, err
	}
	if err := notCollected(ctx, p, dir, store.TableRef{Schema: strings.ToLower(schema), Name: strings.ToLower(name)}); err != nil {
		return Result{}, err
	}
	o.Existing = tables.Importable
	o.Creating, o.Open = func() error { return forgetPublic(p, dir, table) }, p.StoreOptions(dir.ID)
	r, err := duckdb.ImportFile(ctx, p.Path(datadir.DataFile), file, store.TableRef{Schema: schema, Name: name}, o, progress)
	if errors.Is(err, store.ErrInUse) {
		return r, datadir.ErrInUse
	}
	return r, err
}

// notCollected refuses the table of a collection: what is in it came as a contributor's report, and
// nothing else.
func notCollected(ctx context.Context, p datadir.Place, dir *datadir.Directory, ref store.TableRef) (err error) {
	if dir.Fresh {
		return nil
	}
	st, err := p.OpenStore(dir.ID)
	if errors.Is(err, store.ErrInUse) {
		return datadir.ErrInUse
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	all, err := collections.New(ctx, st)
	if err != nil {
		return err
	}
	if all.Holds(ref) {
		err = fmt.Errorf("%s is the table of a collection, which takes reports of contributors only", ref)
	}
	return errors.Join(err, all.Shutdown())
}

// forgetPublic tells the catalogue of a new table: a name that was public before must be declared
// again, for nobody has looked at what it holds now.
func forgetPublic(p datadir.Place, dir *datadir.Directory, table string) error {
	if dir.Fresh {
		return nil
	}
	policies, err := catalog.Open(p.Path(datadir.CatalogFile), catalog.Options{DirectoryID: dir.ID})
	if err != nil {
		return err
	}
	return policies.Created(strings.ToLower(table))
}

// mysqlTypes are MySQL's names of the store's types that it calls otherwise.
var mysqlTypes = map[string]string{
	"INTEGER": "INT", "VARCHAR": "LONGTEXT", "TIMESTAMP": "DATETIME(6)", "TIMESTAMP WITH TIME ZONE": "DATETIME(6)", "TIME": "TIME(6)", "BLOB": "LONGBLOB",
	"HUGEINT": "DECIMAL(38,0)", "UTINYINT": "TINYINT UNSIGNED", "USMALLINT": "SMALLINT UNSIGNED", "UINTEGER": "INT UNSIGNED", "UBIGINT": "BIGINT UNSIGNED",
}

// MySQLType is the type of an imported column as MySQL names it; a text has the length that was
// asked for in the options' Types.
func MySQLType(column, stored string, asked map[string]string) string {
	for c, t := range asked {
		if stored == "VARCHAR" && strings.EqualFold(c, column) && strings.Contains(t, "(") {
			return strings.ToUpper(t)
		}
	}
	if t, ok := mysqlTypes[stored]; ok {
		return t
	}
	return stored
}

// StoreType is the type as the store names it by which a file is read for a column of MySQL's type;
// "" where the file says.
func StoreType(mysql string) string {
	t := strings.ToUpper(mysql)
	base, _, _ := strings.Cut(t, "(")
	switch base = strings.TrimSpace(base); {
	case base == "CHAR", base == "VARCHAR", strings.HasSuffix(base, "TEXT"):
		return "VARCHAR"
	case base == "DATETIME", base == "TIMESTAMP":
		return "TIMESTAMP"
	case base == "DECIMAL", base == "DATE", base == "DOUBLE", base == "FLOAT":
		return t
	case strings.HasSuffix(base, "INT") && strings.HasSuffix(t, " UNSIGNED"):
		return "U" + plainInteger(base)
	case strings.HasSuffix(base, "INT"):
		return plainInteger(base)
	}
	for stored, shown := range mysqlTypes {
		if shown == t && strings.HasPrefix(stored, "U") {
			return stored
		}
	}
	return ""
}

func plainInteger(base string) string {
	if base == "INT" || base == "MEDIUMINT" {
		return "INTEGER"
	}
	return base
}
