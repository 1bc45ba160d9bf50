package clickhouse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"scrim/engine/source"
)

// Kind is the kind of ClickHouse servers.
type Kind struct{}

// Port implements source.Kind.
func (Kind) Port() string { return "9000" }

// Promise implements source.Kind.
func (Kind) Promise() string {
	return "each table is read once, each of its servers as it is when it begins to read"
}

// Open implements source.Kind.
func (Kind) Open(ctx context.Context, at source.Endpoint) (source.Snapshot, error) {
	s, err := open(ctx, at)
	if err != nil {
		return nil, err
	}
	n := &snapshot{s: s, address: at.Address, tables: map[[2]string]*table{}}
	if n.pins, err = s.pin(ctx); err != nil {
		s.close()
		return nil, err
	}
	return n, nil
}

// snapshot implements source.Snapshot on one connection, whose settings are pinned. They are looked
// up again for each table, on every server that has rows of it.
type snapshot struct {
	s       *session
	address string
	pins    map[string]string
	tables  map[[2]string]*table
}

// table returns a table that was looked up on this connection.
func (n *snapshot) table(ctx context.Context, database, name string) (*table, error) {
	key := [2]string{database, name}
	if t := n.tables[key]; t != nil {
		return t, nil
	}
	t, err := n.s.lookUp(ctx, n.address, database, name)
	if err != nil {
		return nil, err
	}
	if err := n.s.pinned(ctx, t, n.pins); err != nil {
		return nil, err
	}
	n.tables[key] = t
	return t, nil
}

// Look implements source.Snapshot.
func (n *snapshot) Look(ctx context.Context, database, name string) (*source.Table, error) {
	t, err := n.table(ctx, database, name)
	if err != nil {
		return nil, err
	}
	out := &source.Table{}
	if out.Identities, err = n.s.places(ctx, t); err != nil {
		return nil, err
	}
	for _, c := range t.columns {
		out.Columns = append(out.Columns, source.Column{Name: c.name, Type: c.as.store, Null: c.null || c.as.partial()})
	}
	for _, c := range t.left {
		out.Left = append(out.Left, source.Column{Name: c.name, Type: c.typ, Null: true})
	}
	return out, nil
}

// Version implements source.Snapshot: it is a digest of the list of parts.
func (n *snapshot) Version(ctx context.Context, database, name string) (string, error) {
	t, err := n.table(ctx, database, name)
	if err != nil {
		return "", err
	}
	parts, err := n.s.state(ctx, t)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:16]), nil
}

// Rows implements source.Snapshot.
func (n *snapshot) Rows(ctx context.Context, database, name string, columns []source.Column, each func(*source.Batch) error) error {
	t, err := n.table(ctx, database, name)
	if err != nil {
		return err
	}
	var list []column
	for _, want := range columns {
		for _, c := range t.columns {
			if c.name == want.Name && c.as.store == want.Type {
				list = append(list, c)
			}
		}
	}
	if len(list) != len(columns) || len(list) == 0 {
		return unfit("%s.%s has not all of the %d columns that are to be read, as they were", database, name, len(columns))
	}
	return n.s.read(ctx, t, list, columns, each)
}

// Close implements source.Snapshot.
func (n *snapshot) Close() error {
	n.s.close()
	return nil
}

// unfit says why a table cannot be read.
func unfit(format string, args ...any) error {
	return &source.Unfit{Cause: fmt.Sprintf(format, args...), Remedy: "See docs/sources/clickhouse.md for what can be read."}
}
