package standard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/collation"
)

// collationOf is the collation of a text, and how strongly it has that: 0 by COLLATE, 2 as a
// column, 4 as a constant. go-mysql-server's own panics over a subquery that is bound and not yet
// planned: an expression with one has the collation of its type, as a column has.
func collationOf(ctx *sql.Context, e sql.Expression) (sql.CollationID, byte) {
	if c, ok := e.(*collatedColumn); ok {
		return c.by, 2
	}
	if t, ok := e.(*expression.Alias); ok {
		return collationOf(ctx, t.Child)
	}
	if list := choices(Untyped(e)); list != nil {
		c, k := sql.CollationID(sql.Collation_Unspecified), byte(5)
		for _, x := range list {
			if t := x.Type(ctx); types.IsTextOnly(t) || types.IsEnum(t) || types.IsSet(t) {
				d, l := collationOf(ctx, x)
				c, k, _ = mixed(c, k, d, l)
			}
		}
		if c != sql.Collation_Unspecified {
			return c, k
		}
	}
	subquery := transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		_, is := e.(*plan.Subquery)
		return is
	})
	if !subquery {
		return sql.GetCoercibility(ctx, e)
	}
	if t, ok := e.Type(ctx).(sql.TypeWithCollation); ok {
		return t.Collation(), 2
	}
	return sql.Collation_binary, 5
}

// none is how strongly a text has the collation that MySQL makes of two: no text is compared by it.
const none = 1

// mixed is the collation of texts of two collations, by MySQL's DTCollation::aggregate; ok is false
// where they are no text together.
func mixed(c sql.CollationID, k byte, d sql.CollationID, l byte) (_ sql.CollationID, how byte, ok bool) {
	bin := func(c sql.CollationID) bool { return strings.HasSuffix(c.Name(), "_bin") }
	set, other := c.CharacterSet(), d.CharacterSet()
	switch {
	case d == sql.Collation_Unspecified, c != sql.Collation_Unspecified && c == d && k <= l:
		return c, k, true
	case c == sql.Collation_Unspecified, c == d:
		return d, l, true
	case c == sql.Collation_binary && k <= l:
		return c, k, true
	case c == sql.Collation_binary, d == sql.Collation_binary && l <= k:
		return d, l, true
	case d == sql.Collation_binary:
		return c, k, true
	case set != other && (wider(set, other) && k == l || k < l && (inUnicode(set) || other == sql.CharacterSet_ascii || l > 2)):
		return c, k, true
	case set != other && (wider(other, set) && k == l || l < k && (inUnicode(other) || set == sql.CharacterSet_ascii || k > 2)):
		return d, l, true
	case set != other, k == 0 && l == 0:
		return sql.Collation_binary, none, false
	case k < l, k == l && (bin(c) || k > 4):
		return c, k, true
	case l < k, bin(d):
		return d, l, true
	}
	return set.BinaryCollation(), none, true
}

func inUnicode(c sql.CharacterSetID) bool {
	return c == sql.CharacterSet_utf8mb4 || c == sql.CharacterSet_utf8mb3
}

// wider reports whether a character set has all characters of another.
func wider(c, d sql.CharacterSetID) bool {
	return c == sql.CharacterSet_utf8mb4 || inUnicode(c) && !inUnicode(d) || d == sql.CharacterSet_ascii
}

// virtual are databases whose texts go-mysql-server compares by itself.
var virtual = []string{"information_schema", "mysql", "performance_schema", "sys"}

// Collation returns the collation by which values are compared, collation.Bytes where they are by
// bytes, or not as texts. op names the comparison in errors.
func Collation(ctx *sql.Context, op string, list ...sql.Expression) (sql.CollationID, error) {
	c, k, text, fits := sql.CollationID(sql.Collation_Unspecified), byte(0), false, true
	for _, e := range list {
		if !e.Resolved() || types.IsDeferredType(e.Type(ctx)) {
			return collation.Bytes, nil
		}
		switch t := e.Type(ctx); {
		case t == types.Null:
			continue
		case types.IsTextOnly(t):
			text = true
		case !types.IsEnum(t) && !types.IsSet(t):
			return collation.Bytes, nil
		}
		if f, ok := e.(*expression.GetField); ok && slices.Contains(virtual, strings.ToLower(f.Database())) {
			return collation.Bytes, nil
		}
		d, l := collationOf(ctx, e)
		both, ok := k == 0 && l == 0, false
		if c, k, ok = mixed(c, k, d, l); !ok && both {
			return c, illegalMix(ctx, op, list)
		}
		fits = fits && ok
	}
	switch {
	case len(list) > 1 && (k == none || !fits && k > 0):
		return c, illegalMix(ctx, op, list)
	case !text || collation.ByBytes(c):
		return collation.Bytes, nil
	}
	return c, collation.Check(c)
}

// illegalMix is the error of texts that have no collation together.
func illegalMix(ctx *sql.Context, op string, list []sql.Expression) error {
	if len(list) > 3 {
		return mysql.NewSQLError(1271, "HY000", "Illegal mix of collations for operation '%s'", op)
	}
	var of []string
	for _, e := range list {
		c, k := collationOf(ctx, e)
		of = append(of, fmt.Sprintf("(%s,%s)", c.Name(), []string{"EXPLICIT", "NONE", "IMPLICIT", "SYSCONST", "COERCIBLE", "NUMERIC", "IGNORABLE"}[min(k, 6)]))
	}
	if len(of) == 3 {
		return mysql.NewSQLError(1270, "HY000", "Illegal mix of collations %s for operation '%s'", strings.Join(of, ", "), op)
	}
	return mysql.NewSQLError(1267, "HY000", "Illegal mix of collations %s for operation '%s'", strings.Join(of, " and "), op)
}

// inLatin1 reports whether an expression is a text of latin1, which is kept in UTF-8, and no
// constant whose bytes are the same in both.
func inLatin1(ctx *sql.Context, e sql.Expression) bool {
	if !e.Resolved() || !types.IsTextOnly(e.Type(ctx)) {
		return false
	}
	if l, ok := e.(*expression.Literal); ok {
		if s, ok := l.Value().(string); ok && collation.Outside(sql.CharacterSet_ascii, s) < 0 {
			return false
		}
	}
	c, _ := collationOf(ctx, e)
	return c != sql.Collation_Unspecified && c.CharacterSet() == sql.CharacterSet_latin1
}

// Collations are those of the columns of a node.
func Collations(ctx *sql.Context, n sql.Node) []sql.CollationID {
	columns := columnsOf(ctx, n)
	out := make([]sql.CollationID, len(columns))
	for i, c := range columns {
		if out[i] = c.by; collation.ByBytes(c.by) || !types.IsTextOnly(c.typ) {
			out[i] = collation.Bytes
		}
	}
	return out
}

// column is what Collations knows of a column.
type column struct {
	typ sql.Type
	by  sql.CollationID
	how byte
}

// columnOf finds a column among those of a node's only child.
func columnOf(ctx *sql.Context, children []sql.Node, f *expression.GetField) (column, bool) {
	for len(children) == 1 {
		if p, ok := children[0].(sql.Projector); ok {
			list := columnsOf(ctx, children[0])
			for i, e := range p.ProjectedExprs() {
				if id, ok := e.(sql.IdExpression); ok && id.Id() == f.Id() && i < len(list) {
					return list[i], true
				}
			}
			break
		}
		children = children[0].Children()
	}
	return column{}, false
}

func columnsOf(ctx *sql.Context, n sql.Node) []column {
	switch n := n.(type) {
	case *plan.Distinct, *plan.Sort, *plan.TopN, *plan.Limit, *plan.Offset, *plan.Filter, *plan.Having:
		return columnsOf(ctx, n.Children()[0])
	case *plan.SetOp:
		l, r := columnsOf(ctx, n.Left()), columnsOf(ctx, n.Right())
		for i := range min(len(l), len(r)) {
			l[i].by, l[i].how, _ = mixed(l[i].by, l[i].how, r[i].by, r[i].how)
		}
		return l
	}
	schema := n.Schema(ctx)
	out := make([]column, len(schema))
	p, ok := n.(sql.Projector)
	ok = ok && len(p.ProjectedExprs()) == len(schema)
	for i, c := range schema {
		switch out[i].typ = c.Type; {
		case !types.IsTextOnly(c.Type):
		case ok:
			a, _ := p.ProjectedExprs()[i].(*expression.Alias)
			known := false
			if a != nil {
				_, known = a.Child.(*collatedColumn)
			}
			if f := merged(p.ProjectedExprs()[i]); f != nil && !known {
				if x, ok := columnOf(ctx, n.Children(), f); ok {
					out[i].by, out[i].how = x.by, x.how
					continue
				}
			}
			out[i].by, out[i].how = collationOf(ctx, p.ProjectedExprs()[i])
		default:
			out[i].by, out[i].how = c.Type.(sql.TypeWithCollation).Collation(), 2
		}
	}
	return out
}
