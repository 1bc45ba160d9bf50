package quota

import (
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Sizes of Go's headers: of a slice, of an interface, of a text.
const (
	sliceHeader = 24
	boxed       = 16
	textHeader  = 16
)

// Row returns the memory of a row.
func Row(r sql.Row) int64 {
	n := int64(sliceHeader)
	for _, v := range r {
		n += boxed + Size(v)
	}
	return n
}

// Size returns the memory behind a value.
func Size(v any) int64 {
	switch x := v.(type) {
	case nil, bool, int8, uint8:
		return 0
	case string:
		return textHeader + int64(len(x))
	case []byte:
		return sliceHeader + int64(len(x))
	case time.Time:
		return 24
	case *apd.Decimal:
		return 80
	case *sqltypes.Value:
		if x == nil {
			return 0
		}
		return 48 + int64(x.Len())
	case sqltypes.Value:
		return 48 + int64(x.Len())
	case types.JSONDocument, []any, map[string]any, sql.JSONWrapper:
		left := int64(mostJSON)
		document(v, &left)
		return mostJSON - left
	case sql.AnyWrapper:
		return 64
	}
	return 8
}

// mostJSON is where the counting of a document ends: what it holds may be shared, and many times
// larger than it.
const mostJSON = 1 << 31

// document takes the size of a document off left.
func document(v any, left *int64) {
	if *left <= 0 {
		return
	}
	switch x := v.(type) {
	case types.JSONDocument:
		document(x.Val, left)
	case []any:
		*left -= sliceHeader
		for _, e := range x {
			*left -= boxed
			document(e, left)
		}
	case map[string]any:
		*left -= 48
		for k, e := range x {
			*left -= 2*boxed + textHeader + int64(len(k))
			document(e, left)
		}
	case *types.LazyJSONDocument:
		*left -= int64(len(x.Bytes))
	case sql.JSONWrapper:
		*left -= 256
	default:
		*left -= Size(v)
	}
}
