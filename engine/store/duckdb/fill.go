package duckdb

import (
	"context"
	"database/sql/driver"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
)

var (
	_ store.Own    = (*Store)(nil)
	_ store.Filler = (*session)(nil)
)

// OwnSchema implements store.Own: tables of the server's own lie beside the store's.
func (s *Store) OwnSchema() string { return hidden }

// Fill implements store.Filler. The appender writes into the open transaction, or into one of the call's own.
func (s *session) Fill(ctx context.Context, table store.TableRef, rows [][]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	named := []store.TableRef{table}
	if table.Schema == hidden {
		named = nil
	}
	return s.mutate(ctx, named, func() (bool, error) { return false, s.fill(ctx, table, rows) })
}

func (s *session) fill(ctx context.Context, table store.TableRef, rows [][]any) error {
	a, err := duckdb.NewAppender(s.c.dc, "", table.Schema, table.Name)
	if err != nil {
		return err
	}
	var row []driver.Value
	for _, r := range rows {
		row = row[:0]
		for _, v := range r {
			row = append(row, v)
		}
		if err = a.AppendRow(row...); err != nil {
			break
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	// Close hands over what is left even after an error: the transaction ends without it.
	if errClose := a.Close(); err == nil {
		err = errClose
	}
	return err
}
