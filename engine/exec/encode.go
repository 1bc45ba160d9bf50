package exec

import (
	"encoding/binary"
	"math"

	"scrim/engine/store"
)

// appendKey appends an injective encoding of one key part: a tag, then a fixed or counted value.
func appendKey(b []byte, v *store.Vector, row int) []byte {
	switch {
	case v.Null != nil && v.Null[row]:
		return append(b, 'n')
	case v.Ints != nil:
		return binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v.Ints[row]))
	case v.Floats != nil:
		f := v.Floats[row]
		if f == 0 {
			f = 0 // -0 and +0 are one key
		}
		return binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(f))
	default:
		s := v.Texts[row]
		b = binary.AppendUvarint(append(b, 't'), uint64(len(s)))
		return append(b, s...)
	}
}
