package admin

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// tokensTable makes dp.collection_tokens: how many tokens there are of each cell, and how many of
// them have reported. It shows no token, not even by its hash: whoever could look again and again
// which of them is spent, and at the reports at the same time, would see who sent what.
func (a *Admin) tokensTable() *table {
	return newTable("collection_tokens", a.ofCollections(a.collectionTokens),
		text("collection"), count("round"), text("stratum"), count("cell"), count("n_issued"), count("n_spent"), count("n_free"))
}

func (a *Admin) collectionTokens(*sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, c := range a.o.Collections.Cells() {
		if c.Issued == 0 {
			continue // issued elsewhere
		}
		spent := min(c.Received, c.Issued)
		out = append(out, sql.Row{c.Name, int64(c.Round), c.Stratum, int64(c.Cell.Cell), int64(c.Issued), int64(spent), int64(c.Issued - spent)})
	}
	return out, nil
}
