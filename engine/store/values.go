package store

import (
	"time"

	"github.com/cockroachdb/apd/v3"
)

// ValueKind is how the values of a column are held.
type ValueKind uint8

// Kinds, and the Go type of a value of each.
const (
	KindAny       ValueKind = iota // Any: see At
	KindBool                       // Ints: 0 or 1; bool
	KindInt                        // Ints; int64
	KindUint                       // Ints: the bits of a uint64; uint64
	KindFloat                      // Floats; float64
	KindText                       // Texts; string
	KindDate                       // Ints: days since 1970; time.Time
	KindTime                       // Ints: microseconds of the day; time.Duration
	KindTimestamp                  // Ints: microseconds since 1970, in UTC; time.Time
	KindDecimal                    // Ints: the number times 10^Scale; *apd.Decimal
)

// Values are a run of the values of one column. They are immutable.
type Values struct {
	Kind   ValueKind
	Scale  int // of decimals
	Ints   []int64
	Floats []float64
	Texts  []string
	Any    []any
	Null   []bool // nil when no value is NULL
}

// Batch is a run of result rows, column by column.
type Batch struct {
	Len     int
	Columns []Values
}

// IsNull tells whether the value at i is NULL.
func (v *Values) IsNull(i int) bool { return v.Null != nil && v.Null[i] }

// At returns the value at i: nil, bool, int64, uint64, float64, string, []byte, time.Time,
// time.Duration (TIME and INTERVAL; a month counts 30 days), *big.Int (huge integers),
// *apd.Decimal, which is the caller's own, or []any of these. JSON and UUID come as text.
func (v *Values) At(i int) any {
	if v.IsNull(i) {
		return nil
	}
	switch v.Kind {
	case KindBool:
		return v.Ints[i] != 0
	case KindInt:
		return v.Ints[i]
	case KindUint:
		return uint64(v.Ints[i])
	case KindFloat:
		return v.Floats[i]
	case KindText:
		return v.Texts[i]
	case KindDate:
		return time.Unix(v.Ints[i]*24*60*60, 0).UTC()
	case KindTime:
		return time.Duration(v.Ints[i]) * time.Microsecond
	case KindTimestamp:
		return time.UnixMicro(v.Ints[i]).UTC()
	case KindDecimal:
		return apd.New(v.Ints[i], -int32(v.Scale))
	}
	if d, ok := v.Any[i].(*apd.Decimal); ok {
		return new(apd.Decimal).Set(d)
	}
	return v.Any[i]
}
