package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"scrim/engine/store/source"
	"scrim/internal/sqltext"
)

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
