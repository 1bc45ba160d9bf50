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

// headings takes what is not of an expression out of the names of columns that have none: a comma
// before it, which vitess counts in where blanks stand before the comma, comments at its ends, and
// the brackets around the name of a column.
func (m adjusted) headings(s ast.Statement) {
	if m.answered || s == nil {
		return
	}
	src := m.text
	if len(m.edits) > 0 {
		src = m.src
	}
	left := maxSteps
	everywhere(s, func(n ast.SQLNode) {
		a, ok := n.(*ast.AliasedExpr)
		if ok && a.As.IsEmpty() {
			x := a.Expr
			for p, is := x.(*ast.ParenExpr); is; p, is = x.(*ast.ParenExpr) {
				x = p.Expr
			}
			if _, column := x.(*ast.ColName); column { // a default's brackets say that it is an expression
				a.InputExpression = ""
				return
			}
		}
		if !ok || a.InputExpression == "" || a.EndParsePos <= a.StartParsePos || left < 0 {
			return
		}
		from, to := m.back(a.StartParsePos, false), m.back(a.EndParsePos, true)
		if from >= to || to > len(src) || !strings.Contains(src[from:to], a.InputExpression) {
			return
		}
		left -= to - from + len(m.edits)
		if text, ok := heading(src[from:to], m.mode); ok {
			a.InputExpression = unwrap(text)
		}
	})
}

// heading returns the expression in a text that may begin with a comma and have comments at its
// ends; false where it has neither.
func heading(text string, mode Mode) (string, bool) {
	text = strings.Trim(text, " \n\t\r")
	if !strings.HasPrefix(text, ",") && !strings.ContainsAny(text, "/#-") {
		return "", false
	}
	tokens, _, _ := scan(text, mode, nil)
	for len(tokens) > 0 && text[tokens[0].start:tokens[0].end] == "," {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 {
		return "", false
	}
	return text[tokens[0].start:tokens[len(tokens)-1].end], true
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
