package standard

import (
	"cmp"
	"crypto/sha256"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/collation"
	"scrim/internal/lists"
)

// summary is an aggregate of go-mysql-server with the type and the values that MySQL gives it.
type summary struct {
	sql.Aggregation
	typ    sql.Type                                         // nil for its own
	buffer func(child sql.Expression) sql.AggregationBuffer // nil for its own
}

var _ sql.FunctionExpression = (*summary)(nil)

// divIncrement is MySQL's div_precision_increment: the digits that a quotient has beyond its
// dividend.
const divIncrement = 4

// maxScale is the largest scale of a DECIMAL in MySQL.
const maxScale = 30

func init() {
	for name, of := range map[string]func(ctx *sql.Context, arg sql.Expression) sql.Expression{
		"sum": func(ctx *sql.Context, arg sql.Expression) sql.Expression {
			return asExact(ctx, aggregation.NewSum(arg), 0)
		},
		"avg": func(ctx *sql.Context, arg sql.Expression) sql.Expression {
			return asExact(ctx, aggregation.NewAvg(arg), divIncrement)
		},
		"json_arrayagg": func(_ *sql.Context, arg sql.Expression) sql.Expression {
			return &summary{aggregation.NewJsonArray(arg), nil, func(child sql.Expression) sql.AggregationBuffer {
				return &listBuffer{AggregationBuffer: aggregation.NewJsonArrayBuffer(child)}
			}}
		},
	} {
		wrap(name, func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
			if len(args) != 1 {
				return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), 1, len(args))
			}
			return of(ctx, args[0]), nil
		})
	}
}

// listBuffer is NULL of no rows.
type listBuffer struct {
	sql.AggregationBuffer
	rows bool
}

// Update implements sql.AggregationBuffer.
func (b *listBuffer) Update(ctx *sql.Context, row sql.Row) error {
	b.rows = true
	return b.AggregationBuffer.Update(ctx, row)
}

// Eval implements sql.AggregationBuffer.
func (b *listBuffer) Eval(ctx *sql.Context) (any, error) {
	if !b.rows {
		return nil, nil
	}
	return b.AggregationBuffer.Eval(ctx)
}

// asExact gives SUM or AVG of whole numbers or DECIMALs the answers of MySQL, which are DECIMALs:
// SUM has the scale of its argument, AVG four digits more, at most 30. go-mysql-server gives
// DOUBLEs.
func asExact(ctx *sql.Context, a sql.Aggregation, more int) sql.Aggregation {
	e := a.Children()[0]
	if d, ok := e.(*expression.DistinctExpression); ok {
		e = d.Child
	}
	x := Typed(ctx, e)
	n, ok := NumberOf(ctx, x)
	if !ok && temporal(x.Type(ctx)) {
		n, ok = OperandOf(ctx, x)
	}
	if !ok {
		return a
	}
	room := cmp.Or(more, 22) // a SUM has that of as many rows as a BIGINT counts (DECIMAL_LONGLONG_DIGITS)
	n = Number{Precision: n.Precision + room, Scale: n.Scale + more}.fit()
	typ := types.MustCreateDecimalType(uint8(n.Precision), uint8(n.Scale))
	return &summary{a, typ, func(child sql.Expression) sql.AggregationBuffer {
		return &exactBuffer{child: child, typ: typ, mean: more > 0}
	}}
}

// again is the aggregate with the type that its argument gives it now; ok is false of others than
// asExact's.
func (a *summary) again(ctx *sql.Context) (now sql.Aggregation, ok bool) {
	switch a.Aggregation.(type) {
	case *aggregation.Sum:
		return asExact(ctx, a.Aggregation, 0), true
	case *aggregation.Avg:
		return asExact(ctx, a.Aggregation, divIncrement), true
	}
	return nil, false
}

// choices are the values that an expression chooses from, nil for others.
func choices(e sql.Expression) []sql.Expression {
	switch e := e.(type) {
	case *gms.If:
		return e.Children()[1:]
	case *gms.IfNull, *gms.Coalesce:
		return e.Children()
	case *gms.NullIf:
		return e.Children()[:1]
	case *expression.Case:
		list := lists.Map(e.Branches, func(b expression.CaseBranch) sql.Expression { return b.Value })
		if e.Else != nil {
			list = append(list, e.Else)
		}
		return list
	case *expression.Alias:
		return []sql.Expression{e.Child}
	}
	return nil
}

// Plain returns go-mysql-server's own aggregate behind one of this package's.
func Plain(a sql.Aggregation) sql.Aggregation {
	if x, ok := a.(*summary); ok {
		return x.Aggregation
	}
	return a
}

// with is the same with another aggregate behind it. The type stays: a column that what is planned
// replaces by a wider one does not change what the answer is.
func (a *summary) with(x any) *summary { return &summary{x.(sql.Aggregation), a.typ, a.buffer} }

// Type implements sql.Expression.
func (a *summary) Type(ctx *sql.Context) sql.Type {
	if a.typ == nil {
		return a.Aggregation.Type(ctx)
	}
	return a.typ
}

// IsNullable implements sql.Expression: there is no spread of no values.
func (a *summary) IsNullable(ctx *sql.Context) bool {
	return a.typ == types.Float64 || a.Aggregation.IsNullable(ctx)
}

// FunctionName implements sql.FunctionExpression.
func (a *summary) FunctionName() string {
	return a.Aggregation.(sql.FunctionExpression).FunctionName()
}

// Description implements sql.FunctionExpression.
func (a *summary) Description() string {
	return a.Aggregation.(sql.FunctionExpression).Description()
}

// DebugString implements sql.DebugStringer.
func (a *summary) DebugString(ctx *sql.Context) string { return sql.DebugString(ctx, a.Aggregation) }

// WithChildren implements sql.Expression.
func (a *summary) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	x, err := a.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return a.with(x), nil
}

// WithId implements sql.IdExpression.
func (a *summary) WithId(id sql.ColumnId) sql.IdExpression { return a.with(a.Aggregation.WithId(id)) }

// WithWindow implements sql.WindowAdaptableExpression.
func (a *summary) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return a.with(a.Aggregation.WithWindow(ctx, w))
}

// NewBuffer implements sql.Aggregation.
func (a *summary) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	if a.buffer == nil {
		return a.Aggregation.NewBuffer(ctx)
	}
	child, err := transform.Clone(ctx, a.Children()[0])
	return a.buffer(child), err
}

// exactBuffer adds up without rounding.
type exactBuffer struct {
	child sql.Expression
	typ   sql.DecimalType
	mean  bool
	sum   apd.Decimal
	rows  int64
}

// Update implements sql.AggregationBuffer.
func (b *exactBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := operand(ctx, row, b.child)
	if d := decimalOf(v); d != nil && err == nil {
		b.rows++
		_, err = wide.Add(&b.sum, &b.sum, d)
	}
	return err
}

// Eval implements sql.AggregationBuffer.
func (b *exactBuffer) Eval(ctx *sql.Context) (any, error) {
	if b.rows == 0 {
		return nil, nil
	}
	out := &b.sum
	if b.mean {
		digits := max(int(b.typ.Scale())-divIncrement, -int(b.sum.Exponent))
		q, err := quotient(ctx, &b.sum, apd.New(b.rows, 0), int32(QuotientScale(digits, 0)))
		if err != nil {
			return nil, err
		}
		out = q.(*apd.Decimal)
	}
	return rounded(out, int(b.typ.Scale()), apd.RoundHalfUp), nil
}

// Dispose implements sql.Disposable.
func (b *exactBuffer) Dispose(ctx *sql.Context) { expression.Dispose(ctx, b.child) }

// A variance or a standard deviation is DOUBLE in MySQL, of whatever it is. go-mysql-server gives
// them their argument's type, and so rounds the spread of whole numbers to whole numbers. What it
// computes by sums of squares is off where numbers are large, too.
func init() {
	own := gms.NewRegistry()
	for _, name := range []string{"std", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"} {
		f, ok := own.Function(nil, "", name)
		if !ok {
			panic("standard: no function " + name)
		}
		wrap(name, func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
			e, err := f.NewInstance(ctx, args)
			if a, ok := e.(sql.Aggregation); ok && err == nil {
				return &summary{a, types.Float64, func(child sql.Expression) sql.AggregationBuffer {
					return &spreadBuffer{child: child, name: name}
				}}, nil
			}
			return e, err
		})
	}
}

// spreadBuffer computes a spread by MySQL's recurrence.
type spreadBuffer struct {
	child        sql.Expression
	name         string
	n, mean, sum float64
}

// Update implements sql.AggregationBuffer.
func (b *spreadBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := operand(ctx, row, b.child)
	if v == nil || err != nil {
		return err
	}
	b.n++
	by := doubleOf(ctx, v) - b.mean
	b.mean += by / b.n
	b.sum += by * (doubleOf(ctx, v) - b.mean)
	return nil
}

// Eval implements sql.AggregationBuffer.
func (b *spreadBuffer) Eval(*sql.Context) (any, error) {
	n := b.n
	if strings.HasSuffix(b.name, "samp") {
		n--
	}
	switch {
	case n <= 0:
		return nil, nil
	case strings.HasPrefix(b.name, "std"):
		return finite(math.Sqrt(b.sum/n), b.name+"()")
	}
	return finite(b.sum/n, b.name+"()")
}

// Dispose implements sql.Disposable.
func (b *spreadBuffer) Dispose(ctx *sql.Context) { expression.Dispose(ctx, b.child) }

// Joined is GROUP_CONCAT as MySQL computes it: of all its arguments, with empty texts, and with
// ORDER BY the position of an argument. args are the arguments of its ORDER BY and its own as they
// were bound, before anything was put around them.
func Joined(ctx *sql.Context, g *aggregation.GroupConcat, args []sql.Expression) (sql.Aggregation, error) {
	out := &joined{GroupConcat: g, own: len(args) - len(g.OutputExpressions())}
	zeros := make([]sql.Expression, len(args))
	out.weigh = make([]*Weighed, len(args))
	for i, e := range args {
		c, err := Collation(ctx, "group_concat", e)
		if err != nil {
			return nil, err
		}
		if use := collation.ForKey; !collation.ByBytes(c) {
			if i < out.own {
				use = collation.ForSort
			}
			out.weigh[i] = weighed(e, c, use).(*Weighed)
		}
		zeros[i] = expression.NewLiteral(int64(0), types.Int64)
	}
	z, err := g.WithChildren(ctx, zeros...) // its text tells what the node keeps to itself
	if err != nil {
		return nil, err
	}
	parts := joinedText.FindStringSubmatch(z.String())
	if parts == nil {
		return nil, sql.ErrInvalidArgument.New("GROUP_CONCAT")
	}
	out.distinct, out.separator = parts[1] != "", parts[3]
	for i, by := range strings.Split(parts[2], ",") {
		if i >= out.own {
			break
		}
		out.down = append(out.down, strings.HasSuffix(by, "DESC"))
	}
	return out, nil
}

var joinedText = regexp.MustCompile(`(?s)^group_concat\((distinct .*?)?0(?:, 0)*(?: order by ([^']*))? separator '(.*)'\)$`)

type joined struct {
	*aggregation.GroupConcat
	own       int    // how many of its children are those of ORDER BY
	down      []bool // of those
	distinct  bool
	separator string
	weigh     []*Weighed // by child, nil of those that compare by bytes
}

// NewBuffer implements sql.Aggregation.
func (j *joined) NewBuffer(*sql.Context) (sql.AggregationBuffer, error) {
	return &joinedBuffer{joined: j, seen: map[string]bool{}}, nil
}

type joinedBuffer struct {
	*joined
	seen map[string]bool
	rows []joinedRow
}

type joinedRow struct {
	text string
	by   []any
}

// Update implements sql.AggregationBuffer.
func (b *joinedBuffer) Update(ctx *sql.Context, row sql.Row) error {
	children := b.Children()
	values := make([]any, len(children))
	var text, key strings.Builder
	for i := b.own; i < len(children); i++ {
		var err error
		if values[i], err = evaluated(ctx, children[i], row); err != nil || values[i] == nil {
			return err
		}
		s, err := children[i].Type(ctx).SQL(ctx, nil, values[i])
		if err != nil {
			return err
		}
		by := s.ToString()
		if types.IsFloat(children[i].Type(ctx)) {
			shown, _ := words(ctx, values[i], types.Float64)
			text.WriteString(shown)
		} else {
			text.WriteString(by)
		}
		if b.weigh[i] != nil {
			by = b.weigh[i].Of(by)
		}
		writeApart(&key, by)
	}
	for i := range b.own {
		var err error
		if values[i], err = evaluated(ctx, children[i], row); err != nil {
			return err
		}
		if b.weigh[i] != nil && values[i] != nil {
			s, err := words(ctx, values[i], children[i].Type(ctx))
			if err != nil {
				return err
			}
			values[i] = b.weigh[i].Of(s)
		}
	}
	r := joinedRow{text: text.String()}
	if b.distinct && b.seen[key.String()] {
		return nil
	}
	b.seen[key.String()] = b.distinct
	r.by = values[:b.own]
	b.rows = append(b.rows, r)
	return nil
}

// writeApart writes one of several texts so that no others are the same together.
func writeApart(to *strings.Builder, s string) {
	to.WriteString(strconv.Itoa(len(s)))
	to.WriteByte(':')
	to.WriteString(s)
}

// Counted is COUNT(DISTINCT …) of texts of any length and any bytes. go-mysql-server's takes them
// for TEXT in UTF-8, and ('a,', 'b') for ('a', ',b').
func Counted(c *aggregation.CountDistinct) sql.Aggregation { return &counter{c} }

type counter struct{ *aggregation.CountDistinct }

// NewBuffer implements sql.Aggregation.
func (c *counter) NewBuffer(*sql.Context) (sql.AggregationBuffer, error) {
	return &counterBuffer{c.CountDistinct, map[[sha256.Size]byte]struct{}{}}, nil
}

type counterBuffer struct {
	*aggregation.CountDistinct
	seen map[[sha256.Size]byte]struct{}
}

// Update implements sql.AggregationBuffer.
func (b *counterBuffer) Update(ctx *sql.Context, row sql.Row) error {
	var key strings.Builder
	for _, e := range b.Children() {
		v, err := evaluated(ctx, e, row)
		if err != nil || v == nil {
			return err
		}
		if f, ok := v.(float32); ok { // by all of its digits
			v = float64(f)
		}
		s, err := words(ctx, v, e.Type(ctx))
		if err != nil {
			return err
		}
		writeApart(&key, s)
	}
	b.seen[sha256.Sum256([]byte(key.String()))] = struct{}{}
	return nil
}

// Eval implements sql.AggregationBuffer.
func (b *counterBuffer) Eval(*sql.Context) (any, error) { return int64(len(b.seen)), nil }

// Dispose implements sql.AggregationBuffer.
func (b *counterBuffer) Dispose(*sql.Context) {}

// evaluated returns the value of an expression, read whole.
func evaluated(ctx *sql.Context, e sql.Expression, row sql.Row) (any, error) {
	v, err := e.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	return sql.UnwrapAny(ctx, v)
}

// Eval implements sql.AggregationBuffer.
func (b *joinedBuffer) Eval(ctx *sql.Context) (any, error) {
	if len(b.rows) == 0 {
		return nil, nil
	}
	children := b.Children()
	var failed error
	slices.SortStableFunc(b.rows, func(x, y joinedRow) int {
		for i, down := range b.down {
			c := 0
			switch {
			case x.by[i] == nil || y.by[i] == nil:
				c = cmp.Compare(rank(x.by[i]), rank(y.by[i]))
			case b.weigh[i] != nil:
				c = strings.Compare(x.by[i].(string), y.by[i].(string))
			default:
				var err error
				if c, err = children[i].Type(ctx).Compare(ctx, x.by[i], y.by[i]); err != nil {
					failed = err
				}
			}
			if down {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	if failed != nil {
		return nil, failed
	}
	most, err := ctx.GetSessionVariable(ctx, "group_concat_max_len")
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for i, r := range b.rows {
		if i > 0 {
			text.WriteString(b.separator)
		}
		text.WriteString(r.text)
	}
	out := text.String()
	if n, ok := integer(ctx, most); ok && int64(len(out)) > n {
		for out = out[:n]; out != "" && !utf8.ValidString(out[max(0, len(out)-utf8.UTFMax):]) && utf8.ValidString(text.String()); {
			out = out[:len(out)-1]
		}
		ctx.Warn(1260, "%d line(s) were cut by GROUP_CONCAT()", 1)
	}
	return out, nil
}

// Dispose implements sql.Disposable.
func (b *joinedBuffer) Dispose(*sql.Context) {}

// rank is where NULL comes before values.
func rank(v any) int {
	if v == nil {
		return 0
	}
	return 1
}
