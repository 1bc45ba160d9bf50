package duckdb

import (
	"context"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// TablesAt lists the tables with rows in the block at a byte of the data file. Tables whose
// description cannot be read are left out.
func (s *Store) TablesAt(ctx context.Context, at int64) (names []string) {
	_ = s.use(func(keeper *conn) error {
		size, err := keeper.collect(ctx, "SELECT block_size FROM pragma_database_size() WHERE database_name = current_database()")
		if err != nil || len(size) == 0 {
			return err
		}
		block, _ := size[0][0].(int64)
		tables, err := keeper.collect(ctx, "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT temporary ORDER BY ALL")
		if err != nil || block == 0 {
			return err
		}
		for _, t := range tables {
			ref := store.TableRef{Schema: t[0].(string), Name: t[1].(string)}
			rows, err := keeper.collect(ctx, "SELECT count(*) FROM pragma_storage_info("+sqltext.StoreText(sqltext.StoreName(ref.Schema)+"."+sqltext.StoreName(ref.Name))+
				") WHERE block_id = $1 OR list_contains(additional_block_ids, $1)", (at-firstBlock)/block)
			there := err == nil && rows[0][0] != int64(0)
			if err != nil { // it may have looked into that block
				damaged, ok := damagedAt(err.Error())
				there = ok && damaged == at
			}
			if there && ref.Schema != hidden {
				names = append(names, ref.String())
			}
		}
		return nil
	})
	return names
}

// firstBlock is where the blocks begin, behind three headers of 4096 bytes.
const firstBlock = 3 * 4096
