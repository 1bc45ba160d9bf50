package aggregate

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// OfNobody is an aggregate over no rows.
func OfNobody(e sql.Aggregation) any {
	e, barSpec := BarOf(e)
	m, ok := Marker(e)
	switch {
	case !ok || !m.Function.Counts:
		return nil
	case barSpec != nil:
		return 0.0
	}
	return int64(0)
}
