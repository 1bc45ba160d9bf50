package dialect

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// What a statement may hold. Nothing ends the planning of a statement before its end, neither KILL
// nor max_execution_time: it has to be short by itself. Most of it takes linear time; what takes
// the square of a number or more has a limit here, at about a second.
const (
	// maxTables is MySQL's own limit on what one SELECT joins, subqueries in its conditions
	// included; allTables is of a statement, where a common table expression counts again wherever
	// it is named.
	maxTables = 61
	allTables = 400
	// maxLevels is MySQL's own limit on how deep SELECTs stand in each other, maxUnions how many a
	// statement may put together.
	maxLevels = 63
	maxUnions = 400
	// maxColumns is MySQL's own limit on a list of columns: of a result, of an order, and of keys.
	maxColumns = 4096
	// maxOperands is how many conditions AND, OR and XOR may put together.
	maxOperands = 5000
	// maxNesting bounds the sum over all parts of expressions of how much deeper than freeDepth
	// they stand, where 1+1+1 is two deep at its first. A sum of 2000 terms is at the limit.
	maxNesting = 4_000_000
	freeDepth  = 16
	// maxDigits is of a number; reading one takes the square of its digits.
	maxDigits = 1024
	// harmless is the length of a text that cannot reach a limit.
	harmless = 2 * maxTables
)

// measure adds up what a statement holds.
type measure struct {
	weight
	common map[string]*common // by their names in lower case
	seen   map[*ast.With]bool // that were measured
	err    error
}

// weight is what is added up.
type weight struct{ tables, unions, operands, nesting int }

// common is a common table expression that was seen. What it holds counts wherever it is named, and
// once where it is not.
type common struct {
	weight
	named bool
}

// place is where a node stands.
type place struct {
	depth  int    // of expressions
	levels int    // of SELECTs
	joined *int   // tables of the SELECT
	asked  bool   // in a condition of the SELECT
	chain  string // the operator, where the node is an operand of AND, OR or XOR
}

// bounded refuses a statement that has too much of something to be planned soon.
func bounded(s ast.Statement, text string) error {
	if err := digitsOf(s); err != nil {
		return err
	}
	if len(text) <= harmless || s == nil {
		return nil
	}
	var m measure
	m.statement(s)
	for _, c := range m.common {
		m.unnamed(c)
	}
	return m.err
}

// digitsOf refuses columns of types with more digits than MySQL has.
func digitsOf(s ast.Statement) error {
	var specs []*ast.DDL
	switch n := s.(type) {
	case *ast.DDL:
		specs = []*ast.DDL{n}
	case *ast.AlterTable:
		specs = n.Statements
	}
	number := func(v *ast.SQLVal) (n int) {
		if v != nil {
			n, _ = strconv.Atoi(string(v.Val))
		}
		return n
	}
	for _, d := range specs {
		if d.TableSpec == nil {
			continue
		}
		for _, c := range d.TableSpec.Columns {
			name, n, scale, most := c.Name.String(), number(c.Type.Length), number(c.Type.Scale), 65
			switch strings.ToLower(c.Type.Type) {
			case "time", "datetime", "timestamp":
				most = 6
			case "decimal", "numeric", "dec", "fixed":
			case "bit":
				if n > 64 {
					return mysql.NewSQLError(1439, "42000", "Display width out of range for column '%s' (max = 64)", name)
				}
				continue
			default:
				continue
			}
			switch {
			case scale > 30:
				return mysql.NewSQLError(1425, "42000", "Too big scale %d specified for column '%s'. Maximum is 30.", scale, name)
			case n > most:
				return mysql.NewSQLError(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is %d.", n, name, most)
			case scale > n && c.Type.Length != nil && most > 6:
				return mysql.NewSQLError(1427, "42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%s').", name)
			}
		}
	}
	return nil
}

func (m *measure) statement(s ast.SQLNode) {
	top := place{joined: new(int)}
	switch n := s.(type) {
	case *ast.Explain:
		m.statement(n.Statement)
	case *ast.DDL:
		if n.OptSelect != nil {
			m.node(n.OptSelect.Select, top)
		}
		if n.ViewSpec != nil {
			m.node(n.ViewSpec.ViewExpr, top)
		}
	default:
		m.node(s, top)
	}
}

// node measures a node and what is below it.
func (m *measure) node(n ast.SQLNode, at place) {
	if n == nil || m.err != nil {
		return
	}
	if e, ok := n.(ast.Expr); ok {
		at = m.expression(e, at)
	}
	switch n := n.(type) {
	case *ast.SQLVal:
		if n != nil && (n.Type == ast.IntVal || n.Type == ast.FloatVal) && len(n.Val) > maxDigits {
			m.refuse(1367, "Illegal DECIMAL '%.20s…' value found during parsing: a number can have %d digits", n.Val, maxDigits)
		}
		return
	case *ast.NullVal, *ast.ColName, ast.Comments: // most of a long statement: nothing is below
		return
	case *ast.With:
		m.with(n, at)
		return
	case *ast.Insert:
		m.with(n.With, at) // before what names its expressions
	case *ast.Update:
		m.with(n.With, at)
	case *ast.Delete:
		m.with(n.With, at)
	case *ast.Subquery:
		if at.asked {
			m.join(at) // it may become one
		}
	case *ast.Where, ast.JoinCondition:
		at.asked = true
	case *ast.Select:
		if n == nil {
			return
		}
		at = m.block(at)
		m.list(len(n.SelectExprs))
		m.list(len(n.GroupBy))
		m.list(len(n.OrderBy))
	case *ast.SetOp:
		if n == nil {
			return
		}
		if m.unions++; m.unions >= maxUnions {
			m.refuse(1473, "Too many SELECTs in unions: a statement can have %d", maxUnions)
		}
		m.list(len(n.OrderBy))
		m.with(n.With, at)
		m.node(n.OrderBy, at)
	case *ast.AliasedTableExpr:
		m.join(at)
		m.name(n.Expr)
		at.asked = false
	}
	m.below(n, at)
}

// below measures the nodes right below one.
func (m *measure) below(n ast.SQLNode, at place) {
	self := true
	_ = ast.Walk(func(child ast.SQLNode) (bool, error) {
		if self {
			self = false
			return true, nil
		}
		m.node(child, at)
		return false, m.err
	}, n)
}

// expression notes an expression. Operands of the same AND, OR or XOR are all as deep as the first.
func (m *measure) expression(e ast.Expr, at place) place {
	chain := ""
	switch e.(type) {
	case *ast.AndExpr:
		chain = "and"
	case *ast.OrExpr:
		chain = "or"
	case *ast.XorExpr:
		chain = "xor"
	}
	if chain != "" {
		if m.operands++; m.operands >= maxOperands {
			m.refuse(1436, "Too many conditions: AND, OR and XOR can put %d of them together in a statement; use IN for a list of values", maxOperands)
		}
	}
	if chain == "" || chain != at.chain {
		at.depth++
	}
	at.chain = chain
	m.nesting += max(0, at.depth-freeDepth)
	if m.nesting > maxNesting {
		m.refuse(1436, "Expressions are nested too deep: a sum, or another chain of operators, can have about 2000 terms; write several statements")
	}
	return at
}

// block notes a SELECT, whose tables are counted anew.
func (m *measure) block(at place) place {
	at.levels++
	at.joined, at.asked, at.chain = new(int), false, ""
	if at.levels > maxLevels {
		m.refuse(1473, "Too high level of nesting for select")
	}
	return at
}

func (m *measure) join(at place) {
	*at.joined++
	m.tables++
	if *at.joined > maxTables {
		m.refuse(1116, "Too many tables; MySQL can only use %d tables in a join", maxTables)
	}
	if m.tables > allTables {
		m.refuse(1116, "Too many tables; a statement can use %d", allTables)
	}
}

// with measures common table expressions, in their order.
func (m *measure) with(w *ast.With, at place) {
	if w == nil || m.seen[w] {
		return
	}
	if m.seen == nil {
		m.seen, m.common = map[*ast.With]bool{}, map[string]*common{}
	}
	m.seen[w] = true
	for _, c := range w.Ctes {
		before := m.weight
		m.node(c, at)
		found := &common{weight: weight{m.tables - before.tables, m.unions - before.unions, m.operands - before.operands, m.nesting - before.nesting}}
		m.weight = before
		name := strings.ToLower(c.As.String())
		// the same name in another part of the statement, which may be what is meant
		if old := m.common[name]; old != nil {
			m.unnamed(old)
			found.weight = weight{max(old.tables, found.tables), max(old.unions, found.unions), max(old.operands, found.operands), max(old.nesting, found.nesting)}
		}
		m.common[name] = found
	}
}

// name adds what a common table expression holds where it is named: it is planned there. Without
// that a few of them, each of which names the one before it twice, would be as many tables as
// memory holds.
func (m *measure) name(e ast.SimpleTableExpr) {
	t, ok := e.(ast.TableName)
	if !ok || !t.DbQualifier.IsEmpty() {
		return
	}
	if c := m.common[strings.ToLower(t.Name.String())]; c != nil {
		c.named = true
		m.add(c.weight)
	}
}

func (m *measure) unnamed(c *common) {
	if !c.named {
		m.add(c.weight)
	}
}

func (m *measure) add(w weight) {
	m.tables, m.unions, m.operands, m.nesting = m.tables+w.tables, m.unions+w.unions, m.operands+w.operands, m.nesting+w.nesting
	switch {
	case m.tables > allTables:
		m.refuse(1116, "Too many tables; a statement can use %d, and those of a common table expression count wherever it is named", allTables)
	case m.unions >= maxUnions:
		m.refuse(1473, "Too many SELECTs in unions: a statement can have %d, and those of a common table expression count wherever it is named", maxUnions)
	case m.operands >= maxOperands || m.nesting > maxNesting:
		m.refuse(1436, "Too many conditions, or expressions nested too deep: those of a common table expression count wherever it is named; write several statements")
	}
}

func (m *measure) list(n int) {
	if n > maxColumns {
		m.refuse(1117, "Too many columns")
	}
}

func (m *measure) refuse(number int, format string, args ...any) {
	if m.err == nil {
		m.err = mysql.NewSQLError(number, "HY000", format, args...)
	}
}
