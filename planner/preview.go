package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/internal/refuse"
	"scrim/internal/remark"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// Some tools read the names and types of a table's columns from a preview: SELECT * FROM t LIMIT 1.
// Rows are never shown, so it is refused; an empty answer would look like an empty table. A session
// that knows what it does may ask for that all the same, by dp_preview = 'empty': then there are no
// rows and a warning. Without LIMIT the statement is a copy of the table, and stays refused.

// previewRemedy says what to write in the place of a preview.
const previewRemedy = "Ask for an aggregate, for example SELECT COUNT(*) FROM t; LIMIT 0 or SET dp_preview = 'empty' gives the columns without rows; a DBA may SET dp_raw = ON."

// isPreview reports whether a statement selects columns of rows, with a LIMIT above all of them.
func (s *statement) isPreview(n sql.Node) bool {
	_, cut := n.(*gmsplan.Limit)
	return cut && s.plainRows(n, true)
}

// previewed is the empty answer to a preview.
func (s *statement) previewed(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return &declared{KnownRows: *tree.NoRows(s.ctx, n), name: "EmptyPreview", note: remark.Plain(remark.EmptyPreview)}, transform.NewTree, nil
}

// preview refuses LIMIT over rows of persons.
func preview() error {
	return rule.Deny(rule.RawRows, refuse.RawRows, previewRemedy, "LIMIT would return rows of a protected table.")
}
