package duckdb

import (
	"context"

	"scrim/engine/store"
)

var (
	_ store.Own    = (*Store)(nil)
	_ store.Filler = (*session)(nil)
)

// OwnSchema implements store.Own: tables of the server's own lie beside the store's.
func (s *Store) OwnSchema() string { return hidden }

// Fill implements store.Filler. The appender writes into the open transaction, or into one of the
// call's own.
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
	return s.mutate(ctx, named, func() (bool, error) {
		err := s.send("", table.Schema, table.Name, rows, func(v any, _ int) (any, error) { return v, nil })
		if err == nil {
			err = ctx.Err()
		}
		return false, err
	})
}
