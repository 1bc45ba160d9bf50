package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scrim/engine/store"
	"scrim/internal/spill"
)

// limitQueries are statements whose numbers of persons pass what the server of
// TestNoLimitCountsPersons keeps in memory where there are 50,000, by persons, rows, coordinates,
// keys or texts. # stands for the table.
var limitQueries = []string{
	// Persons and rows.
	"SELECT COUNT(*), COUNT(DISTINCT u) FROM #", "SELECT SUM(x), AVG(x), COUNT(x) FROM #", "SELECT STDDEV(x), VAR_POP(n) FROM #",
	"SELECT CORR(x, n), REGR_R2(x, n) FROM #", "SELECT MIN(x), MAX(n) FROM # WHERE n < 1e9", "SELECT DP_MEAN(x), DP_VARIANCE(x) FROM #", "SELECT DP_MEDIAN(x) FROM #", "SELECT DP_QUANTILES(x, '[0.1, 0.5, 0.9]') FROM #",
	"SELECT DP_QUANTILES(x, '[0.1, 0.3, 0.5, 0.9]', 'method=exponential') FROM #", "SELECT DP_MEAN(x, 'method=person') FROM #",
	"SELECT SUM(d) FROM (SELECT u, SUM(x) AS d FROM # GROUP BY u) p", "SELECT COUNT(*) FROM # a JOIN # b ON a.u = b.u",
	"SELECT COUNT(*), SUM(x) FROM # JOIN s.rates ON # .g = s.rates.g",
	// Groups of public keys, as one vector and each by itself.
	"SELECT /*+ SET_VAR(dp_group_by='vector') */ g, COUNT(*), AVG(x), SUM(n) FROM # GROUP BY g",
	"SELECT /*+ SET_VAR(dp_group_by='separate') */ g, COUNT(*), AVG(x), SUM(n) FROM # GROUP BY g",
	"SELECT g, DP_MEDIAN(x), VARIANCE(x) FROM # GROUP BY g", "SELECT g, DP_MEAN(v), DP_SUM(v) FROM # GROUP BY g",
	// Keys that are selected: more of them than persons may be shown.
	"SELECT k, COUNT(*) FROM # GROUP BY k", "SELECT t, AVG(x) FROM # GROUP BY t", "SELECT k, t, SUM(x), DP_MEDIAN(x) FROM # GROUP BY k, t",
	"SELECT /*+ SET_VAR(dp_group_by='separate') */ t, SUM(x) FROM # GROUP BY t", "SELECT t, DP_MEAN(v) FROM # GROUP BY t",
	"SELECT k FROM # GROUP BY k", "SELECT CASE WHEN k < 500 THEN 'few' ELSE t END AS c, COUNT(*) FROM # GROUP BY c",
	// Arrays, vectors of columns and of items.
	"SELECT DP_MEAN(v) FROM #", "SELECT DP_MEAN(v, 'method=shifted'), DP_MEAN(v, 'method=plan') FROM #", "SELECT DP_VARIANCE(v) FROM #",
	"SELECT DP_MEAN(v, 'method=person') FROM #", "SELECT DP_MEAN(v, 'method=coinpress, sigma=3') FROM #", "SELECT DP_SUM(v) FROM #",
	"SELECT DP_MEAN(DP_VECTOR(x, n, x * n, g)) FROM #", "SELECT DP_SUM(DP_ONEHOT(n, 'dimension=50')) FROM #", "SELECT DP_MEAN(DP_ONEHOT(k, 'dimension=100000')) FROM #",
	"SELECT DP_MEAN(CONCAT('[', REPEAT('1,', 300), '1]'), 'dimension=301') FROM # WHERE u < 20000",
}

// limitTables are the databases: a few persons, fifty times as many, these and one more who has
// a third of all rows, and nobody.
var limitTables = map[string]string{
	"few":    "FROM range(1000) r(i)",
	"many":   "FROM range(50000) r(i)",
	"owner":  "FROM (SELECT i FROM range(50000) r(i) UNION ALL SELECT 50000 FROM range(25000)) r(i)",
	"nobody": "FROM range(0) r(i)",
}

const limitDim = 48

// limitServer has the tables and so little memory that much of what is made of the larger ones does
// not fit.
func limitServer(t *testing.T) (*instance, *client) {
	i := startWith(t, "", seeded(t, "limits", 1), func(c *Config) { c.PersonsMemory, c.ReleaseMemory, c.MemoryLimit = 16, 64, "256MiB" })
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.rates (g INT, rate DOUBLE)", "INSERT INTO s.rates VALUES (1, 0.5), (1, 2), (2, 3)", "CALL dp_public('s.rates')")
	session, err := i.store.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for name, from := range limitTables {
		table := "s." + name
		root.exec("CREATE TABLE "+table+fmt.Sprintf(" (u BIGINT, g INT, k INT, t VARCHAR(60), x DOUBLE, n INT, v VECTOR(%d))", limitDim),
			"CALL dp_protect('"+table+"', 'u', 'p')", "CALL dp_set_domain('"+table+"', 'g', '[0,1,2,3]')", "CALL dp_set_budget('"+table+"', '*', 1000000, 0.001, 'never')")
		ref := store.TableRef{Schema: "s", Name: name}
		_, err := session.Write(context.Background(), []store.TableRef{ref}, "INSERT INTO s."+name+" SELECT i, hash(i) % 4, i, 'a key longer than twelve bytes ' || i, "+
			"CAST(hash(i + 1) % 1000 AS DOUBLE) / 8, hash(i + 2) % 40, CAST(list_transform(range("+fmt.Sprint(limitDim)+"), lambda j: CAST(hash(i + j) % 100 AS DOUBLE)) AS DOUBLE["+fmt.Sprint(limitDim)+"]) "+from)
		if err != nil {
			t.Fatal(err)
		}
	}
	ann := i.analyst(root, "ann", "s")
	ann.exec("USE s", "SET dp_rho = 0.2")
	return i, ann
}

// limitEnd is how a statement ends: refused, failed or answered. How many keys are selected follows
// from noise.
func limitEnd(c *client, query, table string) string {
	_, err := c.try(strings.ReplaceAll(query, "#", table))
	if err == nil {
		return "answered"
	}
	return strings.ReplaceAll(strings.Split(err.Error(), " (statement id")[0], "s."+table, "#")
}

// TestNoLimitCountsPersons: databases of 1,000 and 50,000 persons, with one more who owns a third
// of the rows, and of nobody, end every statement alike: it is answered, or it is refused for its
// text. Where what goes beyond the memory has no disk to go to, as where a limit on memory ends a
// query, they do not, and that is noticed.
func TestNoLimitCountsPersons(t *testing.T) {
	i, ann := limitServer(t)
	refused := 0
	few := map[string]string{}
	for _, q := range limitQueries {
		if few[q] = limitEnd(ann, q, "few"); few[q] != "answered" {
			refused++
			if !strings.Contains(few[q], "45") || strings.Contains(few[q], "45015") {
				t.Errorf("%s: %s", q, few[q])
			}
		}
		for _, table := range []string{"many", "owner", "nobody"} {
			if end := limitEnd(ann, q, table); end != few[q] {
				t.Errorf("%s\nfew persons: %s\n%s: %s", q, few[q], table, end)
			}
		}
	}
	if refused > 3 {
		t.Errorf("%d of %d statements are refused", refused, len(limitQueries))
	}
	// Around a number of persons at which a limit of the memory acted, which one person passes.
	const around = "SELECT DP_MEAN(CONCAT('[', REPEAT('1,', 100), '1]'), 'dimension=101') FROM # WHERE u < "
	for n := 10_200; n < 10_206; n++ {
		if end := limitEnd(ann, fmt.Sprint(around, n), "many"); end != "answered" {
			t.Errorf("%d persons: %s", n, end)
		}
	}
	old := i.runner.Spill
	defer func() { i.runner.Spill = old }()
	i.runner.Spill = spill.NewPool(spill.Disk{Dir: t.TempDir(), Reserve: 1 << 60}, 8<<20)
	ann.exec("SET dp_rho = 0.25") // no replays
	const enough = 5
	differ := 0
	for _, q := range slices.Backward(limitQueries) { // the widest are last
		if limitEnd(ann, q, "many") != limitEnd(ann, q, "few") {
			differ++
		}
		if differ == enough {
			break
		}
	}
	if differ < enough {
		t.Errorf("a limit on persons changes the end of %d statements, want %d", differ, enough)
	}
	var ends []string
	for _, n := range []int{1000, 10_000, 50_000} {
		ends = append(ends, limitEnd(ann, fmt.Sprint(around, n), "many"))
	}
	if ends[0] != "answered" || ends[2] == "answered" {
		t.Errorf("with a limit the ends are %v", ends)
	}
	if log := i.log.String(); !strings.Contains(log, "MiB more in") {
		t.Error("the log does not tell what was wanted")
	}
}
