package hold

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/internal/quota"
)

// windowed is a window function, and its values.
type windowed struct {
	name      string
	typ       sql.Type
	converts  bool // values are made ones of the type: LAG and LEAD with a default of another
	args      []sql.Expression
	n         int64 // NTILE's, NTH_VALUE's and LAG's number; -1 where NULL makes the value NULL
	frame     *frame
	aggregate *gathered
	parts     []part // the aggregates that it follows from over a frame that slides

	account *quota.Account
	values  []any // by row
}

// newWindowed checks what MySQL does when it prepares a window.
func newWindowed(ctx *sql.Context, a *quota.Account, o *standard.Over) (*windowed, error) {
	f := &windowed{name: o.Name, typ: o.Type(ctx), account: a, n: 1}
	if o.Window() == nil {
		return nil, sql.ErrWindowUnsupported.New(o.Name)
	}
	var err error
	if f.frame, err = newFrame(ctx, o.Window()); err != nil {
		return nil, err
	}
	if o.Aggregate != nil {
		if f.aggregate, err = newGathered(ctx, a, o.Aggregate); err != nil || !f.frame.slides() {
			return f, err
		}
		for _, name := range partsOf[o.Name] {
			p, err := newPart(ctx, a, o, name)
			if err != nil {
				return nil, err
			}
			f.parts = append(f.parts, p)
		}
		return f, nil
	}
	for _, e := range o.Args() {
		f.args = append(f.args, &watched{Expression: e, account: a})
	}
	f.converts = len(f.args) == 3
	switch {
	case o.Name == "ntile":
		err = f.number(ctx, o.Args()[0], 1, true)
	case o.Name == "nth_value":
		err = f.number(ctx, o.Args()[1], 1, true)
	case len(f.args) > 1:
		err = f.number(ctx, o.Args()[1], 0, false)
	}
	return f, err
}

// partsOf are the aggregates that another follows from, and that follow from their values over
// parts of the rows.
var partsOf = map[string][]string{
	"count": {"count"}, "sum": {"sum"}, "avg": {"sum", "count"}, "min": {"min"}, "max": {"max"},
	"bit_and": {"bit_and"}, "bit_or": {"bit_or"}, "bit_xor": {"bit_xor"},
}

// number reads the number of NTILE, NTH_VALUE, LAG and LEAD.
func (f *windowed) number(ctx *sql.Context, e sql.Expression, least int64, null bool) error {
	n, known, err := whole(ctx, e)
	if err != nil {
		return err
	}
	if known == nil && null {
		n = -1
	} else if n < least {
		return mysql.NewSQLError(mysql.ERWrongArguments, mysql.SSUnknownSQLState, "Incorrect arguments to %s", f.name)
	}
	f.n = n
	return nil
}

// whole is a constant, and as a whole number -1 where it is none from 0 on.
func whole(ctx *sql.Context, e sql.Expression) (int64, any, error) {
	v, err := constant(ctx, e)
	if err != nil || v == nil || !types.IsInteger(e.Type(ctx)) {
		return -1, v, err
	}
	n, fits, err := types.Int64.Convert(ctx, v)
	if err != nil || fits != sql.InRange || n.(int64) < 0 {
		return -1, v, nil
	}
	return n.(int64), v, nil
}

// constant is the value of an expression without columns.
func constant(ctx *sql.Context, e sql.Expression) (any, error) {
	var column error
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		if _, ok := e.(*expression.GetField); ok {
			column = mysql.NewSQLError(mysql.ERWrongArguments, mysql.SSUnknownSQLState, "The number of rows of a window must be a constant, not %s", e)
		}
		return column == nil
	})
	if column != nil {
		return nil, column
	}
	return e.Eval(ctx, nil)
}

// compute computes the values of a partition.
func (f *windowed) compute(ctx *sql.Context, s *ordering, w *windows) error {
	if f.values == nil {
		if err := w.take(int64(len(w.held)) * 24); err != nil {
			return err
		}
		f.values = make([]any, len(w.held))
	}
	if f.aggregate != nil {
		return f.aggregated(ctx, s, w)
	}
	size, dense := s.end-s.start, uint64(0)
	var frames func(int) (int, int, error)
	if f.name == "first_value" || f.name == "last_value" || f.name == "nth_value" {
		var err error
		if frames, err = f.frame.of(ctx, s); err != nil {
			return err
		}
	}
	for i := s.start; i < s.end; i++ {
		if (i+1)%lookEvery == 0 {
			if err := look(ctx); err != nil {
				return err
			}
		}
		first, last := int(s.first[i-s.start]), int(s.last[i-s.start])
		var v any
		var err error
		switch f.name {
		case "row_number":
			v = uint64(i - s.start + 1)
		case "rank":
			v = uint64(first - s.start + 1)
		case "dense_rank":
			if first == i {
				dense++
			}
			v = dense
		case "percent_rank":
			v = float64(first-s.start) / float64(max(1, size-1))
		case "cume_dist":
			v = float64(last-s.start) / float64(size)
		case "ntile":
			v = f.bucket(i-s.start, size)
		case "lag":
			v, err = f.shifted(ctx, s, i, i-int(min(f.n, int64(size))))
		case "lead":
			v, err = f.shifted(ctx, s, i, i+int(min(f.n, int64(size))))
		default:
			v, err = f.valueOf(ctx, s, i, frames)
		}
		if err != nil {
			return err
		}
		if err := f.put(s, w, i, v); err != nil {
			return err
		}
	}
	return nil
}

// put sets the value of the row at a place.
func (f *windowed) put(s *ordering, w *windows, place int, v any) error {
	f.values[s.at[place]] = v
	if n := quota.Size(v); n > 8 {
		return w.take(n)
	}
	return nil
}

// bucket is NTILE: the first buckets have a row more where the rows do not divide.
func (f *windowed) bucket(i, size int) any {
	if f.n < 0 {
		return nil
	}
	each, more := int64(size)/f.n, int64(size)%f.n
	at := int64(i)
	if large := more * (each + 1); at >= large {
		return uint64(more + (at-large)/each + 1)
	}
	return uint64(at/(each+1) + 1)
}

// shifted is LAG or LEAD of the row at place i, which is the argument at place j, or the default.
func (f *windowed) shifted(ctx *sql.Context, s *ordering, i, j int) (any, error) {
	var v any
	var err error
	switch {
	case s.start <= j && j < s.end:
		v, err = f.args[0].Eval(ctx, s.row(j))
	case len(f.args) == 3:
		v, err = f.args[2].Eval(ctx, s.row(i))
	}
	if err == nil && v != nil && f.converts {
		return converted(ctx, f.typ, v)
	}
	return v, err
}

// valueOf is FIRST_VALUE, LAST_VALUE or NTH_VALUE.
func (f *windowed) valueOf(ctx *sql.Context, s *ordering, i int, frames func(int) (int, int, error)) (any, error) {
	a, b, err := frames(i)
	if err != nil {
		return nil, err
	}
	at := a
	switch f.name {
	case "last_value":
		at = b - 1
	case "nth_value":
		at = a + int(min(f.n, int64(s.end)+1)) - 1
	}
	if at < a || at >= b || f.n < 0 {
		return nil, nil
	}
	return f.args[0].Eval(ctx, s.row(at))
}

// aggregated computes an aggregate over the frames of a partition. A frame that grows at one end
// takes the rows that come in; others are put together of two parts, or read anew.
func (f *windowed) aggregated(ctx *sql.Context, s *ordering, w *windows) error {
	frames, err := f.frame.of(ctx, s)
	if err != nil {
		return err
	}
	if f.parts != nil {
		return f.sliding(ctx, s, w, frames)
	}
	from, to, step := s.start, s.end, 1
	if f.frame.end.kind == unbounded && f.frame.start.kind != unbounded && !f.aggregate.all {
		from, to, step = s.end-1, s.start-1, -1 // from the last row on, each frame has those of the one before
	}
	var p pile
	defer func() { p.end(ctx, f.account) }()
	var v any
	for i := from; i != to; i += step {
		a, b, err := frames(i)
		if err != nil {
			return err
		}
		if i != from && a == p.a && b == p.b {
			f.values[s.at[i]] = v
			continue
		}
		grows := i != from && (a == p.a && b >= p.b || b == p.b && a <= p.a)
		if !grows || f.aggregate.all {
			if err := p.begin(ctx, f.account, f.aggregate, a); err != nil {
				return err
			}
		}
		if err := p.extend(ctx, f.account, s, a, b); err != nil {
			return err
		}
		if v, err = p.value(ctx); err != nil {
			return err
		}
		if err := f.put(s, w, i, v); err != nil {
			return err
		}
	}
	return nil
}

// pile is an aggregate of the rows at places from a to before b.
type pile struct {
	of     *gathered
	buffer sql.AggregationBuffer
	a, b   int
	kept   int64
}

// begin empties it. It stands at a place.
func (p *pile) begin(ctx *sql.Context, account *quota.Account, of *gathered, at int) error {
	p.end(ctx, account)
	var err error
	p.of, p.a, p.b = of, at, at
	p.buffer, err = of.aggregate.NewBuffer(ctx)
	return err
}

// end gives back what it holds.
func (p *pile) end(ctx *sql.Context, account *quota.Account) {
	if p.buffer != nil {
		p.buffer.Dispose(ctx)
		p.buffer = nil
	}
	account.Free(p.kept)
	p.kept = 0
}

// extend takes rows in at both ends.
func (p *pile) extend(ctx *sql.Context, account *quota.Account, s *ordering, a, b int) error {
	for p.b < b {
		if err := p.take(ctx, account, s.row(p.b), p.b); err != nil {
			return err
		}
		p.b++
	}
	for p.a > a {
		if err := p.take(ctx, account, s.row(p.a-1), p.a); err != nil {
			return err
		}
		p.a--
	}
	return nil
}

func (p *pile) take(ctx *sql.Context, account *quota.Account, row sql.Row, n int) error {
	if n%lookEvery == 0 {
		if err := look(ctx); err != nil {
			return err
		}
	}
	mark := account.Mark()
	defer account.Reset(mark)
	kept, err := p.of.update(ctx, p.buffer, row, p.kept)
	if err == nil {
		err = account.Take(kept - p.kept)
	}
	if err == nil {
		p.kept = kept
	}
	return err
}

// value is the aggregate so far, which later rows do not change.
func (p *pile) value(ctx *sql.Context) (any, error) {
	v, err := p.buffer.Eval(ctx)
	if d, ok := v.(*apd.Decimal); ok {
		v = new(apd.Decimal).Set(d)
	}
	return v, err
}

// sliding computes an aggregate over frames whose ends both move. Each is a tail of rows up to a
// place, all of whose tails are kept, and the rows from there on: so a row is taken twice, however
// long the frames are. Once a frame begins behind the place, there is a new one, where it ends.
func (f *windowed) sliding(ctx *sql.Context, s *ordering, w *windows, frames func(int) (int, int, error)) error {
	heads := make([]pile, len(f.parts))
	tails := make([][]any, len(f.parts)) // by part: from the place backwards
	defer func() {
		for k := range heads {
			heads[k].end(ctx, f.account)
		}
	}()
	place, held := s.start, int64(0)
	defer func() { f.account.Free(held) }()
	var v any
	lastA, lastB := -1, -1
	for i := s.start; i < s.end; i++ {
		a, b, err := frames(i)
		if err != nil {
			return err
		}
		if a == lastA && b == lastB {
			f.values[s.at[i]] = v
			continue
		}
		lastA, lastB = a, b
		parts := make([]any, len(f.parts))
		renewed := i == s.start || a > place
		if renewed {
			f.account.Free(held)
			held, place = 0, b
		}
		for k, of := range f.parts {
			if renewed {
				if tails[k], err = f.tailsOf(ctx, s, of.gathered, tails[k][:0], a, b, &held); err != nil {
					return err
				}
				if err := heads[k].begin(ctx, f.account, of.gathered, place); err != nil {
					return err
				}
			}
			if err := heads[k].extend(ctx, f.account, s, place, b); err != nil {
				return err
			}
			head, err := heads[k].value(ctx)
			if err != nil {
				return err
			}
			if parts[k] = head; a < place {
				if parts[k], err = of.together(ctx, tails[k][place-a-1], head); err != nil {
					return err
				}
			}
		}
		if v, err = f.quotient(parts); err != nil {
			return err
		}
		if err := f.put(s, w, i, v); err != nil {
			return err
		}
	}
	return nil
}

// tailsOf are the aggregates of the rows from each place up to before b, the last first.
func (f *windowed) tailsOf(ctx *sql.Context, s *ordering, of *gathered, list []any, a, b int, held *int64) ([]any, error) {
	var p pile
	defer func() { p.end(ctx, f.account) }()
	if err := p.begin(ctx, f.account, of, b); err != nil {
		return nil, err
	}
	for at := b - 1; at >= a; at-- {
		if err := p.extend(ctx, f.account, s, at, b); err != nil {
			return nil, err
		}
		v, err := p.value(ctx)
		if err != nil {
			return nil, err
		}
		n := quota.Size(v) + boxed
		if err := f.account.Take(n); err != nil {
			return nil, err
		}
		*held += n
		list = append(list, v)
	}
	return list, nil
}

// part is an aggregate that the values over two parts of the rows are enough for.
type part struct {
	*gathered
	again sql.Aggregation // of two values, nil for numbers of rows
}

func newPart(ctx *sql.Context, a *quota.Account, o *standard.Over, name string) (part, error) {
	agg, err := o.Beside(ctx, name)
	if err != nil {
		return part{}, err
	}
	g, err := newGathered(ctx, a, agg)
	if err != nil || name == "count" {
		return part{gathered: g}, err
	}
	again, err := agg.WithChildren(ctx, expression.NewGetField(0, agg.Type(ctx), name, true))
	if err != nil {
		return part{}, err
	}
	return part{g, again.(sql.Aggregation)}, nil
}

// together is the aggregate of both parts.
func (p part) together(ctx *sql.Context, x, y any) (any, error) {
	if p.again == nil {
		return x.(int64) + y.(int64), nil
	}
	b, err := p.again.NewBuffer(ctx)
	if err != nil {
		return nil, err
	}
	defer b.Dispose(ctx)
	if err := lists.Each([]any{x, y}, func(v any) error { return b.Update(ctx, sql.Row{v}) }); err != nil {
		return nil, err
	}
	return b.Eval(ctx)
}

// quotient is the function of its parts: AVG of the sum and the number, others of one part.
func (f *windowed) quotient(parts []any) (any, error) {
	if len(parts) == 1 || parts[0] == nil {
		return parts[0], nil
	}
	n := parts[1].(int64)
	if sum, ok := parts[0].(*apd.Decimal); ok {
		out := new(apd.Decimal)
		if _, err := divides.Quo(out, sum, apd.New(n, 0)); err != nil {
			return nil, err
		}
		if t, ok := f.typ.(sql.DecimalType); ok {
			return sql.DecimalRound(out, int32(t.Scale()))
		}
		return out, nil
	}
	return parts[0].(float64) / float64(n), nil
}

// divides has digits enough that rounding its quotients to a DECIMAL's scale rounds them once.
var divides = apd.BaseContext.WithPrecision(100)
