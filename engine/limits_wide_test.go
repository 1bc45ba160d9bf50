package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"scrim/engine/store"
)

// TestWideVectors: a store of little memory answers a vector of more coordinates than it could add
// up itself, for persons with texts for names. What it could read of few rows only is refused,
// whether there are rows or none, and nothing is charged.
func TestWideVectors(t *testing.T) {
	const dim, persons = 600, 20_000
	i := startWith(t, "", seeded(t, "wide", 1), func(c *Config) { c.MemoryLimit = "256MiB" })
	root := i.root()
	columns := make([]string, dim)
	for j := range columns {
		columns[j] = fmt.Sprintf("c%d", j+1)
	}
	root.exec("CREATE DATABASE s", fmt.Sprintf("CREATE TABLE s.vectors (u VARCHAR(60), g INT, v VECTOR(%d))", dim))
	for _, table := range []string{"nobody", "some"} {
		root.exec("CREATE TABLE s." + table + " (u VARCHAR(60), g INT, " + strings.Join(columns, " DOUBLE, ") + " DOUBLE)")
	}
	for _, table := range []string{"vectors", "nobody", "some"} {
		root.exec("CALL dp_protect('s."+table+"', 'u', 'p')", "CALL dp_set_domain('s."+table+"', 'g', '[0,1,2,3]')", "CALL dp_set_budget('s."+table+"', '*', 1000000, 0.001, 'never')")
	}
	session, err := i.store.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for table, values := range map[string]string{
		"vectors": fmt.Sprintf("CAST(list_transform(range(%d), lambda j: CAST(j %% 7 AS DOUBLE)) AS DOUBLE[%d]) FROM range(%d)", dim, dim, 3*persons),
		"some":    strings.TrimSuffix(strings.Repeat("1, ", dim), ", ") + " FROM range(10)",
	} {
		if _, err := session.Write(context.Background(), []store.TableRef{{Schema: "s", Name: table}}, fmt.Sprintf(
			"INSERT INTO s.%s SELECT 'a person of a long name ' || hash(i) %% %d, i %% 4, %s r(i)", table, persons, values)); err != nil {
			t.Fatal(err)
		}
	}
	ann := i.analyst(root, "ann", "s")
	ann.exec("USE s", "SET dp_rho = 1000")
	var entries []string
	for j := range dim {
		entries = append(entries, fmt.Sprintf("DP_VALUE(v, %d)", j+1))
	}
	want := make([]float64, dim)
	for j := range want {
		want[j] = float64(j % 7)
	}
	nearVector(t, "coordinates", ann.value("SELECT DP_MEAN(DP_VECTOR("+strings.Join(entries, ", ")+"), 'lower=0, upper=8') FROM vectors"), want, 0.5)

	const bounded = "SELECT /*+ SET_VAR(dp_max_groups_contributed=2) */ g, DP_MEAN(v) FROM vectors GROUP BY g"
	if _, err := ann.try(bounded); err == nil || !strings.Contains(err.Error(), "dp_max_groups_contributed = 4") {
		t.Errorf("arrays that cannot be ordered: got %v", err)
	}
	ann.exec(strings.Replace(bounded, "contributed=2", "contributed=4", 1))
	for _, table := range []string{"nobody", "some"} {
		_, err := ann.try("SELECT DP_MEAN(DP_VECTOR(" + strings.Join(columns, ", ") + ")) FROM " + table)
		if err == nil || !strings.Contains(err.Error(), "reads 601 columns of one table") || !strings.Contains(err.Error(), "can read 128") {
			t.Errorf("columns of %s: got %v", table, err)
		}
	}
	charges := func(table string) string {
		return root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge' AND account LIKE '%" + table + "%'")
	}
	if got := []string{charges("vectors"), charges("nobody"), charges("some")}; fmt.Sprint(got) != "[2 0 0]" {
		t.Errorf("charges %v", got)
	}
}
