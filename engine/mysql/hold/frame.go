package hold

import (
	"cmp"
	"context"
	"math"
	"sort"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/functions/standard"
)

// Errors of MySQL about frames.
const (
	errFrameIllegal  = 3586
	errRangeOrder    = 3587
	errRangeTemporal = 3588
	errRangeNumeric  = 3589
)

// endKind is what an end of a frame is counted from.
type endKind int

const (
	currentRow endKind = iota
	preceding
	following
	unbounded
)

// frameEnd is one end.
type frameEnd struct {
	kind endKind
	rows int64                 // of ROWS
	by   any                   // of RANGE: a number of the key's kind
	span *expression.TimeDelta // of RANGE over times
}

// frame is the rows from one end to the other.
type frame struct {
	ranged     bool
	start, end frameEnd
	scale      scale // of the key, where RANGE has a distance
}

// newFrame reads the frame of a window. By default it is the partition up to the row's last peer.
func newFrame(ctx *sql.Context, w *sql.WindowDefinition) (*frame, error) {
	f := &frame{ranged: true, start: frameEnd{kind: unbounded}}
	if w.Frame == nil {
		return f, nil
	}
	f.ranged = standard.Ranged(w.Frame)
	read := func(end *frameEnd, without bool, before, after sql.Expression) error {
		switch {
		case without:
			end.kind = unbounded
		case before != nil:
			end.kind = preceding
			return f.distance(ctx, w, end, before)
		case after != nil:
			end.kind = following
			return f.distance(ctx, w, end, after)
		default:
			end.kind = currentRow
		}
		return nil
	}
	if err := read(&f.start, w.Frame.UnboundedPreceding(), w.Frame.StartNPreceding(), w.Frame.StartNFollowing()); err != nil {
		return nil, err
	}
	return f, read(&f.end, w.Frame.UnboundedFollowing(), w.Frame.EndNPreceding(), w.Frame.EndNFollowing())
}

// slides reports whether both ends move.
func (f *frame) slides() bool { return f.start.kind != unbounded && f.end.kind != unbounded }

// frameError is an error about a window, by its name.
func frameError(w *sql.WindowDefinition, code int, text string) error {
	name := cmp.Or(w.Name, "<unnamed window>")
	return mysql.NewSQLError(code, mysql.SSUnknownSQLState, text, name)
}

// distance reads how far an end is from the row.
func (f *frame) distance(ctx *sql.Context, w *sql.WindowDefinition, end *frameEnd, e sql.Expression) error {
	illegal := frameError(w, errFrameIllegal, "Window '%s': frame start or end is negative, NULL or of non-integral type")
	span, interval := e.(*expression.Interval)
	if !f.ranged {
		if interval {
			return illegal
		}
		n, _, err := whole(ctx, e)
		if end.rows = n; err == nil && n < 0 {
			return illegal
		}
		return err
	}
	if len(w.OrderBy) == 1 && f.scale == none {
		f.scale = scaleOf(w.OrderBy[0].Expr.Type(ctx))
	}
	temporal := f.scale == times || f.scale == spans
	switch {
	case f.scale == none:
		return frameError(w, errRangeOrder, "Window '%s' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type")
	case temporal && !interval:
		return frameError(w, errRangeTemporal, "Window '%s' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.")
	case !temporal && interval:
		return frameError(w, errRangeNumeric, "Window '%s' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.")
	}
	var err error
	if interval {
		if end.span, err = span.EvalDelta(ctx, nil); err == nil && (end.span == nil || negative(*end.span)) {
			return illegal
		}
		return err
	}
	if end.by, err = constant(ctx, e); err != nil {
		return err
	}
	n, err := types.InternalDecimalType.ConvertToDecimal(end.by)
	if end.by == nil || err != nil || n == nil || n.Sign() < 0 {
		return illegal
	}
	if f.scale == integers && !types.IsInteger(e.Type(ctx)) {
		f.scale = decimals
	}
	return nil
}

func negative(d expression.TimeDelta) bool {
	return min(d.Years, d.Months, d.Days, d.Hours, d.Minutes, d.Seconds, d.Microseconds) < 0
}

// of returns what tells the frame of the row at a place of the partition: from a to before b.
func (f *frame) of(ctx *sql.Context, s *ordering) (func(i int) (a, b int, err error), error) {
	if !f.ranged {
		return func(i int) (int, int, error) {
			a, b := s.start, s.end
			size := int64(s.end - s.start)
			if f.start.kind != unbounded {
				a = i + int(f.start.kind.sign()*min(f.start.rows, size))
			}
			if f.end.kind != unbounded {
				b = i + int(f.end.kind.sign()*min(f.end.rows, size)) + 1
			}
			a, b = min(max(a, s.start), s.end), min(max(b, s.start), s.end)
			return a, max(a, b), nil
		}, nil
	}
	r := &ranging{frame: f, s: s, from: s.start, to: s.end, group: -1}
	if f.scale == none {
		return r.frameAt, nil
	}
	for r.from < s.end && s.keyAt(r.from, s.partition) == nil {
		r.from++
	}
	for r.to > r.from && s.keyAt(r.to-1, s.partition) == nil {
		r.to--
	}
	return r.frameAt, nil
}

// sign is the direction of an end.
func (k endKind) sign() int64 {
	switch k {
	case preceding:
		return -1
	case following:
		return 1
	}
	return 0
}

// ranging finds frames of values in a partition.
type ranging struct {
	*frame
	s        *ordering
	from, to int // the places whose keys are not NULL
	group    int // where the peers begin whose frame is a, b
	a, b     int
}

// frameAt returns the frame of the row at a place. Rows whose key is NULL are at no distance from
// any but their peers.
func (r *ranging) frameAt(i int) (int, int, error) {
	first, last := int(r.s.first[i-r.s.start]), int(r.s.last[i-r.s.start])
	if first == r.group {
		return r.a, r.b, nil
	}
	r.group, r.a, r.b = first, first, last
	var err error
	switch {
	case r.start.kind == unbounded:
		r.a = r.s.start
	case r.start.kind != currentRow:
		r.a, err = r.at(i, r.start, first, 0)
	}
	switch {
	case err != nil:
	case r.end.kind == unbounded:
		r.b = r.s.end
	case r.end.kind != currentRow:
		r.b, err = r.at(i, r.end, last, 1)
	}
	r.b = max(r.a, r.b)
	return r.a, r.b, err
}

// at finds the first place whose key is at least, or with more of 1 beyond, the one at a distance
// from the row's.
func (r *ranging) at(i int, end frameEnd, peers, more int) (int, error) {
	key := r.s.keyAt(i, r.s.partition)
	if key == nil {
		return peers, nil
	}
	sign := end.kind.sign()
	down := r.s.keys[r.s.partition].desc
	if down {
		sign = -sign
	}
	limit, err := r.scale.value(key)
	if err == nil {
		limit, err = r.scale.shift(limit, end, sign)
	}
	if err != nil {
		return 0, err
	}
	found := sort.Search(r.to-r.from, func(j int) bool {
		v, failed := r.scale.value(r.s.keyAt(r.from+j, r.s.partition))
		if failed != nil {
			err = failed
			return true
		}
		c := r.scale.compare(v, limit)
		if down {
			c = -c
		}
		return c >= more
	})
	return r.from + found, err
}

// scale is how distances of keys are computed.
type scale int

const (
	none     scale = iota
	integers       // int64
	decimals       // *apd.Decimal
	floats         // float64
	times          // time.Time
	spans          // types.Timespan
)

func scaleOf(t sql.Type) scale {
	switch {
	case standard.IsTimespan(t):
		return spans
	case types.IsTime(t):
		return times
	case types.IsFloat(t):
		return floats
	case types.IsDecimal(t), types.IsBit(t), types.IsEnum(t), types.IsSet(t), types.IsInteger(t) && types.IsUnsigned(t):
		return decimals
	case types.IsInteger(t), types.IsBoolean(t), types.IsYear(t):
		return integers
	}
	return none
}

// value is a key, or a distance, as the scale has it.
func (s scale) value(v any) (out any, err error) {
	switch s {
	case integers:
		out, _, err = types.Int64.Convert(context.Background(), v)
	case floats:
		out, _, err = types.Float64.Convert(context.Background(), v)
	case times:
		out, _, err = types.DatetimeMaxPrecision.Convert(context.Background(), v)
	case spans:
		out, err = types.Time.ConvertToTimespan(v)
	default:
		out, err = types.InternalDecimalType.ConvertToDecimal(v)
	}
	return out, err
}

// shift is a key at a distance from another, or the farthest that there is.
func (s scale) shift(key any, end frameEnd, sign int64) (any, error) {
	if d := end.span; d != nil {
		if t, ok := key.(time.Time); ok {
			if sign < 0 {
				return d.Sub(t), nil
			}
			return d.Add(t), nil
		}
		hours := (d.Days*24+d.Hours)*3600 + d.Minutes*60 + d.Seconds
		return key.(types.Timespan) + types.Timespan(sign*(hours*1e6+d.Microseconds)), nil
	}
	by, err := s.value(end.by)
	if err != nil {
		return nil, err
	}
	switch x := key.(type) {
	case int64:
		by := sign * by.(int64)
		if sum := x + by; sum > x == (by > 0) || by == 0 {
			return sum, nil
		}
		if by > 0 {
			return int64(math.MaxInt64), nil
		}
		return int64(math.MinInt64), nil
	case float64:
		return x + float64(sign)*by.(float64), nil
	}
	sum, op := new(apd.Decimal), divides.Add
	if sign < 0 {
		op = divides.Sub
	}
	_, err = op(sum, key.(*apd.Decimal), by.(*apd.Decimal))
	return sum, err
}

func (s scale) compare(a, b any) int {
	switch x := a.(type) {
	case int64:
		return cmp.Compare(x, b.(int64))
	case float64:
		return cmp.Compare(x, b.(float64))
	case time.Time:
		return x.Compare(b.(time.Time))
	case types.Timespan:
		return cmp.Compare(x, b.(types.Timespan))
	}
	return a.(*apd.Decimal).Cmp(b.(*apd.Decimal))
}
