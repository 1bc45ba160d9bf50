package engine

import (
	"scrim/catalog"
	"scrim/engine/estimates"
	"scrim/engine/session"
	"scrim/engine/store"
)

// answering is what the functions over collections depend on.
func (s *Server) answering() estimates.Config {
	return estimates.Config{
		Collections: s.collections,
		Protected: func(ref store.TableRef) bool {
			return s.catalog.Snapshot().Table(ref.String()).State == catalog.Protected
		},
		NullIfFew: session.NullIfFew,
	}
}
