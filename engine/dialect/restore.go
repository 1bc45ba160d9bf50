package dialect

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// restore gives a tree of the edited text the client's words where the tree quotes the text: in the
// names of columns that have none, and in the place of a definition within CREATE VIEW.
func (m adjusted) restore(s ast.Statement) ast.Statement {
	if m.answered || s == nil {
		return s
	}
	if d, ok := s.(*ast.DDL); ok && d.SubStatementPositionEnd > d.SubStatementPositionStart {
		d.SubStatementPositionStart = m.back(d.SubStatementPositionStart, false)
		d.SubStatementPositionEnd = m.back(d.SubStatementPositionEnd, true)
	}
	steps := 0 // a list of many columns keeps the names that the parser gave it
	everywhere(s, func(n ast.SQLNode) {
		if a, ok := n.(*ast.AliasedExpr); ok && a.InputExpression != "" && a.EndParsePos > a.StartParsePos && steps < maxSteps {
			steps += len(m.edits)
			from, to := m.back(a.StartParsePos, false), m.back(a.EndParsePos, true)
			if from < to && to <= len(m.src) {
				a.InputExpression = unwrap(strings.Trim(m.src[from:to], " \n\t"))
			}
		}
	})
	return s
}

// everywhere visits a statement's nodes: also the common table expressions and the order of a
// UNION, and the statements within statements, which Walk passes over.
func everywhere(s ast.SQLNode, visit func(ast.SQLNode)) {
	switch n := s.(type) {
	case *ast.Explain:
		everywhere(n.Statement, visit)
	case *ast.DDL:
		if n.ViewSpec != nil {
			everywhere(n.ViewSpec.ViewExpr, visit)
		}
		if n.OptSelect != nil {
			everywhere(n.OptSelect.Select, visit)
		}
	case *ast.Insert:
		everywhere(n.Rows, visit)
	}
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if u, ok := n.(*ast.SetOp); ok {
			if u.With != nil {
				everywhere(u.With, visit)
			}
			everywhere(u.OrderBy, visit)
		}
		visit(n)
		return true, nil
	}, s)
}

// unwrap takes the quotes off a text that is one literal or name in quotes.
func unwrap(v string) string {
	if len(v) < 2 || v[0] != v[len(v)-1] || strings.IndexByte("`'\"", v[0]) < 0 {
		return v
	}
	tokens, _, _ := scan(v, Mode{}, nil)
	if len(tokens) != 1 || tokens[0].end != len(v) {
		return v
	}
	return v[1 : len(v)-1]
}
