package release

import (
	"strings"

	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/plan"
)

// Under dp_keys = 'keep' the rows whose key is not selected are one group more:
//
//	SET dp_keys = 'keep'; SELECT city, COUNT(*), SUM(amount) FROM orders GROUP BY city
//
// answers the selected cities, and a row whose city is NULL with all other orders. Rows whose keys
// are all NULL are in that row, too, and are not counted for the selection: so a row of NULL keys
// has one meaning.
//
// The keys are selected by a scan of their own, as without the parameter. Then the scans of the
// aggregates have the number of the group in the place of the keys, before rows are added up by
// person: a person's rows in several keys that were not selected are one entry of one group.
//
// Privacy. The selected keys are released, with the loss and δ of the selection. Given them, which
// group a row is in is a function of the row: the aggregates are those of a query over so many
// public groups and one more. In that query a person is in PerUnit groups at most, as the scans
// choose among the numbered groups, the row of others counting as one, by that person's rows and a
// secret. So its loss is that of any set of public groups, for each set of selected keys, under
// both relations (neighbours.go), and the two compose adaptively. docs/proofs/keys.md has the
// argument.

// hasKey is true of the rows that have some key.
func hasKey(keys []string) string {
	some := make([]string, len(keys))
	for i, k := range keys {
		some[i] = k + " IS NOT NULL"
	}
	return "(" + strings.Join(some, " OR ") + ")"
}

// numberSelected puts the number of the group in the place of the keys of each row: that of its
// keys in plan.SelectedKeys, else the number behind them.
func (f *flat) numberSelected() {
	same := make([]string, len(f.groupColumns))
	for i, k := range f.groupColumns {
		same[i] = "t." + k + " IS NOT DISTINCT FROM s." + plan.SelectedKey(i)
	}
	f.sql = "SELECT coalesce(s.g, (SELECT count(*) FROM " + plan.SelectedKeys + ")) AS g, t.* EXCLUDE (" + sqltext.List(f.groupColumns) +
		") FROM (" + f.sql + ") AS t LEFT JOIN " + plan.SelectedKeys + " AS s ON " + strings.Join(same, " AND ")
	f.groupColumns, f.groupTypes = []string{"g"}, []store.ScanType{store.ScanInt64}
}
