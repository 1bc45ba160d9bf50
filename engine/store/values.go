package store

import (
	"math/big"
	"strings"
	"time"
)

// ValueKind is how the values of a column are held.
type ValueKind uint8

// Kinds, and the Go type of a value of each.
const (
	KindAny       ValueKind = iota // Any: whatever Rows.Next promises
	KindBool                       // Ints: 0 or 1; bool
	KindInt                        // Ints; int64
	KindUint                       // Ints: the bits of a uint64; uint64
	KindFloat                      // Floats; float64
	KindText                       // Texts; string
	KindDate                       // Ints: days since 1970; time.Time
	KindTime                       // Ints: microseconds of the day; time.Duration
	KindTimestamp                  // Ints: microseconds since 1970, in UTC; time.Time
	KindDecimal                    // Ints: the number times 10^Scale; Decimal
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

// Columnar are Rows that can be read in batches instead of row by row.
type Columnar interface {
	Rows
	// Batch returns the next rows, at least one, or io.EOF. The kinds are the same in all batches of a result. A batch is valid
	// for as long as it is used, after Close, too.
	Batch() (*Batch, error)
}

// IsNull tells whether the value at i is NULL.
func (v *Values) IsNull(i int) bool { return v.Null != nil && v.Null[i] }

// At returns the value at i as Rows.Next does.
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
		return DecimalOf(big.NewInt(v.Ints[i]), v.Scale)
	}
	return v.Any[i]
}

// DecimalOf writes unscaled / 10^scale with exactly scale digits after the point.
func DecimalOf(unscaled *big.Int, scale int) Decimal {
	digits := new(big.Int).Abs(unscaled).String()
	if scale > 0 {
		if pad := scale + 1 - len(digits); pad > 0 {
			digits = strings.Repeat("0", pad) + digits
		}
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if unscaled.Sign() < 0 {
		digits = "-" + digits
	}
	return Decimal(digits)
}
