// Package mysql reads tables of MySQL and MariaDB servers as package source says. All tables of a
// statement are read in one transaction of the server, which shows one committed state (InnoDB's
// consistent snapshot, at REPEATABLE READ).
//
// # Invariants
//
//   - Only base tables of InnoDB are read: other engines have no snapshots, and what a view reads
//     may be anything.
//   - Nothing of a session that could leave out rows is left to the server's defaults: limits of
//     rows and of time are taken off.
package mysql

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"scrim/engine/store/source"
	"scrim/internal/sqltext"
)

// Kind is source.Kind of MySQL and MariaDB.
type Kind struct{}

// Port implements source.Kind.
func (Kind) Port() string { return "3306" }

// Promise implements source.Kind.
func (Kind) Promise() string { return "one transaction of the server" }

// reach is how long a connection may take to be made.
const reach = 10 * time.Second

// snapshot is one transaction. Its connection is closed with it, and is never used for another.
type snapshot struct {
	address string
	db      *sql.DB
	conn    *sql.Conn
	mariadb bool
	version string // of all tables: a position in the binary log; "" where there is none
}

// settings take off what could leave out rows or change values, and make times those of UTC.
var settings = []string{
	"SET SESSION sql_select_limit = 18446744073709551615",
	"SET SESSION sql_big_selects = 1",
	"SET SESSION time_zone = '+00:00'",
	"SET SESSION sql_mode = ''",
	"SET SESSION net_write_timeout = 3600",
	"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
}

// Open implements source.Kind.
func (Kind) Open(ctx context.Context, at source.Endpoint) (source.Snapshot, error) {
	c := driver.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr = at.User, at.Password, "tcp", at.Address
	c.Timeout, c.Logger, c.TLS = reach, &driver.NopLogger{}, at.TLS
	c.Collation, c.AllowNativePasswords, c.CheckConnLiveness = "utf8mb4_bin", true, false
	c.MaxAllowedPacket = 1 << 30 // the most that a server sends of a row
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, err
	}
	s := &snapshot{address: at.Address, db: sql.OpenDB(connector)}
	s.db.SetMaxOpenConns(1)
	if err := s.begin(ctx); err != nil {
		s.Close()
		return nil, worded(err)
	}
	return s, nil
}

// Database implements source.Databases.
func (k Kind) Database(ctx context.Context, at source.Endpoint, name string) (*source.Database, error) {
	opened, err := k.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	s := opened.(*snapshot)
	return &source.Database{Tx: s.conn, In: sqltext.Name(name) + ".", Text: "CHAR", Close: func() { s.Close() },
		Tables: "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA = " + sqltext.Text(name)}, nil
}

// begin connects and begins the transaction.
func (s *snapshot) begin(ctx context.Context) (err error) {
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return err
	}
	var version string
	if err := s.conn.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return err
	}
	s.mariadb = strings.Contains(version, "MariaDB")
	set := append([]string{}, settings...)
	if s.mariadb {
		set = append(set, "SET SESSION max_statement_time = 0, idle_transaction_timeout = 0, idle_readonly_transaction_timeout = 0")
	} else {
		set = append(set, "SET SESSION max_execution_time = 0")
	}
	for _, q := range set {
		if _, err := s.conn.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	if !s.mariadb {
		if s.version, err = s.executed(ctx); err != nil {
			return err
		}
	}
	if _, err = s.conn.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"); err == nil && s.mariadb {
		s.version, err = s.position(ctx)
	}
	return err
}

// position returns where in its binary log MariaDB's transaction began, "" where there is no log.
// The global position may be ahead of what the transaction sees: a change is logged before it is
// visible.
func (s *snapshot) position(ctx context.Context) (string, error) {
	rows, err := s.texts(ctx, "SHOW STATUS WHERE Variable_name IN ('Binlog_snapshot_file', 'Binlog_snapshot_position')", 2)
	if err != nil {
		return "", err
	}
	of := map[string]string{}
	for _, r := range rows {
		of[strings.ToLower(r[0])] = r[1]
	}
	if of["binlog_snapshot_file"] == "" {
		return "", nil
	}
	return "binlog " + of["binlog_snapshot_file"] + ":" + of["binlog_snapshot_position"], nil
}

// executed returns the set of MySQL's transactions that are done, "" where no binary log tells. It
// is read before the reading's own begins, so that whatever is committed later has another one.
func (s *snapshot) executed(ctx context.Context) (string, error) {
	var on bool
	var at, mode string
	if err := s.conn.QueryRowContext(ctx, "SELECT @@global.log_bin, @@global.gtid_mode, @@global.gtid_executed").Scan(&on, &mode, &at); err != nil || !on || mode != "ON" {
		return "", err
	}
	return "gtid " + at, nil
}

// Version implements source.Snapshot.
func (s *snapshot) Version(context.Context, string, string) (string, error) { return s.version, nil }

// Close implements source.Snapshot.
func (s *snapshot) Close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	return s.db.Close()
}

// worded is an error of the server for a DBA and the log. It has no values of rows: what is asked
// of the server has none.
func worded(err error) error {
	var m *driver.MySQLError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &m):
		return fmt.Errorf("the server says: %s", m.Message)
	case errors.As(err, &cert):
		return fmt.Errorf("the server's certificate is not trusted (%w): declare it with tls=ca:FILE", err)
	}
	return err
}

// Look implements source.Snapshot.
func (s *snapshot) Look(ctx context.Context, database, table string) (*source.Table, error) {
	var engine, typ, there string
	rows, err := s.texts(ctx, "SELECT COALESCE(ENGINE, ''), TABLE_TYPE, CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+sqltext.Text(database)+" AND TABLE_NAME = "+sqltext.Text(table), 3)
	if err != nil {
		return nil, worded(err)
	}
	if len(rows) != 1 || rows[0][2] != database+"."+table {
		return nil, &source.Unfit{Cause: "there is no such table, or the account does not see it", Remedy: "GRANT SELECT on it to that account there; names have their letters' case."}
	}
	engine, typ, there = rows[0][0], rows[0][1], rows[0][2]
	if typ != "BASE TABLE" || !strings.EqualFold(engine, "InnoDB") {
		return nil, &source.Unfit{Cause: fmt.Sprintf("%s is a %s of the engine %q, of which no state can be fixed", there, strings.ToLower(typ), engine), Remedy: "Attach a base table of InnoDB."}
	}
	t := &source.Table{}
	columns, err := s.columns(ctx, database, table)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		out := source.Column{Name: c.name, Type: c.store, Null: c.null}
		if c.store == "" {
			out.Type = c.there
			t.Left = append(t.Left, out)
		} else {
			t.Columns = append(t.Columns, out)
		}
	}
	t.Identities, err = s.identities(ctx, database, table)
	return t, err
}

// column is a column of a table.
type column struct {
	name  string
	there string // the server's type
	store string // the store's, "" for none
	read  string // what is selected; %s is the quoted name
	null  bool
}

// columns lists the columns of a table.
func (s *snapshot) columns(ctx context.Context, database, table string) (list []column, err error) {
	rows, err := s.texts(ctx, "SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, IS_NULLABLE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+sqltext.Text(database)+" AND TABLE_NAME = "+sqltext.Text(table)+" ORDER BY ORDINAL_POSITION", 4)
	if err != nil {
		return nil, worded(err)
	}
	for _, r := range rows {
		c := column{name: r[0], there: r[1], null: r[3] == "YES"}
		c.store, c.read = stored(strings.ToLower(r[2]), strings.ToLower(r[1]))
		list = append(list, c)
	}
	return list, nil
}

// identities name the data of a table: by the server's own identity, and by its address.
func (s *snapshot) identities(ctx context.Context, database, table string) ([]string, error) {
	rows, err := s.texts(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'hostname', 'datadir')", 2)
	if err != nil {
		return nil, worded(err)
	}
	of := map[string]string{}
	for _, r := range rows {
		of[strings.ToLower(r[0])] = r[1]
	}
	server := of["server_uuid"]
	if server == "" {
		server = of["hostname"] + ":" + of["datadir"]
	}
	out := []string{"mysql " + server + " " + database + "." + table, "mysql at " + s.address + " " + database + "." + table}
	slices.Sort(out)
	return out, nil
}

// texts returns the rows of a query whose columns are all texts.
func (s *snapshot) texts(ctx context.Context, query string, columns int) (all [][]string, err error) {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row, into := make([]string, columns), make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// integers are the store's types of whole numbers, signed and unsigned.
var integers = map[string][2]string{
	"tinyint": {"TINYINT", "UTINYINT"}, "smallint": {"SMALLINT", "USMALLINT"}, "mediumint": {"INTEGER", "UINTEGER"},
	"int": {"INTEGER", "UINTEGER"}, "bigint": {"BIGINT", "UBIGINT"},
}

var decimals = regexp.MustCompile(`^decimal\(([0-9]+)(?:,([0-9]+))?\)`)

// stored returns the store's type of a column, "" for none, and what is selected of it. Texts come
// in UTF-8, whatever their own character set, and compare as the store's do.
func stored(data, column string) (store, read string) {
	switch data {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		if strings.Contains(column, "unsigned") {
			return integers[data][1], "%s"
		}
		return integers[data][0], "%s"
	case "year":
		return "SMALLINT", "(%s + 0)"
	case "decimal":
		m := decimals.FindStringSubmatch(column)
		if m == nil {
			return "", ""
		}
		digits, _ := strconv.Atoi(m[1])
		scale, _ := strconv.Atoi(m[2])
		if digits > 38 {
			return "", ""
		}
		return fmt.Sprintf("DECIMAL(%d,%d)", digits, scale), "%s"
	case "float": // as a text it would have six digits
		return "FLOAT", "(%s + 0e0)"
	case "double":
		return "DOUBLE", "%s"
	case "date":
		return "DATE", "%s"
	case "datetime", "timestamp":
		return "TIMESTAMP", "%s"
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json", "uuid", "inet6", "inet4":
		return "VARCHAR", "%s"
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return "BLOB", "%s"
	}
	return "", ""
}

// batchBytes is how many bytes of texts a batch has, before it is handed over, at most, but for its
// last row.
const batchBytes = 4 << 20

// Rows implements source.Snapshot. The rows come in the text protocol, one after the other: neither
// side keeps all of them.
func (s *snapshot) Rows(ctx context.Context, database, table string, columns []source.Column, each func(*source.Batch) error) error {
	there, err := s.columns(ctx, database, table)
	if err != nil {
		return err
	}
	list, readers := make([]string, len(columns)), make([]reader, len(columns))
	for i, c := range columns {
		for _, t := range there {
			if t.name == c.Name && t.store == c.Type {
				list[i] = fmt.Sprintf(t.read, sqltext.Name(c.Name))
			}
		}
		if list[i] == "" {
			return fmt.Errorf("there is no column %s of the type that it had", c.Name)
		}
		readers[i] = readerOf(c.Type)
	}
	rows, err := s.conn.QueryContext(ctx, "SELECT "+sqltext.List(list)+" FROM "+sqltext.Name(database)+"."+sqltext.Name(table))
	if err != nil {
		return worded(err)
	}
	defer rows.Close()
	return worded(source.Piped(columns, each, func(b *source.Batch, next func(*source.Batch) (*source.Batch, error)) (*source.Batch, error) {
		return batches(rows, readers, b, next)
	}))
}

// batches reads rows to their end, into b and those that next returns. It returns the last.
func batches(rows *sql.Rows, readers []reader, b *source.Batch, next func(*source.Batch) (*source.Batch, error)) (*source.Batch, error) {
	raw, into, size := make([]sql.RawBytes, len(readers)), make([]any, len(readers)), 0
	for i := range raw {
		into[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i, v := range raw {
			col := &b.Columns[i]
			col.Null[b.Len] = v == nil || !readers[i](col, b.Len, v)
			size += len(v)
		}
		if b.Len++; b.Len == source.BatchRows || size > batchBytes {
			var err error
			if b, err = next(b); err != nil {
				return nil, err
			}
			size = 0
		}
	}
	return b, rows.Err()
}

// reader puts a value of the text protocol into a vector. It returns false for what is no value of
// the column's type, which is NULL then: dates with parts that are 0, and nothing else that the
// server keeps.
type reader func(v *source.Vector, at int, text []byte) bool

// readerOf returns the reader of a type of the store.
func readerOf(typ string) reader {
	if digits, scale, ok := source.Decimal(typ); ok {
		return func(v *source.Vector, at int, text []byte) bool { return decimal(v, at, string(text), digits, scale) }
	}
	switch typ {
	case "VARCHAR", "BLOB":
		return func(v *source.Vector, at int, text []byte) bool {
			v.Texts[at] = string(text)
			return true
		}
	case "FLOAT", "DOUBLE":
		return func(v *source.Vector, at int, text []byte) (ok bool) {
			x, err := strconv.ParseFloat(string(text), 64)
			v.Floats[at] = x
			return err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
		}
	case "DATE":
		return func(v *source.Vector, at int, text []byte) bool {
			t, err := time.Parse("2006-01-02", string(text))
			v.Ints[at] = t.Unix() / 86400
			return err == nil && t.Year() > 0
		}
	case "TIMESTAMP":
		return func(v *source.Vector, at int, text []byte) bool {
			t, err := time.Parse("2006-01-02 15:04:05.999999", string(text))
			v.Ints[at] = t.UnixMicro()
			return err == nil && t.Year() > 0
		}
	case "UBIGINT":
		return func(v *source.Vector, at int, text []byte) bool {
			n, err := strconv.ParseUint(string(text), 10, 64)
			v.Ints[at] = int64(n)
			return err == nil
		}
	}
	return func(v *source.Vector, at int, text []byte) (ok bool) {
		n, err := strconv.ParseInt(string(text), 10, 64)
		v.Ints[at] = n
		return err == nil
	}
}

// decimal puts a decimal by its digits.
func decimal(v *source.Vector, at int, text string, digits, scale int) bool {
	whole, part, _ := strings.Cut(text, ".")
	if len(part) > scale {
		return false
	}
	text = whole + part + strings.Repeat("0", scale-len(part))
	if digits <= 18 {
		n, err := strconv.ParseInt(text, 10, 64)
		v.Ints[at] = n
		return err == nil
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return false
	}
	v.Wide[at] = source.Int128Of(n)
	return true
}
