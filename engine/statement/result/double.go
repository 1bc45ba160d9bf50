package result

import (
	"bytes"
	"strconv"

	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/engine/tables"
)

// mysqlDoubles writes the DOUBLE and FLOAT values of a row as MySQL does (tables.AppendDouble).
func mysqlDoubles(fields []*querypb.Field, row []sqltypes.Value) {
	for i, f := range fields {
		bits := 64
		switch f.Type {
		case querypb.Type_FLOAT64:
		case querypb.Type_FLOAT32:
			bits = 32
		default:
			continue
		}
		text := row[i].Raw()
		if row[i].IsNull() || bytes.IndexByte(text, 'e') < 0 {
			continue
		}
		if x, err := strconv.ParseFloat(string(text), bits); err == nil {
			row[i] = sqltypes.MakeTrusted(f.Type, tables.AppendDouble(nil, x, bits))
		}
	}
}
