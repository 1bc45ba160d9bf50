package survey

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/parse"
	"scrim/planner/rule"
	"scrim/planner/settings"
)

// Text is what the statement's own text tells that its bound plan does not.
type Text struct {
	Hints   settings.Layer
	Explain bool // EXPLAIN
	Analyze bool // EXPLAIN ANALYZE
	Query   bool // a SELECT, a set operation, or EXPLAIN of one
	Binds   bool // has place holders
	Window  bool // has a window function beside an aggregate
	View    bool // CREATE VIEW: the definition is bound, and nothing runs
}

// setVar finds the SET_VAR hints inside one optimizer-hint comment.
var setVar = regexp.MustCompile(`(?i)\bSET_VAR\s*\(\s*([a-z0-9_]+)\s*=\s*('[^']*'|"[^"]*"|[^()'"\s]+)\s*\)`)

// ourName finds a parameter of ours in what is left of a comment: a hint that cannot be read must
// not be passed over, or the statement would cost something else than was meant.
var ourName = regexp.MustCompile(`(?i)\bdp_[a-z]`)

// ReadText reads the tree of the statement being executed, as the parser has left it.
func ReadText(ctx *sql.Context) (Text, error) {
	t := Text{Hints: settings.Layer{}}
	if ctx.Query() == "" {
		return t, nil
	}
	stmt, ok := parse.Statement(ctx)
	if !ok {
		return t, rule.Deny(rule.Context, refuse.Context, "Send it as a statement of its own.", "The text of the statement around a private query cannot be read.")
	}
	if e, ok := stmt.(*ast.Explain); ok {
		t.Explain, t.Analyze = true, e.Analyze
		stmt = e.Statement
	}
	if d, ok := stmt.(*ast.DDL); ok && d.ViewSpec != nil {
		t.View = true
	}
	sel, ok := stmt.(ast.SelectStatement)
	if !ok {
		return t, nil
	}
	t.Query, t.Window = true, windowBeside(sel)
	first := firstSelect(sel)
	err := ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.SQLVal:
			t.Binds = t.Binds || n.Type == ast.ValArg
		case *ast.Select:
			if n != first && slices.ContainsFunc(n.Comments, func(c []byte) bool { return isHint(c) && ourName.Match(c) }) {
				return false, rule.Deny(rule.Hint, refuse.Parameter, "Write it after the first SELECT.", "A hint on a privacy parameter holds for the whole statement, and stands in a part of it.")
			}
		}
		return true, nil
	}, sel)
	if err != nil || first == nil {
		return t, err
	}
	return t, t.readHints(first.Comments)
}

// firstSelect returns the SELECT after which the hints of a query stand.
func firstSelect(s ast.SelectStatement) *ast.Select {
	switch s := s.(type) {
	case *ast.Select:
		return s
	case *ast.SetOp:
		return firstSelect(s.Left)
	case *ast.ParenSelect:
		return firstSelect(s.Select)
	}
	return nil
}

func isHint(comment []byte) bool { return bytes.HasPrefix(comment, []byte("/*+")) }

// readHints reads SET_VAR of our parameters; hints of other names are MySQL's business.
func (t *Text) readHints(list ast.Comments) error {
	seen := map[string]bool{}
	for _, c := range list {
		if !isHint(c) {
			continue
		}
		s := string(c)
		if rest := setVar.ReplaceAllString(s, ""); ourName.MatchString(rest) {
			return rule.Deny(rule.Hint, refuse.Parameter, "Write it as SET_VAR(dp_epsilon=0.1).", "A hint on a privacy parameter cannot be read.")
		}
		for _, m := range setVar.FindAllStringSubmatch(s, -1) {
			name := strings.ToLower(m[1])
			if !strings.HasPrefix(name, "dp_") {
				continue
			}
			if seen[name] {
				return rule.Deny(rule.Hint, refuse.Parameter, "Set it once.", "The hint SET_VAR(%s) is repeated.", name)
			}
			seen[name] = true
			p, ok := params.ByName(name, params.Hint)
			if !ok {
				return rule.Deny(rule.Hint, refuse.Parameter, "Use "+params.Names(params.Hint)+".", "%s is not a parameter that SET_VAR can set.", name)
			}
			value := strings.Trim(m[2], `'"`)
			v, ok := p.Read(value)
			if !ok {
				return settings.BadParameter(p, value, "SET_VAR")
			}
			t.Hints[p] = v
		}
	}
	return nil
}
