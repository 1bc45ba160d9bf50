package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"scrim/engine/collections"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
)

// gather lets contributors report in the round that a collection is in, with value(n) of the n-th,
// straight to where dp_in hands reports.
func (i *instance) gather(root *client, name string, perStratum int, value func(n int, stratum string) collect.Value) {
	i.t.Helper()
	c, ok := i.collections.Lookup(name)
	if !ok {
		i.t.Fatalf("no collection %s", name)
	}
	strata := c.Declaration.Strata
	if len(strata) == 0 {
		strata = []string{""}
	}
	var list []collections.Submission
	for _, stratum := range strata {
		p, err := i.collections.Params(name, c.Round, stratum)
		if err != nil {
			i.t.Fatal(err)
		}
		tokens, err := i.collections.IssueTokens(context.Background(), name, collections.Issue{Tokens: uint64(perStratum), Stratum: stratum, Round: c.Round})
		if err != nil {
			i.t.Fatal(err)
		}
		d, r := device.New(p), exact.Secure()
		for n, t := range tokens {
			report, err := d.Report(r, t.Cell, value(n, stratum))
			if err != nil {
				i.t.Fatal(err)
			}
			list = append(list, collections.Submission{Token: t.Secret[:], Report: report})
		}
	}
	for part := range slices.Chunk(list, 5000) {
		if err := i.collections.Accept(context.Background(), name, part); err != nil {
			i.t.Fatal(err)
		}
	}
}

// load fills the batches of a round of a shuffle collection.
func (i *instance) load(name string, value func(n int) collect.Value) {
	i.t.Helper()
	c, _ := i.collections.Lookup(name)
	p, err := i.collections.Params(name, c.Round, "")
	if err != nil {
		i.t.Fatal(err)
	}
	sealer, err := seal.NewSealer(p.SealKey, p.Fingerprint())
	if err != nil {
		i.t.Fatal(err)
	}
	d, r := device.New(p), exact.Secure()
	for _, cell := range p.Cells {
		var bag []byte
		for n := range cell.Quota {
			list, err := d.Messages(r, cell.Cell, value(int(n)))
			if err != nil {
				i.t.Fatal(err)
			}
			for _, m := range list {
				sealed, err := sealer.Seal(m)
				if err != nil {
					i.t.Fatal(err)
				}
				bag = append(bag, sealed...)
			}
		}
		part := collections.Part{Round: c.Round, Cell: cell.Cell, Batch: 1, Reports: cell.Quota, Part: 1, Parts: 1, Sealed: bag}
		if done, err := i.collections.LoadBatch(context.Background(), name, part); err != nil || !done {
			i.t.Fatalf("load: %v, %v", done, err)
		}
	}
}

// numeral reads a number.
func numeral(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Errorf("%q is no number", text)
	}
	return x
}

// collection declares and opens a collection.
func (c *client) collection(name, protocol, declared string) {
	c.t.Helper()
	c.query(fmt.Sprintf("CALL dp_create_collection('%s', '%s', '%s')", name, protocol, declared))
	c.exec("CALL dp_open_collection('" + name + "')")
}

// within checks that an estimate lies within k standard errors.
func within(t *testing.T, what string, got, want, stderr float64) {
	t.Helper()
	if !(stderr > 0) || !(math.Abs(got-want) <= 6.2*stderr) { // 6.2: alpha 1e-9 of a Gaussian
		t.Errorf("%s is %v ± %v, not %v", what, got, stderr, want)
	}
}

// TestLocalFunctions asks everything of collections of the local model.
func TestLocalFunctions(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE survey", "CREATE TABLE survey.kept (s VARCHAR(20), m DOUBLE, n BIGINT, i JSON)", "CALL dp_public('survey.kept')")
	root.collection("survey.commute", "LDP_BIT", `{"epsilon": 2, "lo": 0, "hi": 100, "n_expected": 4000, "strata": ["north", "south"]}`)
	i.gather(root, "commute", 2000, func(n int, s string) collect.Value {
		if s == "north" {
			return collect.Value{20}
		}
		return collect.Value{70}
	})
	ann := i.analyst(root, "ann", "survey")
	ann.exec("USE survey")
	rows := ann.query("SELECT stratum, LDP_MEAN(report), LDP_STDERR(report), LDP_LOW(report), LDP_HIGH(report, 0.99), LDP_COUNT(report), LDP_INFO(report) FROM commute GROUP BY stratum")
	if len(rows) != 2 || rows[0][0] != "north" || rows[1][0] != "south" {
		t.Fatalf("by stratum: %v", rows)
	}
	for k, want := range []float64{20, 70} {
		r := rows[k]
		mean, se, lo, hi := numeral(t, r[1]), numeral(t, r[2]), numeral(t, r[3]), numeral(t, r[4])
		within(t, r[0], mean, want, se)
		if !(lo < mean && mean < hi && hi-mean > mean-lo) {
			t.Errorf("%s: the interval of %v is %v to %v", r[0], mean, lo, hi)
		}
		if r[5] != "2000" || !strings.Contains(r[6], `"reports": 2000`) && !strings.Contains(r[6], `"reports":2000`) {
			t.Errorf("%s: count %s, info %s", r[0], r[5], r[6])
		}
	}
	north := rows[0][1]
	for _, q := range []string{
		"SELECT LDP_MEAN(report) FROM survey.commute WHERE stratum = 'north'",
		"SELECT LDP_MEAN(c.report) AS m FROM commute c WHERE c.stratum IN ('north', 'nowhere') HAVING m IS NOT NULL ORDER BY m LIMIT 1",
		"SELECT LDP_MEAN(r) FROM (SELECT stratum AS s, report AS r FROM commute) x WHERE s <> 'south'",
		"WITH c AS (SELECT * FROM commute WHERE stratum = 'north') SELECT LDP_MEAN(report) FROM c",
		"SELECT m FROM (SELECT stratum s, LDP_MEAN(report) m FROM commute GROUP BY s) x WHERE s = 'north'",
		"SELECT (SELECT LDP_MEAN(report) FROM commute WHERE stratum = 'north')",
		"SELECT LDP_MEAN(report) FROM commute WHERE stratum = 'north' UNION SELECT LDP_MEAN(report) FROM commute WHERE stratum = 'north'",
		"SELECT a.m FROM (SELECT stratum s, LDP_MEAN(report) m FROM commute GROUP BY stratum) a JOIN (SELECT 'north' AS s) b ON a.s = b.s",
		"SELECT LDP_MEAN(report) * 1 + 0 FROM commute GROUP BY stratum HAVING LDP_MEAN(report) < 45",
		"SELECT LDP_MEAN(report) FROM commute GROUP BY stratum ORDER BY LDP_MEAN(report) LIMIT 1",
		"SELECT DISTINCT LDP_MEAN(report) FROM commute WHERE stratum = 'north' AND 1 = 1",
	} {
		if got := ann.value(q); got != north {
			t.Errorf("%s: got %s, want %s", q, got, north)
		}
	}
	if got := ann.value("SELECT LDP_MEAN(report) FROM commute WHERE stratum = ?", "north"); got != north {
		t.Errorf("prepared: %s", got)
	}
	if got := ann.query("SELECT LDP_LOW(report, ?), LDP_HIGH(report, ?) FROM commute WHERE stratum IN (?)", 0.5, 0.5, "north"); numeral(t, got[0][0]) > numeral(t, north) || numeral(t, got[0][1]) < numeral(t, north) {
		t.Errorf("prepared levels: %v around %s", got, north)
	}
	root.exec("CREATE VIEW survey.means AS SELECT stratum, LDP_MEAN(report) AS m FROM survey.commute GROUP BY stratum",
		"CREATE VIEW survey.bare AS SELECT report AS r, stratum AS s FROM survey.commute",
		"INSERT INTO survey.kept SELECT stratum, LDP_MEAN(report), LDP_COUNT(report), LDP_INFO(report) FROM survey.commute GROUP BY stratum")
	for _, q := range []string{"SELECT m FROM survey.means WHERE stratum = 'north'", "SELECT m FROM survey.kept WHERE s = 'north'", "SELECT LDP_MEAN(r) FROM survey.bare WHERE s = 'north'"} {
		if got := ann.value(q); got != north {
			t.Errorf("%s: got %s, want %s", q, got, north)
		}
	}
	root.exec("CREATE TABLE survey.copied AS SELECT stratum AS s, LDP_MEAN(report) AS m FROM survey.commute GROUP BY stratum", "CALL dp_public('survey.copied')")
	if got := ann.value("SELECT m FROM copied WHERE s = 'north'"); got != north {
		t.Errorf("CREATE TABLE AS: %s, want %s", got, north)
	}
	ann.exec("SET @where = 'north', @conf = 0.5", "PREPARE p FROM 'SELECT LDP_MEAN(report), LDP_LOW(report, ?) FROM commute WHERE stratum = ?'")
	if got := ann.query("EXECUTE p USING @conf, @where"); got[0][0] != north {
		t.Errorf("EXECUTE: %v", got)
	}
	if got := ann.value("SELECT LDP_MEAN(report) FROM commute WHERE stratum = @where"); got != north {
		t.Errorf("a user variable: %s", got)
	}
	if got := fmt.Sprint(ann.query("EXPLAIN SELECT LDP_MEAN(report) FROM commute WHERE stratum = 'north'")); !strings.Contains(got, "costs no budget") {
		t.Errorf("EXPLAIN: %s", got)
	}
	if got := ann.value("SELECT COUNT(*) FROM commute"); got != "4000" {
		t.Errorf("COUNT(*): %s", got)
	}
	if got := root.value("SELECT COUNT(*) FROM dp.ledger WHERE rho > 0"); got != "0" {
		t.Errorf("%s charges for estimates", got)
	}
	if got := root.value("SELECT COUNT(*) FROM dp.functions WHERE name LIKE 'LDP%' OR name LIKE 'SHUFFLE%'"); got != "20" {
		t.Errorf("dp.functions has %s functions over reports", got)
	}
}

// TestRefusedOverReports takes every query that an estimate cannot be made from.
func TestRefusedOverReports(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE survey", "CREATE TABLE survey.persons (id INT PRIMARY KEY, report BLOB, x INT)",
		"CREATE TABLE survey.other (stratum VARCHAR(20), report BLOB)", "CALL dp_protect('survey.persons', 'id', 'person')", "CALL dp_public('survey.other')",
		"CALL dp_set_budget('survey.persons', '*', 5, 1e-6, 'never')")
	root.collection("survey.commute", "LDP_BIT", `{"epsilon": 2, "lo": 0, "hi": 100, "n_expected": 400, "strata": ["north", "south"]}`)
	root.collection("survey.pair", "LDP_KV2", `{"epsilon": 2, "lo": 0, "hi": 100, "sigma": 10, "n_expected": 4000}`)
	i.gather(root, "commute", 200, func(int, string) collect.Value { return collect.Value{50} })
	ann := i.analyst(root, "ann", "survey")
	ann.exec("USE survey")
	for _, q := range []string{
		"SELECT LDP_MEAN(report) FROM commute",
		"SELECT LDP_MEAN(report) FROM commute WHERE stratum = 'nowhere'",
		"SELECT LDP_MEAN(report) FROM commute WHERE stratum IN ('north', 'south')",
		"SELECT LDP_MEAN(report) FROM commute WHERE round = 1 GROUP BY stratum",
		"SELECT LDP_MEAN(report) FROM commute WHERE stratum = 'north' OR cell = 0",
		"SELECT LDP_MEAN(report) FROM commute WHERE stratum = 'north' AND day > '2020-01-01'",
		"SELECT LDP_MEAN(report) FROM commute GROUP BY stratum, day",
		"SELECT LDP_MEAN(report) FROM commute GROUP BY UPPER(stratum)",
		"SELECT LDP_MEAN(CONCAT(report, '')) FROM commute GROUP BY stratum",
		"SELECT LDP_MEAN(stratum) FROM commute GROUP BY stratum",
		"SELECT LDP_MEAN(DISTINCT report) FROM commute GROUP BY stratum",
		"SELECT LDP_MEAN(report), COUNT(*) FROM commute GROUP BY stratum",
		"SELECT report, LDP_MEAN(report) FROM commute GROUP BY stratum",
		"SELECT stratum, LDP_MEAN(report) FROM commute WHERE stratum = 'north'",
		"SELECT LDP_MEAN(report) FROM commute GROUP BY stratum HAVING MAX(report) > 'a'",
		"SELECT LDP_MEAN(report) FROM commute GROUP BY stratum ORDER BY day",
		"SELECT LDP_MEAN(c.report) FROM commute c JOIN other o ON c.stratum = o.stratum GROUP BY c.stratum",
		"SELECT LDP_MEAN(report) FROM (SELECT * FROM commute LIMIT 10) x GROUP BY stratum",
		"SELECT LDP_MEAN(report) FROM (SELECT DISTINCT report, stratum FROM commute) x GROUP BY stratum",
		"SELECT LDP_MEAN(report) FROM (SELECT report, stratum FROM commute UNION ALL SELECT report, stratum FROM commute) x GROUP BY stratum",
		"SELECT LDP_MEAN(report) FROM commute WHERE stratum = (SELECT MIN(stratum) FROM other)",
		"SELECT LDP_MEAN(report) FROM commute WHERE stratum IN (SELECT stratum FROM other)",
		"SELECT LDP_MEAN(report) FROM commute WHERE EXISTS (SELECT 1 FROM persons WHERE x = 1) GROUP BY stratum",
		"SELECT o.stratum, (SELECT LDP_MEAN(report) FROM commute WHERE stratum = o.stratum) FROM other o",
		"SELECT LDP_MEAN(report) FROM commute WHERE RAND() < 0.5 GROUP BY stratum",
	} {
		e := ann.refused(1644, "45D12", q)
		if strings.Contains(e.Message, "internal") {
			t.Errorf("%s: %v", q, e)
		}
	}
	for q, words := range map[string]string{
		"SELECT LDP_MEAN(c.report) FROM commute c, persons p WHERE c.stratum = 'north' AND p.x = 1":             "protected",
		"SELECT LDP_MEAN(report) FROM persons":                                                                  "protected",
		"SELECT LDP_MEAN(report) FROM other":                                                                    "collection",
		"SELECT SHUFFLE_MEAN(report) FROM commute GROUP BY stratum":                                             "LDP_MEAN",
		"SELECT SHUFFLE_SUM(report) FROM commute GROUP BY stratum":                                              "LDP_MEAN",
		"SELECT LDP_VECTOR_MEAN(report) FROM commute GROUP BY stratum":                                          "LDP_MEAN",
		"SELECT LDP_QUANTILE(report, 0.5) FROM commute GROUP BY stratum":                                        "LDP_MEAN",
		"SELECT LDP_QUANTILE(report) FROM commute GROUP BY stratum":                                             "LDP_QUANTILE(report, q)",
		"SELECT DP_MEAN(report) FROM commute":                                                                   "protected",
		"SELECT LDP_LOW(report, stratum) FROM commute GROUP BY stratum":                                         "constants",
		"SELECT LDP_LOW(report, NULL) FROM commute GROUP BY stratum":                                            "no number",
		"SELECT LDP_LOW(report, 1.5) FROM commute GROUP BY stratum":                                             "between 0 and 1",
		"SELECT x, LDP_MEAN(report), DP_MEAN(x) FROM persons GROUP BY x":                                        "protected",
		"SELECT LDP_MEAN(report) FROM (SELECT report FROM persons) p":                                           "protected",
		"SELECT LDP_MEAN(report) FROM persons p JOIN other o USING (report)":                                    "protected",
		"SELECT COUNT(*) FROM persons WHERE x < (SELECT LDP_MEAN(report) FROM commute WHERE stratum = 'north')": "",
	} {
		if e := ann.refused(1644, "", q); !strings.Contains(e.Message, words) {
			t.Errorf("%s: %v, want words of %s", q, e, words)
		}
	}
	ann.refused(1644, "45D13", "SELECT LDP_MEAN(report) FROM pair")
	if got := ann.query("SELECT LDP_COUNT(report), LDP_INFO(report) FROM pair"); got[0][0] != "0" || !strings.Contains(got[0][1], "no_estimate") {
		t.Errorf("before reports: %v", got)
	}
	bob := i.analyst(root, "bob", "")
	bob.refused(1044, "42000", "SELECT LDP_MEAN(report) FROM survey.commute WHERE stratum = 'north'")
	if got := root.value("SELECT COUNT(*) FROM dp.ledger WHERE rho > 0"); got != "0" {
		t.Errorf("%s charges for refused statements", got)
	}
}

// TestTooFewReports asks before there are enough.
func TestTooFewReports(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE survey", "USE survey")
	root.collection("survey.commute", "LDP_BIT", `{"epsilon": 2, "lo": 0, "hi": 100, "n_expected": 400}`)
	i.gather(root, "commute", 5, func(int, string) collect.Value { return collect.Value{50} })
	root.refused(1644, "45D20", "SELECT LDP_MEAN(report) FROM commute")
	if got := root.value("SELECT LDP_COUNT(report) FROM commute"); got != "5" {
		t.Errorf("count %s", got)
	}
	if got := root.value("SELECT LDP_INFO(report) FROM commute"); !strings.Contains(got, "no_estimate") {
		t.Errorf("info %s", got)
	}
	root.refused(1231, "", "SET dp_collection_low_n = 'maybe'")
	root.exec("SET dp_collection_low_n = 'null'")
	if got := root.query("SELECT LDP_MEAN(report), LDP_COUNT(report) FROM commute"); got[0][0] != "NULL" || got[0][1] != "5" {
		t.Errorf("NULL if few: %v", got)
	}
	if got := fmt.Sprint(root.query("SHOW WARNINGS")); !strings.Contains(got, "cell 0") {
		t.Errorf("warnings: %s", got)
	}
	root.exec("SET dp_collection_low_n = 'refuse'")
	root.refused(1644, "45D20", "SELECT LDP_MEAN(report) FROM commute")
}
