package lower

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/internal/refuse"
)

// Function is one entry of the allow-list of functions and operators.
type Function struct {
	Name      string   // in upper case, as SQL writes it
	Names     []string // all names of a function, in upper case; nil of an operator
	Signature string
	Remark    string // where the meaning on protected rows differs from MySQL's; may be empty
}

// entry is one line of the table that the translation and the documentation share.
type entry struct {
	names     string // in lower case, separated by spaces; the first is the usual one
	signature string
	remark    string
	// takes arguments of any kind itself; otherwise a NULL constant makes the result NULL
	lax   bool
	times bool // takes TIME values too
	raw   bool // lowers its arguments itself, for some are no values
	lower func(l *lowerer, c *call) (Expr, error)
}

// call is one use of a function.
type call struct {
	name string // as the node reports it
	node sql.FunctionExpression
	raw  []sql.Expression
	args []Expr
}

// has tells whether there is an i-th argument.
func (c *call) has(i int) bool { return i < len(c.args) }

// constantText is the i-th argument when it is a string constant.
func (c *call) constantText(i int) (string, bool) {
	if c.has(i) && c.args[i].text != nil {
		return *c.args[i].text, true
	}
	return "", false
}

// constantInt is the i-th argument when it is an integer constant.
func (c *call) constantInt(i int) (int64, bool) {
	if c.has(i) && c.args[i].number != nil {
		return *c.args[i].number, true
	}
	return 0, false
}

// needConstant is the refusal of an argument that has to be a constant.
func (c *call) needConstant(what string) error {
	return refuse.New(refuse.Expression, "%s needs a constant %s on protected rows.", strings.ToUpper(c.name), what)
}

// operators documents what the dispatcher translates without being a function.
var operators = []Function{
	{Name: "=, <=>, <>, <, <=, >, >=", Signature: "a = b", Remark: "strings compare by code point; a string beside a number is read as a number; rows of values with = and IN only"},
	{Name: "AND, OR, NOT, XOR", Signature: "a AND b", Remark: ""},
	{Name: "IS [NOT] NULL, IS [NOT] TRUE, IS [NOT] FALSE", Signature: "a IS NULL", Remark: ""},
	{Name: "BETWEEN", Signature: "a BETWEEN b AND c", Remark: ""},
	{Name: "IN", Signature: "a IN (b, …)", Remark: "a list, not a subquery"},
	{Name: "LIKE", Signature: "a LIKE 'pattern' [ESCAPE 'c']", Remark: "a constant pattern; case sensitive"},
	{Name: "CASE", Signature: "CASE [a] WHEN b THEN c … [ELSE d] END", Remark: ""},
	{Name: "+, -, *", Signature: "a + b", Remark: "overflow is NULL, and a BIGINT UNSIGNED below 0 is the number that it is; DECIMAL has at most 38 digits"},
	{Name: "/", Signature: "a / b", Remark: "division by zero is NULL; each quotient is rounded to four more fractional digits than its dividend has"},
	{Name: "DIV, %", Signature: "a DIV b", Remark: "division by zero is NULL"},
	{Name: "CAST, CONVERT", Signature: "CAST(a AS SIGNED | UNSIGNED | DECIMAL(p,s) | DOUBLE | FLOAT | CHAR[(n)] | DATE | DATETIME[(n)])", Remark: "a value out of range is NULL"},
	{Name: "BINARY", Signature: "BINARY a", Remark: "a as text, which compares by its bytes anyhow"},
	{Name: "constants of the statement", Signature: "NOW(), CURDATE(), USER(), DATABASE(), @@variable, @variable", Remark: "evaluated once, when the statement is planned"},
}

// table is every function of the allow-list, byName finds one by the name that its node reports.
// build fills both.
var (
	table  []entry
	byName map[string]*entry
)

// Functions returns the allow-list: the operators, then the functions in the order of their names.
func Functions() []Function {
	var fs []Function
	for _, f := range table {
		names := strings.Fields(strings.ToUpper(f.names))
		usual, _, _ := strings.Cut(f.signature, "(")
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == usual })
		remark := f.remark
		if len(others) > 0 {
			also := "also " + strings.Join(others, ", ")
			if remark != "" {
				also += "; " + remark
			}
			remark = also
		}
		fs = append(fs, Function{Name: names[0], Names: names, Signature: f.signature, Remark: remark})
	}
	sort.Slice(fs, func(i, j int) bool { return fs[i].Signature < fs[j].Signature })
	return append(append([]Function(nil), operators...), fs...)
}

// Constants lists the functions whose value is fixed for a statement, in upper case.
func Constants() []string {
	list := slices.Sorted(maps.Keys(constants))
	for i, n := range list {
		list[i] = strings.ToUpper(n)
	}
	return list
}

// Forbidden returns why no list will ever hold a function, by its name in lower case; "" of others.
func Forbidden(name string) string { return forbidden[name] }

// forbidden gives the reason for functions that no list will ever hold.
var forbidden = map[string]string{
	"sleep": "it stalls", "benchmark": "it stalls", "get_lock": "it has a side effect", "release_lock": "it has a side effect",
	"release_all_locks": "it has a side effect", "is_free_lock": "it depends on other sessions", "is_used_lock": "it depends on other sessions",
	"load_file": "it reads files", "rand": "it is not deterministic", "random_bytes": "it is not deterministic",
	"uuid": "it is not deterministic", "uuid_short": "it is not deterministic",
	"last_insert_id": "it has a side effect", "row_count": "it depends on other statements", "found_rows": "it depends on other statements",
}

// call translates a function by the table.
func (l *lowerer) call(e sql.FunctionExpression) (Expr, error) {
	name := strings.ToLower(e.FunctionName())
	if statementConstant(name, e) || folded[name] && literals(e) {
		return l.fold(e)
	}
	f := byName[name]
	if f == nil {
		if why := forbidden[name]; why != "" {
			return Expr{}, refuse.New(refuse.Expression, "%s() is not allowed on protected rows: %s.", strings.ToUpper(name), why)
		}
		return Expr{}, refuse.New(refuse.Expression, "%s() is not allowed on protected rows.", strings.ToUpper(name))
	}
	c := &call{name: name, node: e, raw: e.Children()}
	if !f.raw {
		for _, child := range c.raw {
			x, err := l.expr(child)
			if err != nil {
				return x, err
			}
			c.args = append(c.args, x)
		}
	}
	return f.apply(l, c)
}

// apply checks the arguments' kinds and calls the translation.
func (f *entry) apply(l *lowerer, c *call) (Expr, error) {
	for _, x := range c.args {
		if !f.lax && x.Type.Kind == Null {
			return null(), nil
		}
		if !f.lax && !scalar(x.Type.Kind) && !(x.Type.Kind == Time && f.times) {
			return Expr{}, c.kindRefusal()
		}
	}
	return f.lower(l, c)
}

func (c *call) kindRefusal() error {
	return refuse.New(refuse.Expression, "%s() of a JSON, TIME, binary or vector value is not allowed on protected rows.", strings.ToUpper(c.name))
}

func init() { table, byName = build() }

func build() ([]entry, map[string]*entry) {
	var all []entry
	for _, part := range [][]entry{control, numericFunctions, stringFunctions, dateFunctions, vectors} {
		all = append(all, part...)
	}
	m := map[string]*entry{}
	for i := range all {
		for _, n := range strings.Fields(all[i].names) {
			if m[n] != nil {
				panic("lower: function listed twice: " + n)
			}
			m[n] = &all[i]
		}
	}
	return all, m
}

// constants names the functions whose value is fixed for a statement. GMS keeps the time of the
// statement in its context, so two uses agree.
var constants = map[string]bool{
	"now": true, "current_timestamp": true, "localtime": true, "localtimestamp": true, "curdate": true, "current_date": true,
	"curtime": true, "current_time": true, "utc_timestamp": true, "utc_date": true, "utc_time": true,
	"user": true, "current_user": true, "session_user": true, "system_user": true, "database": true, "schema": true,
	"version": true, "connection_id": true, "pi": true,
}

var today = map[string]bool{"curdate": true, "current_date": true, "utc_date": true}

// folded names the functions of constants that tools write where a constant is needed, such as LIKE
// CONCAT('%', 'text', '%').
var folded = map[string]bool{"concat": true, "lower": true, "upper": true, "lcase": true, "ucase": true, "convert_tz": true}

// literals tells whether all arguments are literals, system variables or folded calls of these.
func literals(e sql.Expression) bool {
	for _, c := range e.Children() {
		switch c := c.(type) {
		case *expression.Literal, *expression.SystemVar:
		case sql.FunctionExpression:
			if !folded[strings.ToLower(c.FunctionName())] || !literals(c) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// statementConstant tells whether a call is fixed for the statement: one of the names with constant
// arguments, or UNIX_TIMESTAMP() without an argument.
func statementConstant(name string, e sql.FunctionExpression) bool {
	if name == "unix_timestamp" {
		return len(e.Children()) == 0
	}
	if !constants[name] {
		return false
	}
	return !slices.ContainsFunc(e.Children(), func(c sql.Expression) bool {
		_, ok := c.(*expression.Literal)
		return !ok
	})
}

// fold evaluates a constant of the statement and binds its value.
func (l *lowerer) fold(e sql.Expression) (Expr, error) {
	v, err := e.Eval(l.ctx, nil)
	if err != nil {
		return Expr{}, refuse.New(refuse.Expression, "%s has no value.", e.String())
	}
	x, err := l.literal(v, e.Type(l.ctx))
	if f, ok := e.(sql.FunctionExpression); ok && err == nil && x.text != nil && today[strings.ToLower(f.FunctionName())] {
		return l.toDate(x), nil // GMS gives the date of today as text
	}
	return x, err
}
