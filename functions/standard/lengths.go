package standard

import (
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/quota"
)

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
	n, _ := integer(ctx, v)
	return n
}

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
	for _, v := range a {
		n += lengthOf(v)
	}
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
