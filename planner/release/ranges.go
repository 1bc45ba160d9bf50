package release

import (
	"cmp"
	"fmt"
	"math/big"
	"time"

	"scrim/engine/estimator/cube"
)

// hasOrder refuses a dimension of ranges whose public values are no dates or numbers, are not in
// rising order, or are too many. NULL, which is in no interval, comes first or last.
func hasOrder(name string, values []any) error {
	if len(values) > cube.MaxRanges {
		return notView(fmt.Sprintf("The dimension %s of ranges has %d values; it has at most %d.", name, len(values), cube.MaxRanges),
			fmt.Sprintf("Coarsen %s, as a date to its week, or leave it out of ranges.", name))
	}
	if len(values) > 0 && values[0] == nil {
		values = values[1:]
	}
	if last := len(values) - 1; last >= 0 && values[last] == nil {
		values = values[:last]
	}
	for i, v := range values {
		if !ordered(v) {
			return notView(fmt.Sprintf("The dimension %s of ranges has no order: its values are no dates or numbers.", name),
				fmt.Sprintf("Leave %s out of ranges.", name))
		}
		if i > 0 && compared(values[i-1], v) >= 0 {
			return notView(fmt.Sprintf("The public values of the dimension %s of ranges are not in their order.", name),
				"Declare them in rising order, or as a range: CALL dp_set_domain('table', 'column', '{\"min\": …, \"max\": …}').")
		}
	}
	return nil
}

// ordered reports whether compared takes a value.
func ordered(v any) bool {
	_, number := numberOf(v)
	_, moment := v.(time.Time)
	return number || moment
}

// compared compares two dates or two numbers; of one of each it tells that they are in no order.
func compared(a, b any) int {
	if s, is := a.(time.Time); is {
		if t, too := b.(time.Time); too {
			return s.Compare(t)
		}
		return 1
	}
	x, _ := numberOf(a)
	y, is := numberOf(b)
	if !is {
		return 1
	}
	return cmp.Compare(x.Cmp(y), 0)
}

// numberOf reads a number of SQL, exactly.
func numberOf(v any) (*big.Rat, bool) {
	switch v.(type) {
	case nil, string, []byte, bool, time.Time:
		return nil, false
	}
	return new(big.Rat).SetString(fmt.Sprint(v))
}
