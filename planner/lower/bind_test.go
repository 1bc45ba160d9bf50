package lower_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"testing"

	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	_ "github.com/marcboeker/go-duckdb/v2"

	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// columns of the test table: name, the store's type, MariaDB's type.
var columns = [][3]string{
	{"id", "INTEGER", "INT"},
	{"i", "BIGINT", "BIGINT"}, {"j", "BIGINT", "BIGINT"}, {"k", "INTEGER", "INT"}, {"u", "UBIGINT", "BIGINT UNSIGNED"},
	{"m", "DECIMAL(10,2)", "DECIMAL(10,2)"}, {"w", "DECIMAL(38,10)", "DECIMAL(38,10)"},
	{"x", "DOUBLE", "DOUBLE"}, {"y", "DOUBLE", "DOUBLE"},
	{"s", "VARCHAR", "VARCHAR(200)"}, {"r", "VARCHAR", "VARCHAR(200)"},
	{"d", "DATE", "DATE"}, {"ts", "TIMESTAMP", "DATETIME(6)"}, {"b", "BOOLEAN", "BOOLEAN"}, {"tm", "TIME", "TIME(6)"},
}

// rows of the test table, in SQL that both servers read; nan and inf stand for what only the store
// holds and MariaDB has as NULL.
var rows = [][]string{
	{"1", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"},
	{"2", "0", "0", "0", "0", "0", "0", "0e0", "0e0", "''", "''", "'2020-02-29'", "'2020-02-29 23:59:59.999999'", "FALSE", "'00:00:00'"},
	{"3", "1", "2", "3", "4", "1.50", "1.5", "1.5e0", "-2.5e0", "'abc'", "'b'", "'2021-12-31'", "'2021-12-31 00:00:00'", "TRUE", "'10:00:00'"},
	{"4", "9223372036854775807", "1", "2147483647", "18446744073709551615", "99999999.99", "9999999999999999999999999999.9999999999", "1e308", "1e308", "'12abc'", "'12'", "'9999-12-31'", "'9999-12-31 23:59:59.999999'", "TRUE", "'23:59:59.999999'"},
	{"5", "-9223372036854775808", "-1", "-2147483648", "1", "-99999999.99", "-9999999999999999999999999999.9999999999", "-1e308", "10e0", "'  -3.5e2xyz'", "' '", "'0001-01-01'", "'0001-01-01 00:00:00'", "FALSE", "'00:00:00.000001'"},
	{"6", "-7", "2", "-3", "9223372036854775808", "-2.55", "0.0000000001", "-2.5e0", "0.5e0", "'żółć'", "'ó'", "'1970-01-01'", "'1970-01-01 00:00:01.5'", "TRUE", "'12:34:56.789'"},
	{"7", "7", "-2", "10", "10", "2.45", "-1.5", "0.1e0", "3e0", "'50%_off'", "'%'", "'2000-01-01'", "'2000-01-01 12:34:56.789'", "FALSE", "'10:00:00'"},
	{"8", "25", "-7", "1", "7", "0.05", "12345678.0123456789", "nan", "inf", "'2020-02-30'", "'2020-02-29'", "'2019-12-30'", "'2019-12-30 13:05:09'", "NULL", "'01:02:03'"},
	{"9", "20200229", "20201301", "99", "20210304050607", "12.34", "3.3333333333", "-inf", "nan", "'2021-03-04 05:06:07.5'", "'20210304'", "'2008-02-20'", "'2008-02-20 00:00:00.000001'", "TRUE", "'09:59:59.5'"},
	{"10", "100", "10", "-10", "100", "100.00", "-0.0000000001", "1e-300", "1e300", "'🤷 a,b,c'", "','", "'2016-01-03'", "'2016-01-03 01:00:00'", "FALSE", "NULL"},
	{"11", "3", "3", "3", "3", "3.00", "3", "3e0", "3e0", "'ABC'", "'abc'", "'2024-12-29'", "'2024-12-29 11:59:59'", "TRUE", "'12:00:00'"},
	{"12", "-1", "0", "-1", "0", "-0.50", "0.5", "-0.5e0", "-1e0", "'a.b.c.'", "'.'", "'2023-01-01'", "'2023-01-01 12:00:00'", "NULL", "'11:00:00'"},
}

type binder struct {
	ctx *sql.Context
	cat sql.Catalog
}

// newBinder returns a name resolver over table t.
func newBinder(t testing.TB) *binder {
	t.Helper()
	db := memory.NewDatabase("test")
	provider := memory.NewDBProvider(db)
	session := memory.NewSession(sql.NewBaseSession(), provider)
	ctx := sql.NewContext(context.Background(), sql.WithSession(session))
	ctx.SetCurrentDatabase("test")
	var schema sql.Schema
	for name, storeType := range allColumns {
		typ, err := lower.MySQLType(storeType)
		if err != nil {
			t.Fatal(err)
		}
		schema = append(schema, &sql.Column{Name: name, Type: typ, Source: "t", Nullable: true})
	}
	schema = append(schema, &sql.Column{Name: "doc", Type: types.JSON, Source: "t", Nullable: true})
	tbl := memory.NewTable(ctx, db.BaseDatabase, "t", sql.NewPrimaryKeySchema(schema), nil)
	db.AddTable("t", tbl)
	return &binder{ctx: ctx, cat: analyzer.NewDefault(provider).Catalog}
}

// bind resolves one expression over t.
func (b *binder) bind(text string) (e sql.Expression, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("bind: %v", r)
		}
	}()
	node, _, _, _, err := planbuilder.New(b.ctx, b.cat, nil).Parse("SELECT "+text+" FROM t", nil, false)
	if err != nil {
		return nil, err
	}
	p, ok := node.(*plan.Project)
	if !ok {
		return nil, fmt.Errorf("%T is no projection", node)
	}
	return p.Projections[0], nil
}

// resolve is the Columns of t.
func resolve(gf *expression.GetField) (lower.Expr, bool) {
	for name, storeType := range allColumns {
		if name == gf.Name() {
			return lower.ReadColumn("t."+sqltext.StoreName(name), storeType), true
		}
	}
	return lower.ReadColumn("t.doc", "JSON"), gf.Name() == "doc"
}

// openStore returns the store with table t filled.
func openStore(t testing.TB) *stdsql.DB {
	t.Helper()
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	ddl := "CREATE TABLE t ("
	for _, c := range columns {
		ddl += sqltext.StoreName(c[0]) + " " + c[1] + ", "
	}
	if _, err := db.Exec(ddl + "doc JSON)"); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		q := "INSERT INTO t VALUES ("
		for _, v := range r {
			switch v {
			case "nan", "inf", "-inf":
				v = "'" + v + "'::DOUBLE"
			}
			q += v + ", "
		}
		if _, err := db.Exec(q + "'{}')"); err != nil {
			t.Fatal(err)
		}
	}
	return db
}
