package hold

import (
	"cmp"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/internal/quota"
)

// window computes window functions. It keeps every row, sorts their numbers once for every
// different PARTITION BY and ORDER BY, and keeps all values of the functions.
func (b *Builder) window(ctx *sql.Context, a *quota.Account, n *plan.Window, row sql.Row) (sql.RowIter, error) {
	subqueries(ctx, n.SelectExprs...)
	w := &windows{account: a, columns: make([]sql.Expression, len(n.SelectExprs)), computed: make([]*windowed, len(n.SelectExprs))}
	for i, e := range n.SelectExprs {
		inner := e
		if alias, ok := e.(*expression.Alias); ok {
			inner = alias.Child
		}
		o, ok := inner.(*standard.Over)
		if !ok {
			if f, ok := inner.(sql.WindowAdaptableExpression); ok {
				if f.Window() != nil { // of a text that the grammar does not see, as a stored program's
					return nil, sql.ErrWindowUnsupported.New(f.String())
				}
				return nil, sql.ErrNonAggregatedColumnWithoutGroupBy.New(i+1, f.String())
			}
			w.columns[i] = &watched{Expression: e, account: a}
			continue
		}
		var err error
		if w.computed[i], err = newWindowed(ctx, a, o); err != nil {
			return nil, err
		}
		w.add(ctx, o.Window(), w.computed[i])
	}
	rows, err := b.child(ctx, a, n.Child, row)
	w.rows = rows
	return w, err
}

// windows is the iterator. Rows come out in the order in which they come in.
type windows struct {
	rows     sql.RowIter
	account  *quota.Account
	columns  []sql.Expression // by column: what is no function of a window
	computed []*windowed      // by column: the others
	sorts    []*ordering

	held  []sql.Row
	taken int64
	next  int
}

// add puts a function to those of the same order.
func (w *windows) add(ctx *sql.Context, def *sql.WindowDefinition, f *windowed) {
	s := &ordering{account: w.account}
	for _, e := range def.PartitionBy {
		s.keys, s.text = append(s.keys, sortKey{Expression: &watched{Expression: e, account: w.account}, typ: e.Type(ctx)}), s.text+e.String()+"\x00"
	}
	s.partition = len(s.keys)
	for _, c := range def.OrderBy {
		s.keys = append(s.keys, sortKey{&watched{Expression: c.Expr, account: w.account}, c.Expr.Type(ctx), c.Order == sql.Descending})
		s.text += c.String() + "\x01"
	}
	i := slices.IndexFunc(w.sorts, func(o *ordering) bool { return o.text == s.text })
	if i < 0 {
		i, w.sorts = len(w.sorts), append(w.sorts, s)
	}
	w.sorts[i].functions = append(w.sorts[i].functions, f)
}

// Next implements sql.RowIter.
func (w *windows) Next(ctx *sql.Context) (sql.Row, error) {
	if w.held == nil {
		w.held = []sql.Row{}
		if err := w.compute(ctx); err != nil {
			return nil, err
		}
	}
	if w.next == len(w.held) {
		return nil, io.EOF
	}
	out := make(sql.Row, len(w.columns))
	for i, e := range w.columns {
		if e == nil {
			out[i] = w.computed[i].values[w.next]
			continue
		}
		var err error
		if out[i], err = e.Eval(ctx, w.held[w.next]); err != nil {
			return nil, err
		}
	}
	w.next++
	return out, nil
}

// compute reads the rows and computes all functions.
func (w *windows) compute(ctx *sql.Context) error {
	for {
		row, err := w.rows.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		w.held = append(w.held, row)
	}
	return lists.Each(w.sorts, func(s *ordering) error { return s.compute(ctx, w) })
}

func (w *windows) take(n int64) error {
	if err := w.account.Take(n); err != nil {
		return err
	}
	w.taken += n
	return nil
}

// Close implements sql.RowIter.
func (w *windows) Close(ctx *sql.Context) error {
	w.account.Free(w.taken)
	w.taken, w.held, w.sorts, w.computed = 0, nil, nil, nil
	return w.rows.Close(ctx)
}

// sortKey is a key of an order: of PARTITION BY, or of ORDER BY.
type sortKey struct {
	sql.Expression
	typ  sql.Type
	desc bool
}

// ordering is the rows in the order of a PARTITION BY and an ORDER BY, and the functions of it.
type ordering struct {
	text      string // of both
	account   *quota.Account
	keys      []sortKey
	partition int // so many keys are of PARTITION BY
	functions []*windowed

	held   []sql.Row
	at     []int32 // by place: the row
	values []any   // by row, and key
	looked int
	// of the partition: where it begins and ends, and where each row's peers do, by place
	start, end  int
	first, last []int32
}

// keyAt is a key of the row at a place.
func (s *ordering) keyAt(place, key int) any { return s.values[int(s.at[place])*len(s.keys)+key] }

// row is the row at a place.
func (s *ordering) row(place int) sql.Row { return s.held[s.at[place]] }

// compute sorts, and computes the functions of each partition. What only the sorting needs is given
// back.
func (s *ordering) compute(ctx *sql.Context, w *windows) error {
	before := w.taken
	n := len(w.held)
	s.held = w.held
	if err := w.take(int64(n) * int64(12+16*len(s.keys))); err != nil {
		return err
	}
	s.at, s.values = make([]int32, n), make([]any, 0, n*len(s.keys))
	for i, row := range w.held {
		s.at[i] = int32(i)
		for _, k := range s.keys {
			v, err := k.Eval(ctx, row)
			if err == nil {
				v, err = sql.UnwrapAny(ctx, v)
			}
			if err != nil {
				return err
			}
			if err := w.take(quota.Size(v)); err != nil {
				return err
			}
			s.values = append(s.values, v)
		}
	}
	var failed error
	if len(s.keys) > 0 {
		slices.SortStableFunc(s.at, func(a, b int32) int {
			if failed != nil {
				return 0
			}
			var c int
			c, failed = s.compare(ctx, a, b, 0, len(s.keys))
			return c
		})
	}
	if failed != nil {
		return failed
	}
	spent := w.taken - before
	for s.start = 0; s.start < n; s.start = s.end {
		if err := s.delimit(ctx); err != nil {
			return err
		}
		if err := lists.Each(s.functions, func(f *windowed) error { return f.compute(ctx, s, w) }); err != nil {
			return err
		}
	}
	w.account.Free(spent)
	w.taken -= spent
	s.at, s.values, s.first, s.last = nil, nil, nil, nil
	return nil
}

// delimit finds the end of the partition that begins at s.start, and the peers in it.
func (s *ordering) delimit(ctx *sql.Context) error {
	s.first, s.last = s.first[:0], s.last[:0]
	begin := s.start
	over := func(end int) {
		for len(s.last) < end-s.start {
			s.last = append(s.last, int32(end))
		}
	}
	for s.end = s.start; s.end < len(s.at); s.end++ {
		if s.end > s.start {
			c, err := s.compare(ctx, s.at[s.end-1], s.at[s.end], 0, s.partition)
			if err != nil {
				return err
			}
			if c != 0 {
				break
			}
			if c, err = s.compare(ctx, s.at[s.end-1], s.at[s.end], s.partition, len(s.keys)); err != nil {
				return err
			}
			if c != 0 {
				over(s.end)
				begin = s.end
			}
		}
		s.first = append(s.first, int32(begin))
	}
	over(s.end)
	return nil
}

// compare compares two rows by some of the keys. NULL is less than everything, as in MySQL.
func (s *ordering) compare(ctx *sql.Context, a, b int32, from, to int) (int, error) {
	if s.looked++; s.looked%lookEvery == 0 {
		if err := look(ctx); err != nil {
			return 0, err
		}
	}
	for k := from; k < to; k++ {
		x, y := s.values[int(a)*len(s.keys)+k], s.values[int(b)*len(s.keys)+k]
		c, err := compareKeys(ctx, s.keys[k].typ, x, y)
		if err != nil {
			return 0, err
		}
		if s.keys[k].desc {
			c = -c
		}
		if c != 0 {
			return c, nil
		}
	}
	return 0, nil
}

// compareKeys compares two values of a type, of which NULL is the least.
func compareKeys(ctx *sql.Context, t sql.Type, a, b any) (int, error) {
	switch {
	case a == nil && b == nil:
		return 0, nil
	case a == nil:
		return -1, nil
	case b == nil:
		return 1, nil
	}
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), nil
		}
	}
	return t.Compare(ctx, a, b)
}
