package admin

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/collect"
)

// forecastDoc documents the procedure that tells what a declaration would mean.
var forecastDoc = Procedure{"dp_forecast_collection", "dp_forecast_collection(protocol, json)",
	"What a collection with these parameters would be: its standard error by the protocol's formula, the least number of contributors, the bytes and the device time of a report, the numbers of each round, and what each contributor pays. It reads no data, makes nothing and costs nothing. Every account of one's own may call it, and not the one that contributors share. SELECT * FROM dp.protocols lists the parameters.",
	`CALL dp_forecast_collection('LDP_BIT', '{"epsilon": 1, "lo": 0, "hi": 120, "n_expected": 20000}')`}

// forecastUUID stands for the one that a collection would get; nothing that is forecast depends on
// it.
const forecastUUID = "00000000-0000-4000-8000-000000000000"

// forecast makes the procedure for go-mysql-server. It is everybody's but contributors', and leaves
// no note: it is a calculation. One is made at a time, because some take seconds, which nothing
// ends.
func (a *Admin) forecast() sql.ExternalStoredProcedureDetails {
	return sql.ExternalStoredProcedureDetails{Name: forecastDoc.Name, Schema: schemaOf(forecastDoc.Name, designColumns),
		Function: func(ctx *sql.Context, protocol, declared string) (sql.RowIter, error) {
			p := collect.Protocol(strings.ToUpper(strings.TrimSpace(protocol)))
			d, err := collect.ParseDeclaration(p, []byte(declared))
			if err != nil {
				return nil, err
			}
			select {
			case a.forecasting <- struct{}{}:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			defer func() { <-a.forecasting }()
			g, err := collect.Plan("forecast", forecastUUID, p, d)
			if err == nil {
				err = g.CheckNamed()
			}
			if err != nil {
				return nil, err
			}
			rows := slices.DeleteFunc(DesignRows(g), func(r sql.Row) bool { return r[0] == "collection" || r[0] == "uuid" })
			return sql.RowsToRowIter(rows...), nil
		}}
}
