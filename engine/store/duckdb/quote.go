package duckdb

import (
	"scrim/engine/store"
	"scrim/internal/sqltext"
)

func quoteRef(r store.TableRef) string { return sqltext.StoreTable(r.Schema, r.Name) }
