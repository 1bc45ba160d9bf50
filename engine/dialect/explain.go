package dialect

import (
	"encoding/json"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

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
