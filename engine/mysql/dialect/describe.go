package dialect

import (
	"encoding/json"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/sqltext"
)

func init() {
	for _, w := range []string{"DESCRIBE", "DESC", "EXPLAIN"} {
		heads[w] = describe
	}
	heads["DO"] = do
}

// describe adjusts DESCRIBE and EXPLAIN, which are the same word:
//
//	DESCRIBE t 'd%', DESC t d            SHOW COLUMNS FROM t LIKE 'd%'
//	EXPLAIN PARTITIONS SELECT …          EXPLAIN SELECT …
//	EXPLAIN FORMAT='tree' SELECT …       EXPLAIN FORMAT=tree SELECT …
//	EXPLAIN FORMAT=TRADITIONAL SELECT …  EXPLAIN SELECT …: the server has one form of plan
//	EXPLAIN FORMAT=JSON SELECT …         one text (Explainer)
func describe(s *statement) {
	switch {
	case s.is(1, "FORMAT") && s.is(2, "=") && !s.ends(3):
		s.format()
	case s.is(1, "EXTENDED", "PARTITIONS") && !s.ends(2):
		s.drop(1, 1)
	case s.are(1, "FOR", "CONNECTION"):
		s.refuseConnection()
	default:
		s.column()
	}
}

func (s *statement) refuseConnection() {
	s.refuse("Statements of other connections are not explained.", "EXPLAIN the statement itself.")
}

// format adjusts FORMAT=x.
func (s *statement) format() {
	if s.are(4, "FOR", "CONNECTION") {
		s.refuseConnection()
		return
	}
	switch f := s.unquoted(3); {
	case equal(f, "TRADITIONAL"):
		s.drop(1, 3)
	case equal(f, "JSON"):
		s.replace(1, 3, "FORMAT="+jsonFormat)
	case s.tokens[3].kind != word:
		s.replace(3, 3, f)
	}
}

// column adjusts DESCRIBE t column.
func (s *statement) column() {
	after := 2
	if s.is(2, ".") {
		after = 4
	}
	if len(s.tokens) != after+1 || !s.named(after-1) || s.is(1, "TABLE", "SELECT", "WITH", "ANALYZE", "VALUES") {
		return
	}
	if k := s.tokens[after].kind; k != text && k != word && k != name {
		return
	}
	s.replace(0, 0, "SHOW COLUMNS FROM")
	s.replace(after, after, "LIKE "+sqltext.Text(s.unquoted(after)))
}

// do makes DO a, b, which evaluates expressions and returns nothing, into SET of a variable that
// nobody reads.
func do(s *statement) {
	if s.ends(1) {
		return
	}
	const nobody = "@`do nothing with it` = "
	s.replace(0, 0, "SET "+nobody+"(")
	depth := 0
	for i := 1; i < len(s.tokens); i++ {
		switch {
		case s.is(i, "("):
			depth++
		case s.is(i, ")"):
			depth--
		case s.is(i, ",") && depth == 0:
			s.replace(i, i, "), "+nobody+"(")
		}
	}
	s.before(len(s.tokens), ")")
}

// jsonFormat is the format of EXPLAIN in which go-mysql-server leaves a mark that nothing else
// does: estimates of rows, which this server has not.
const jsonFormat = "tree_estimates"

// Explainer runs EXPLAIN FORMAT=JSON: one row with the lines of the plan in a document,
//
//	{"query_block": {"select_id": 1, "plan": ["private statement", …]}}
//
// It asks Next about all other nodes.
type Explainer struct{ Next sql.NodeExecBuilder }

var _ sql.NodeExecBuilder = Explainer{}

// Build implements sql.NodeExecBuilder: nil, nil leaves the node to the SQL engine.
func (e Explainer) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	d, ok := n.(*plan.DescribeQuery)
	if !ok || !d.Format.Estimates || d.Format.Analyze {
		return e.Next.Build(ctx, n, row)
	}
	lines := []string{}
	for _, l := range strings.Split(sql.Describe(ctx, d.Query(), sql.DescribeOptions{Plan: true}), "\n") {
		if l = strings.TrimRight(l, " \r"); l != "" {
			lines = append(lines, l)
		}
	}
	text, err := json.MarshalIndent(map[string]any{"query_block": map[string]any{"select_id": 1, "plan": lines}}, "", "  ")
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(sql.NewRow(string(text))), nil
}
