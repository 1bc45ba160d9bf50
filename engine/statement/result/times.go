package result

import (
	"bytes"

	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// noFraction ends a time without a fraction of a second, as go-mysql-server writes it.
var noFraction = []byte(".000000")

// mysqlTimes leaves a fraction that is zero out of the times of a row: of TIMEs, and of dates with
// a time that are no columns of tables. MySQL knows of FROM_UNIXTIME(0) or a TIME that it has no
// fraction, and go-mysql-server gives them all six digits.
func mysqlTimes(fields []*querypb.Field, row []sqltypes.Value) {
	for i, f := range fields {
		switch {
		case f.Type == querypb.Type_TIME:
		case f.Type == querypb.Type_DATETIME && f.Table == "":
		default:
			continue
		}
		if text, ok := bytes.CutSuffix(row[i].Raw(), noFraction); ok {
			row[i] = sqltypes.MakeTrusted(f.Type, text)
		}
	}
}
