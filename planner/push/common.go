package push

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/planner/tree"
)

// readOften lists the queries of common table expressions that n reads more than once: the binder
// has one node for all their uses.
func (s *pusher) readOften(n sql.Node) map[sql.Node]func() *block {
	times := map[sql.Node]int{}
	tree.Inspect(s.ctx, n, func(n sql.Node) {
		if a, ok := n.(*plan.SubqueryAlias); ok {
			times[a.Child]++
		}
	}, nil)
	often := map[sql.Node]func() *block{}
	for n, uses := range times {
		if uses > 1 {
			often[n] = nil
		}
	}
	return often
}

// common is the block of a derived table, or of a use of a common table expression: the store
// computes one that is read often once.
func (s *pusher) common(n sql.Node) (*block, error) {
	use, often := s.shared[n]
	if use != nil {
		return use(), nil
	}
	b, err := s.block(n)
	if err != nil {
		return nil, err
	}
	if !often {
		return s.closed(b), nil
	}
	definition, rows := s.Common(b.rel, b.suffix())
	s.with = append(s.with, definition)
	worth := b.worth
	use = func() *block { return &block{rel: rows(), worth: worth} }
	s.shared[n] = use
	return use(), nil
}

// clauseWith writes the common table expressions, each before those that read it.
func (s *pusher) clauseWith() string {
	if len(s.with) == 0 {
		return ""
	}
	return "WITH " + strings.Join(s.with, ", ") + " "
}
