package standard

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/lists"
	"scrim/internal/quota"
	"scrim/internal/refuse"
	"scrim/internal/turns"
)

// bound says what a function of texts takes to compute. Its arguments are computed first.
type bound struct {
	// length is how long the result will be, in bytes. One longer than max_allowed_packet is NULL,
	// as in MySQL, and is not computed. Nil: it is no longer than the arguments, or is looked at
	// when it is there.
	length func(ctx *sql.Context, args []any) int64
	// work is how many bytes the function needs for each byte of its arguments while it runs.
	work int64
	// most bounds the length of a result that is known only when it is there. Nil: length, or the
	// arguments' does.
	most func(args []any) int64
	// steps is how many steps it takes, where they grow faster than its arguments. More than
	// maxSteps are refused.
	steps func(args []any) int64
}

// maxSteps takes some seconds, within which nothing interrupts a function.
const maxSteps = 1 << 30

// squares are the steps of comparing each part of a value with each of another, of parts of so many
// bytes and of so many steps.
func squares(part, steps int64) func(a []any) int64 {
	return func(a []any) int64 { return times(steps*lengthOf(a[0])/part, lengthOf(a[1])/part+1) }
}

// nested is the steps of a geometry's text: collections within each other are read again and again.
func nested(a []any) int64 {
	s, _ := plainText(a[0])
	return times(int64(len(s)), int64(strings.Count(strings.ToLower(s), "geometrycollection")))
}

// matching is the steps of a regular expression, which are those of its program for each byte.
func matching(a []any) int64 {
	s, _ := plainText(a[1])
	if len(s) < 1024 && lengthOf(a[0]) < 4096 {
		return 0
	}
	p, err := PatternOf(s, "", false)
	if err != nil {
		return 0 // it is refused
	}
	re, err := syntax.Parse(p.text, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, _ := syntax.Compile(re.Simplify())
	return times(times(lengthOf(a[0])+1, int64(len(prog.Inst))), 4)
}

// bounds are the functions of texts by their names.
var bounds = map[string]bound{
	"repeat":         {length: repeatLength},
	"space":          {length: func(ctx *sql.Context, a []any) int64 { return max(0, number(ctx, a[0])) }},
	"lpad":           {length: padLength},
	"rpad":           {length: padLength},
	"concat":         {length: totalLength},
	"concat_ws":      {length: joinedLength},
	"replace":        {length: replacedLength},
	"insert":         {length: insertedLength, work: 4},
	"hex":            {length: func(ctx *sql.Context, a []any) int64 { return 2 * lengthOf(a[0]) }},
	"to_base64":      {length: func(ctx *sql.Context, a []any) int64 { return (lengthOf(a[0]) + 2) / 3 * 4 * 77 / 76 }},
	"quote":          {length: quotedLength},
	"export_set":     {length: exportedLength},
	"make_set":       {length: joinedLength},
	"regexp_replace": {most: func(a []any) int64 { return lengthOf(a[0]) + times(lengthOf(a[0])+1, 2*lengthOf(a[2])) }},
}

// readers need as many bytes for each byte of their arguments, and give back nothing longer than
// them.
var readers = map[int64]string{
	1: "length octet_length bit_length char_length character_length ascii ord crc32 md5 sha sha1 sha2 strcmp left right lower lcase upper ucase unhex " +
		"from_base64 ltrim rtrim soundex compress uncompress regexp_like regexp_instr regexp_substr",
	4:  "substring substr mid reverse instr locate field elt",
	16: "find_in_set substring_index",
	24: "json_array json_object json_array_append json_array_insert json_contains json_contains_path json_depth json_extract json_insert json_keys json_length " +
		"json_merge json_merge_patch json_merge_preserve json_overlaps json_pretty json_quote json_remove json_replace json_search json_set json_type " +
		"json_unquote json_valid json_storage_size",
}

func init() {
	define(function{name: "space", min: 1, max: 1, typ: types.LongText, eval: space, doc: "returns a text of so many spaces."})
	for work, names := range readers {
		for _, n := range strings.Fields(names) {
			bounds[n] = bound{work: work}
		}
	}
	for names, steps := range map[string]func(a []any) int64{
		"instr locate": squares(1, 1), "json_contains json_overlaps": squares(1, 16), "regexp_like regexp_instr regexp_substr regexp_replace": matching,
		"st_geomfromtext st_geometryfromtext st_geomcollfromtext st_geomcollfromtxt st_geometrycollectionfromtext": nested,
		"st_intersects st_within st_contains st_disjoint st_distance st_equal":                                     squares(16, 8),
	} {
		for _, n := range strings.Fields(names) {
			b := bounds[n]
			b.steps = steps
			bounds[n] = b
		}
	}
	for _, f := range gms.BuiltIns {
		builtIn[f.FunctionName()] = f
	}
}

// builtIn are the functions of go-mysql-server.
var builtIn = map[string]sql.Function{}

// bounded is a function of bounds, as it is called; nil where none has the name.
func bounded(name string) sql.Function {
	b, ok := bounds[name]
	if !ok {
		return nil
	}
	f := builtIn[name]
	if own := byName[name]; own != nil {
		f = own.function()
	}
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		return newBoundedCall(ctx, &boundedFunction{bound: b, of: f}, args)
	}}
}

// boundedFunction is a function with its bound.
type boundedFunction struct {
	bound
	of sql.Function
}

// boundedCall is a call of a function of texts that computes its arguments, looks at what the
// function is about to take, and then calls it with their values.
type boundedCall struct {
	texted // the function with its arguments, which is not evaluated
	f      *boundedFunction
	args   []sql.Expression
	call   sql.Expression // with the values, which are in a row
}

var _ sql.FunctionExpression = (*boundedCall)(nil)

func newBoundedCall(ctx *sql.Context, f *boundedFunction, args []sql.Expression) (sql.Expression, error) {
	whole, err := f.of.NewInstance(ctx, args)
	if err != nil {
		return nil, err
	}
	if !expression.ExpressionsResolved(args...) {
		return &boundedCall{texted: texted{whole}, f: f, args: args}, nil
	}
	slots := make([]sql.Expression, len(args))
	for i, a := range args {
		if slots[i] = a; !constant(a) {
			slots[i] = &slot{expression.NewGetField(i, a.Type(ctx), a.String(), true), a}
		}
	}
	docs, _, _, _ := documentsIn(ctx, whole)
	parsed(ctx, slots, docs)
	by := prepared(whole)
	for i, a := range slots {
		if t := a.Type(ctx); by != nil && (types.IsJSON(t) || types.IsDecimal(t)) {
			slots[i] = newCall(ctx, by, []sql.Expression{a})
		}
	}
	call, err := f.of.NewInstance(ctx, slots)
	if err != nil {
		return nil, err
	}
	if by == carried {
		call = restored(ctx, call)
	}
	return &boundedCall{texted: texted{whole}, f: f, args: args, call: call}, nil
}

// slot is an argument that has been computed.
type slot struct {
	*expression.GetField
	of sql.Expression
}

// Children implements sql.Expression. LIKE keeps a pattern in which it finds no column.
func (s *slot) Children() []sql.Expression { return []sql.Expression{s.GetField} }

// WithChildren implements sql.Expression.
func (s *slot) WithChildren(*sql.Context, ...sql.Expression) (sql.Expression, error) { return s, nil }

// CollationCoercibility implements sql.CollationCoercible.
func (s *slot) CollationCoercibility(ctx *sql.Context) (collation sql.CollationID, coercibility byte) {
	return collationOf(ctx, s.of)
}

// constant reports whether an argument is one that functions look at before they run.
func constant(e sql.Expression) bool {
	_, ok := e.(*expression.Literal)
	return ok
}

// small is the length below which a text is not counted, and below which max_allowed_packet cannot
// be.
const small = 1024

// Eval implements sql.Expression.
func (c *boundedCall) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if c.call == nil {
		return c.Expression.Eval(ctx, row)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	account := quota.Of(ctx)
	mark := account.Mark()
	values, total, err := c.values(ctx, account, row)
	if err != nil {
		return nil, err
	}
	if c.f.steps != nil && c.f.steps(values) > maxSteps {
		return nil, refuse.New(refuse.Unsupported, "%s would compute for too long on texts as long as these.", strings.ToUpper(c.FunctionName())).With("Give it shorter ones.")
	}
	done, err := step(ctx, total)
	if err != nil {
		return nil, err
	}
	defer func() { done() }()
	needed := int64(0)
	if c.f.length != nil {
		if needed = c.f.length(ctx, values); c.tooLong(ctx, needed) {
			account.Reset(mark)
			return nil, nil
		}
	}
	if c.f.most != nil {
		needed = c.f.most(values)
	}
	if err := account.Push(account.Mark(), counted(needed+c.f.work*total)); err != nil {
		return nil, err
	}
	if total < longStep {
		if done, err = step(ctx, needed); err != nil {
			return nil, err
		}
	}
	v, err := c.call.Eval(ctx, values)
	if err != nil {
		return nil, err
	}
	if types.IsText(c.call.Type(ctx)) && c.tooLong(ctx, lengthOf(v)) {
		v = nil
	}
	return v, account.Push(mark, counted(quota.Size(v)))
}

// values computes the arguments, and the length of all of them.
func (c *boundedCall) values(ctx *sql.Context, account *quota.Account, row sql.Row) (sql.Row, int64, error) {
	out, total := make(sql.Row, len(c.args)), int64(0)
	for i, a := range c.args {
		mark := account.Mark()
		v, err := evaluated(ctx, a, row)
		if err != nil {
			return nil, 0, err
		}
		n := quota.Size(v)
		if err := account.Push(mark, counted(n)); err != nil {
			return nil, 0, err
		}
		out[i], total = v, total+n
	}
	return out, total, nil
}

func counted(n int64) int64 {
	if n < small {
		return 0
	}
	return n
}

// Steps of a function by the bytes that it works on, some 1 to 5 for each nanosecond.
const (
	briefStep = 64 << 10 // looks at nothing below
	longStep  = 4 << 20  // takes milliseconds
)

// step takes turns with other statements before a step of a function.
func step(ctx *sql.Context, bytes int64) (done func(), err error) {
	switch {
	case bytes >= longStep:
		return turns.Of(ctx).Long(ctx)
	case bytes >= briefStep:
		return func() {}, turns.Of(ctx).Look(ctx)
	}
	return func() {}, nil
}

// tooLong warns of a text longer than max_allowed_packet.
func (c *boundedCall) tooLong(ctx *sql.Context, n int64) bool {
	if n <= small {
		return false
	}
	most := packet(ctx)
	if n <= most {
		return false
	}
	ctx.Warn(1301, "Result of %s() was larger than max_allowed_packet (%d) - truncated", c.FunctionName(), most)
	return true
}

// packet is max_allowed_packet.
func packet(ctx *sql.Context) int64 {
	v, err := ctx.GetSessionVariable(ctx, "max_allowed_packet")
	if err != nil {
		return math.MaxInt64
	}
	n, ok := integer(ctx, v)
	if !ok {
		return math.MaxInt64
	}
	return n
}

// FunctionName implements sql.FunctionExpression.
func (c *boundedCall) FunctionName() string {
	if f, ok := c.Expression.(sql.FunctionExpression); ok {
		return f.FunctionName()
	}
	return c.f.of.FunctionName()
}

// Description implements sql.FunctionExpression.
func (c *boundedCall) Description() string {
	if f, ok := c.Expression.(sql.FunctionExpression); ok {
		return f.Description()
	}
	return ""
}

// Children implements sql.Expression.
func (c *boundedCall) Children() []sql.Expression { return c.args }

// WithChildren implements sql.Expression.
func (c *boundedCall) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(c.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), len(c.args))
	}
	return newBoundedCall(ctx, c.f, children)
}

// space is SPACE(n). go-mysql-server's takes time by the square of n.
func space(ctx *sql.Context, a []any) (any, error) {
	return strings.Repeat(" ", int(max(0, number(ctx, a[0])))), nil
}

// lengthOf is how many bytes a value has as text, or a little more where it is none.
func lengthOf(v any) int64 {
	switch x := v.(type) {
	case nil:
		return 0
	case string:
		return int64(len(x))
	case []byte:
		return int64(len(x))
	case types.GeometryValue:
		return int64(len(x.Serialize()))
	}
	return 32 + quota.Size(v)
}

// number reads a whole number, 0 where there is none.
func number(ctx *sql.Context, v any) int64 {
	if v == nil {
		return 0
	}
	if s, ok := plainText(v); ok { // it ends where its first digits do
		n, _ := strconv.ParseInt(leading.FindString(strings.TrimLeft(s, " ")), 10, 64) // or the nearest
		return n
	}
	n, _ := integer(ctx, v)
	return n
}

var leading = regexp.MustCompile(`^[+-]?\d+`)

// times multiplies lengths, neither of which is negative, without overflow.
func times(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	if a > math.MaxInt64/4/b {
		return math.MaxInt64 / 4
	}
	return a * b
}

func repeatLength(ctx *sql.Context, a []any) int64 {
	return times(lengthOf(a[0]), max(0, number(ctx, a[1])))
}

// padLength: a text that is to be longer than max_allowed_packet is NULL also where the pad is
// empty.
func padLength(ctx *sql.Context, a []any) int64 { return max(0, number(ctx, a[1])) }

func totalLength(_ *sql.Context, a []any) (n int64) {
	n += lists.Sum(a, lengthOf)
	return n
}

// joinedLength is of texts behind a first one that separates them, or that is less than a
// separator.
func joinedLength(ctx *sql.Context, a []any) int64 {
	return totalLength(ctx, a[1:]) + times(max(1, lengthOf(a[0])), int64(max(0, len(a)-2)))
}

func replacedLength(_ *sql.Context, a []any) int64 {
	n, from, to := lengthOf(a[0]), lengthOf(a[1]), lengthOf(a[2])
	if to <= from || from == 0 {
		return n
	}
	s, ok := plainText(a[0])
	part, also := plainText(a[1])
	if !ok || !also {
		return n + times(n/from, to-from)
	}
	return n + times(int64(strings.Count(s, part)), to-from)
}

func plainText(v any) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case []byte:
		return string(x), true
	}
	return "", false
}

func insertedLength(_ *sql.Context, a []any) int64 { return lengthOf(a[0]) + lengthOf(a[3]) }

func quotedLength(_ *sql.Context, a []any) int64 {
	n := lengthOf(a[0]) + 2
	if s, ok := plainText(a[0]); ok {
		for _, c := range []string{"\\", "'", "\x00", "\x1a"} {
			n += int64(strings.Count(s, c))
		}
	}
	return n
}

// exportedLength is of EXPORT_SET(bits, on, off[, separator[, number]]), of 64 bits.
func exportedLength(_ *sql.Context, a []any) int64 {
	separator := int64(1)
	if len(a) > 3 {
		separator = lengthOf(a[3])
	}
	return times(64, max(lengthOf(a[1]), lengthOf(a[2]))+separator)
}
