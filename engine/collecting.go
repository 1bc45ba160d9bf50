package engine

import (
	"context"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/collections"
	"scrim/engine/inbox"
)

// openCollections reads the collections from the store.
func (s *Server) openCollections() error {
	ctx := context.Background()
	schemas, err := s.store.Schemas(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(schemas, inbox.Name) {
		s.log.Warn().Str("database", inbox.Name).Msg("a database of an older version has a name that belongs to the server now: it is not shown")
	}
	s.collections, err = collections.New(ctx, s.store)
	return err
}

// declareCollections makes the tables of all collections public: a crash may have come before that.
func (s *Server) declareCollections(ctx *sql.Context) error {
	for _, c := range s.collections.List() {
		if err := s.admin.DeclareCollection(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
