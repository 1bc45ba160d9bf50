package layout

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const tags = "gms_pure_go"

type goPackage struct {
	ImportPath string
	Dir        string
	Doc        string
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
	Deps       []string
}

// modulePackages lists the module's packages, without test files.
func modulePackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags", tags, "-json=ImportPath,Dir,Doc,GoFiles,CgoFiles,Imports,Deps", "scrim/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return pkgs
		case err != nil:
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// rules say what a part of the tree may import of the module; reasons are printed on failure. The
// longest matching prefix counts.
var rules = []struct {
	from   string
	may    []string
	reason string
}{
	{"scrim/internal/refuse", nil, "the vocabulary of refusals is a leaf"},
	{"scrim/internal/spent", nil, "it keeps numbers of entries, and knows no ledger"},
	{"scrim/internal/remark", []string{"scrim/internal/refuse"}, "the vocabulary of remarks knows no plans and no sessions"},
	{"scrim/internal/params", nil, "the table of parameters is a leaf"},
	{"scrim/internal/spill", nil, "memory knows nothing of what lies in it"},
	{"scrim/internal/digest", []string{"scrim/internal/sqltext"}, "taking literals out of a text needs nothing else"},
	{"scrim/accounting/internal", nil, "arithmetic and encoding know nothing of accounts"},
	{"scrim/accounting/internal/chain", []string{"scrim/accounting/internal/codec", "scrim/accounting/budget"}, "hashes know nothing of what they are of"},
	{"scrim/accounting/internal/boltfile", []string{"scrim/accounting/internal/chain"}, "pages are verified before anything is read"},
	{"scrim/accounting/internal/index", []string{"scrim/accounting/record", "scrim/accounting/budget", "scrim/accounting/internal/codec"}, "an index follows from records alone"},
	{"scrim/accounting/internal/state", []string{"scrim/accounting/days", "scrim/accounting/record", "scrim/accounting/budget", "scrim/accounting/privacy", "scrim/accounting/internal/codec"}, "budgets and sums follow from records alone"},
	{"scrim/accounting/internal/part", []string{"scrim/accounting/days", "scrim/accounting/internal", "scrim/accounting/record", "scrim/accounting/budget", "scrim/accounting/privacy"}, "records are read without a ledger"},
	{"scrim/accounting/record", []string{"scrim/accounting/days", "scrim/accounting/budget", "scrim/accounting/privacy", "scrim/accounting/internal/codec"}, "a record is bytes, whatever file they are in"},
	{"scrim/accounting/privacy", []string{"scrim/accounting/internal/bisect", "scrim/accounting/internal/codec", "scrim/accounting/internal/invalid", "scrim/accounting/internal/roundup"}, "losses and conversions know no budgets and no files"},
	{"scrim/accounting/days", []string{"scrim/accounting/internal/invalid"}, "days know nothing of losses"},
	{"scrim/accounting/budget", []string{"scrim/accounting/privacy", "scrim/accounting/internal/bisect", "scrim/accounting/internal/invalid", "scrim/accounting/internal/roundup"}, "what a budget grants follows from it and from what is spent, without files"},
	{"scrim/accounting", []string{"scrim/accounting", "scrim/internal/durable"}, "the account can be read and proven alone"},
	{"scrim/catalog", []string{"scrim/internal/collation", "scrim/internal/params", "scrim/internal/refuse", "scrim/internal/durable", "scrim/internal/release"}, "policies stand below everything that applies them"},
	{"scrim/engine/store/lake", nil, "names of files, and nothing of what is in them"},
	{"scrim/engine/store/lake/ducklake", []string{"scrim/engine/store/lake", "scrim/engine/store/source"}, "a table format lists files, and nothing of what is in them"},
	{"scrim/engine/store/lake/formats", []string{"scrim/engine/store/lake", "scrim/engine/store/source"}, "files are listed from what others keep, whatever the store is"},
	{"scrim/engine/store/lake/iceberg", []string{"scrim/engine/store/lake"}, "a table format lists files, and nothing of what is in them"},
	{"scrim/engine/store/source", []string{"scrim/engine/store/source", "scrim/internal/sqltext"}, "how other servers are read, and nothing of statements, stores and privacy"},
	{"scrim/engine/store", []string{"scrim/engine/store", "scrim/engine/store/lake", "scrim/engine/store/source", "scrim/internal/collation", "scrim/internal/spill", "scrim/internal/sqltext"}, "a store knows tables, not privacy"},
	{"scrim/engine/estimator", []string{"scrim/engine/estimator", "scrim/accounting/privacy"}, "the numeric core knows no SQL and no server"},
	{"scrim/engine/collections/local", []string{"scrim/engine/estimator", "scrim/engine/collections/tree", "scrim/engine/collections/collect", "scrim/internal/refuse"}, "decoders know the public parameters of collections, no SQL and no server"},
	{"scrim/engine/collections/shuffle", []string{"scrim/engine/estimator", "scrim/engine/collections/local", "scrim/engine/collections/tree", "scrim/engine/collections/collect", "scrim/internal/refuse"}, "decoders know the public parameters of collections, no SQL and no server"},
	{"scrim/engine/collections/tree", []string{"scrim/engine/estimator", "scrim/engine/collections/collect", "scrim/internal/refuse"}, "decoders know the public parameters of collections, no SQL and no server"},
	{"scrim/engine/collections/collect", []string{"scrim/engine/collections/collect", "scrim/engine/estimator/noise", "scrim/internal/refuse"}, "contributors' programs link it: no SQL, no store, no server"},
	{"scrim/engine/collections/contribute", []string{"scrim/engine/collections/collect", "scrim/engine/estimator/noise", "scrim/internal/refuse", "scrim/internal/durable", "scrim/internal/sqltext"}, "contributors' programs link it: no store, no server"},
	{"scrim/engine/collections/shuffler", []string{"scrim/engine/collections/collect", "scrim/engine/collections/intake", "scrim/engine/mysql/wire", "scrim/engine/mysql/auth", "scrim/internal/refuse", "scrim/internal/durable", "scrim/internal/release", "scrim/internal/selfsigned"}, "the shuffler is a process of its own and knows nothing of the server's data"},
	{"scrim/internal/collation", nil, "texts compare the same, whatever they are of"},
	{"scrim/internal/durable", nil, "files know nothing of what is in them"},
	{"scrim/internal/sqltext", nil, "quoting needs nothing else"},
	{"scrim/internal/mcp", []string{"scrim/internal/client", "scrim/internal/sqltext"}, "it asks a server as any client does"},
	{"scrim/internal/client", nil, "it asks a server as any client does"},
	{"scrim/engine/ops/upload", []string{"scrim/engine/ops/datadir/fileimport", "scrim/engine/store", "scrim/internal/sqltext"}, "it reads files, and reaches the server as any client does"},
	{"scrim/internal/web", []string{"scrim/internal/connlimit"}, "browsers are served the same whatever is shown"},
	{"scrim/engine/ops/console", []string{"scrim/internal/web", "scrim/internal/client", "scrim/internal/sqltext"}, "it reaches the server by the protocol alone, so that no gate can be passed by"},
	{"scrim/internal/shell", []string{"scrim/internal/client", "scrim/internal/sqltext"}, "it asks a server as any client does"},
	{"scrim/internal/processors", nil, "how many there are follows from the machine"},
	{"scrim/internal/quota", nil, "memory knows nothing of what lies in it"},
	{"scrim/internal/turns", nil, "statements take turns, whatever they compute"},
	{"scrim/internal/gcpace", nil, "the collector knows no server"},
	{"scrim/internal/panics", nil, "everything may count a panic"},
	{"scrim/bench/everyday", []string{"scrim/engine", "scrim/bench", "scrim/internal/params", "scrim/testdata"}, "it asks a server as a client does"},
	{"scrim/bench/synthetic", []string{"scrim/accounting/privacy", "scrim/engine/estimator", "scrim/testdata"}, "the mechanism is measured without a server"},
	{"scrim/bench/tpch/private", []string{"scrim/bench", "scrim/test/testenv/tpch"}, "it asks a server as a client does"},
	{"scrim/test/testenv/tpch", []string{"scrim/testdata"}, "data and queries are made without a server"},
	{"scrim/functions/standard", []string{"scrim/internal/collation", "scrim/internal/quota", "scrim/internal/refuse", "scrim/internal/turns", "scrim/internal/sqltext"}, "functions as MySQL documents them, within a connection's memory and turns, and nothing above"},
	{"scrim/functions", []string{"scrim/engine/estimator", "scrim/accounting/privacy", "scrim/internal/params", "scrim/internal/refuse"}, "functions know which estimators serve them, nothing above"},
	{"scrim/engine/mysql/mysqlerr", []string{"scrim/accounting", "scrim/engine/exec", "scrim/engine/store", "scrim/internal/durable", "scrim/internal/panics", "scrim/internal/refuse", "scrim/internal/spill", "scrim/planner/plan"}, "errors are worded without a server"},
	{"scrim/engine/mysql/virtual", nil, "rows are made by whoever has the table"},
	{"scrim/internal/release", nil, "a version knows nothing of the program"},
	{"scrim/engine/observe/version", []string{"scrim/internal/release"}, "a name needs nothing else"},
	{"scrim/engine/ops/datadir", []string{"scrim/engine/ops/datadir", "scrim/accounting", "scrim/catalog", "scrim/engine/observe/audit", "scrim/engine/collections", "scrim/engine/store", "scrim/engine/mysql/tables", "scrim/engine/observe/version", "scrim/engine/ops/witness", "scrim/internal/durable", "scrim/internal/refuse", "scrim/internal/spill"}, "a directory is copied and loaded without a server"},
	{"scrim/engine/ops/monitor", []string{"scrim/accounting", "scrim/catalog", "scrim/engine/observe/audit", "scrim/engine/mysql/auth", "scrim/engine/ops/console", "scrim/engine/ops/dashboard", "scrim/engine/ops/datadir", "scrim/engine/exec", "scrim/engine/ops/metrics", "scrim/engine/mysql/session", "scrim/engine/store", "scrim/engine/observe/version", "scrim/engine/observe/watch", "scrim/internal/web", "scrim/engine/ops/witness", "scrim/internal/release", "scrim/internal/spill"}, "operators are shown a server, and cannot change it"},
	{"scrim/engine/collections/intake", []string{"scrim/engine/collections/collect", "scrim/engine/estimator/noise", "scrim/internal/web", "scrim/internal/connlimit", "scrim/internal/refuse"}, "what comes over HTTP reaches nothing but its backend"},
	{"scrim/internal/connlimit", nil, "counting connections needs nothing"},
	{"scrim/engine/mysql/gate", []string{"scrim/catalog", "scrim/engine/mysql/auth", "scrim/engine/mysql/browse", "scrim/engine/mysql/dialect", "scrim/engine/mysql/inbox", "scrim/engine/mysql/session", "scrim/engine/store", "scrim/engine/mysql/tables", "scrim/engine/mysql/wire", "scrim/internal/refuse", "scrim/internal/sqltext"}, "who may do what does not depend on how statements run"},
	{"scrim/engine/mysql/statement", []string{"scrim/engine/observe/audit", "scrim/engine/mysql/browse", "scrim/engine/mysql/dialect", "scrim/engine/mysql/gate", "scrim/engine/mysql/inbox", "scrim/engine/mysql/mysqlerr", "scrim/engine/mysql/session", "scrim/engine/mysql/statement", "scrim/engine/store", "scrim/engine/mysql/tables", "scrim/engine/observe/watch", "scrim/engine/mysql/wire", "scrim/internal/collation", "scrim/internal/refuse", "scrim/internal/sqltext", "scrim/planner"}, "statements run without what starts and stops a server"},
	{"scrim/engine/mysql/statement/cutoff", []string{"scrim/engine/mysql/session", "scrim/engine/mysql/wire"}, "when a statement ends does not depend on what it does"},
	{"scrim/engine/mysql/statement/processlist", nil, "a view of the SQL engine's list"},
	{"scrim/engine/mysql/statement/result", []string{"scrim/engine/mysql/browse", "scrim/engine/mysql/tables", "scrim/internal/collation", "scrim/internal/quota", "scrim/internal/turns", "scrim/internal/sqltext"}, "results are made of rows, wherever they come from"},
	{"scrim/engine/observe/traces", []string{"scrim/engine/observe/version", "scrim/engine/observe/watch"}, "spans are made of what observers are told, and of nothing else"},
	{"scrim/engine/mysql/statement/trace", []string{"scrim/accounting", "scrim/engine/observe/audit", "scrim/engine/exec", "scrim/engine/mysql/mysqlerr", "scrim/engine/mysql/session", "scrim/engine/store", "scrim/engine/observe/watch", "scrim/internal/digest", "scrim/internal/refuse", "scrim/planner/plan"}, "what is noted of statements does not run them"},
	{"scrim/engine/admin/price", []string{"scrim/accounting", "scrim/catalog", "scrim/engine/admin", "scrim/engine/estimator", "scrim/engine/exec", "scrim/engine/mysql/mysqlerr", "scrim/engine/mysql/session", "scrim/internal/refuse", "scrim/planner"}, "prices are told, and nothing is charged"},
	{"scrim/engine/admin/simulate", []string{"scrim/accounting", "scrim/engine/admin", "scrim/engine/collections/collect", "scrim/engine/collections", "scrim/engine/exec", "scrim/engine/mysql/mysqlerr", "scrim/engine/mysql/session", "scrim/engine/mysql/statement/processlist", "scrim/internal/refuse", "scrim/planner"}, "a simulation needs no server"},
	{"scrim/engine/views", []string{"scrim/accounting", "scrim/catalog", "scrim/engine/estimator", "scrim/engine/exec", "scrim/engine/mysql/mysqlerr", "scrim/engine/mysql/session", "scrim/engine/store", "scrim/engine/mysql/tables", "scrim/internal/params", "scrim/internal/refuse", "scrim/internal/remark", "scrim/internal/sqltext", "scrim/planner"}, "a view is made by a statement, and needs no server"},
	{"scrim/engine/exec", []string{"scrim/planner/plan", "scrim/functions", "scrim/accounting", "scrim/engine/estimator", "scrim/engine/store", "scrim/internal/digest", "scrim/internal/panics", "scrim/internal/params", "scrim/internal/processors", "scrim/internal/refuse", "scrim/internal/remark", "scrim/internal/spent", "scrim/internal/spill"}, "it runs plans, and makes none"},
	{"scrim/planner/rule", []string{"scrim/internal/refuse"}, "a rule is a name"},
	{"scrim/planner/tree", nil, "bound trees know nothing of privacy"},
	{"scrim/planner/stored", []string{"scrim/planner/plan", "scrim/catalog", "scrim/engine/store"}, "what is stored is known before what is asked of it"},
	{"scrim/planner/canon", []string{"scrim/planner/lower"}, "expressions have an order, whoever reads them"},
	{"scrim/planner/encode", []string{"scrim/functions"}, "values have a digest, whatever they mean"},
	{"scrim/planner/grid", []string{"scrim/planner/lower", "scrim/planner/rule", "scrim/engine/estimator", "scrim/internal/refuse"}, "a grid follows from a type and its bounds"},
	{"scrim/planner/rel", []string{"scrim/accounting/days", "scrim/planner/plan", "scrim/planner/lower", "scrim/planner/canon", "scrim/planner/grid", "scrim/planner/rule", "scrim/planner/stored", "scrim/planner/tree", "scrim/functions/standard", "scrim/catalog", "scrim/engine/store", "scrim/internal/collation", "scrim/internal/refuse", "scrim/internal/sqltext"}, "relations know persons, and neither losses nor parameters"},
	{"scrim/planner/push", []string{"scrim/planner/plan", "scrim/planner/lower", "scrim/planner/rel", "scrim/planner/stored", "scrim/planner/tree", "scrim/functions/standard", "scrim/engine/store", "scrim/internal/collation", "scrim/internal/sqltext"}, "public queries charge nothing and have no parameters"},
	{"scrim/planner/keys", []string{"scrim/planner/plan", "scrim/planner/lower", "scrim/planner/canon", "scrim/planner/rel", "scrim/planner/rule", "scrim/planner/tree", "scrim/functions/standard", "scrim/catalog", "scrim/engine/store", "scrim/internal/refuse", "scrim/internal/sqltext"}, "keys follow from domains and the query"},
	{"scrim/planner/settings", []string{"scrim/planner/rel", "scrim/planner/rule", "scrim/accounting/privacy", "scrim/catalog", "scrim/internal/params", "scrim/internal/refuse"}, "what a statement may spend is known before what it asks"},
	{"scrim/planner/aggregate", []string{"scrim/planner/canon", "scrim/planner/encode", "scrim/planner/grid", "scrim/planner/lower", "scrim/planner/plan", "scrim/planner/rel", "scrim/planner/rule", "scrim/planner/settings", "scrim/planner/tree", "scrim/functions", "scrim/engine/estimator", "scrim/internal/params", "scrim/internal/refuse"}, "an aggregate is bound before anything is divided"},
	{"scrim/planner/release", []string{"scrim/accounting/days", "scrim/planner/aggregate", "scrim/planner/encode", "scrim/planner/grid", "scrim/planner/keys", "scrim/planner/lower", "scrim/planner/plan", "scrim/planner/rel", "scrim/planner/rule", "scrim/planner/settings", "scrim/planner/tree", "scrim/functions", "scrim/accounting/privacy", "scrim/catalog", "scrim/engine/estimator", "scrim/engine/store", "scrim/internal/params", "scrim/internal/refuse", "scrim/internal/sqltext"}, "an aggregation is built before its loss is known"},
	{"scrim/planner/cost", []string{"scrim/planner/aggregate", "scrim/planner/encode", "scrim/planner/grid", "scrim/planner/keys", "scrim/planner/lower", "scrim/planner/plan", "scrim/planner/rel", "scrim/planner/release", "scrim/planner/rule", "scrim/planner/settings", "scrim/planner/tree", "scrim/functions", "scrim/accounting/privacy", "scrim/catalog", "scrim/engine/estimator", "scrim/engine/store", "scrim/internal/params", "scrim/internal/refuse"}, "what is divided does not change what is asked"},
	{"scrim/planner/cells", []string{"scrim/planner/aggregate", "scrim/planner/canon", "scrim/planner/keys", "scrim/planner/lower", "scrim/planner/plan", "scrim/planner/rel", "scrim/planner/settings", "scrim/planner/tree", "scrim/engine/estimator", "scrim/engine/store"}, "what a view tells follows from its definition and what it has released"},
	{"scrim/planner/ratio", []string{"scrim/planner/aggregate", "scrim/planner/plan", "scrim/planner/tree"}, "what is computed from answers does not change them"},
	{"scrim/planner/survey", []string{"scrim/planner/parse", "scrim/planner/rule", "scrim/planner/settings", "scrim/planner/stored", "scrim/planner/tree", "scrim/functions", "scrim/catalog", "scrim/internal/params", "scrim/internal/refuse"}, "a statement is looked at before it is planned"},
	{"scrim/planner/sample", []string{"scrim/planner/lower", "scrim/planner/plan", "scrim/planner/rel", "scrim/planner/rule", "scrim/planner/settings", "scrim/planner/stored", "scrim/planner/tree", "scrim/accounting/privacy", "scrim/engine/store", "scrim/internal/refuse", "scrim/internal/sqltext"}, "a source of a simulation is rows, not answers"},
	{"scrim/planner/parse", []string{"scrim/functions"}, "syntax trees alone"},
	{"scrim/planner/plan", []string{"scrim/planner/tree", "scrim/functions", "scrim/accounting", "scrim/engine/estimator", "scrim/engine/store", "scrim/internal/panics", "scrim/internal/refuse", "scrim/internal/remark"}, "a plan is a value"},
	{"scrim/planner/lower", []string{"scrim/planner/tree", "scrim/functions", "scrim/engine/estimator", "scrim/engine/store", "scrim/internal/collation", "scrim/internal/refuse", "scrim/internal/sqltext"}, "expressions know no plans"},
	{"scrim/planner", []string{"scrim/planner", "scrim/functions", "scrim/catalog", "scrim/accounting", "scrim/engine/estimator", "scrim/engine/store", "scrim/internal/collation", "scrim/internal/params", "scrim/internal/refuse", "scrim/internal/remark", "scrim/internal/sqltext"}, "planning opens nothing and runs nothing"},
}

// everywhere may be imported by every package: functions on lists know nothing of what is in them.
const everywhere = "scrim/internal/lists"

func TestArrowsPointOneWay(t *testing.T) {
	for _, p := range modulePackages(t) {
		rule := -1
		for i, r := range rules {
			if under(p.ImportPath, r.from) && (rule < 0 || len(r.from) > len(rules[rule].from)) {
				rule = i
			}
		}
		if rule < 0 {
			continue
		}
		for _, imp := range p.Imports {
			if under(imp, "scrim") && imp != everywhere && !allowed(imp, rules[rule].may) {
				t.Errorf("%s imports %s: %s", p.ImportPath, imp, rules[rule].reason)
			}
		}
	}
}

// TestOneDriverPackage keeps the DuckDB driver behind one package, and the test helpers out of the
// server binary.
func TestOneDriverPackage(t *testing.T) {
	for _, p := range modulePackages(t) {
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "github.com/marcboeker/") && p.ImportPath != "scrim/engine/store/duckdb" {
				t.Errorf("%s imports %s: only scrim/engine/store/duckdb may", p.ImportPath, imp)
			}
		}
		if p.ImportPath != "scrim/cmd/scrim" {
			continue
		}
		for _, d := range p.Deps {
			if under(d, "scrim/test/stattest") || under(d, "scrim/test/testenv") {
				t.Errorf("the server binary links %s: noise could be replaced", d)
			}
			if under(d, "scrim/bench") || under(d, "gonum.org/v1/plot") {
				t.Errorf("the server binary links %s: experiments and plots are scrim-bench's", d)
			}
		}
	}
}

// rooms are the parts of engine/, from the lowest: each imports only those before it.
var rooms = []string{"observe", "estimator", "store", "exec", "mysql", "collections", "views", "ops", "admin"}

// TestRoomsHaveAnOrder: engine/ is its rooms and ten files at most. No room imports a later one,
// and internal/ imports none.
func TestRoomsHaveAnOrder(t *testing.T) {
	room := func(path string) int {
		rest, ok := strings.CutPrefix(path, "scrim/engine/")
		if !ok {
			return -1
		}
		name, _, _ := strings.Cut(rest, "/")
		i := slices.Index(rooms, name)
		if i < 0 {
			t.Errorf("%s is in none of the rooms %s", path, strings.Join(rooms, ", "))
		}
		return i
	}
	for _, p := range modulePackages(t) {
		from := room(p.ImportPath)
		if p.ImportPath == "scrim/engine" && len(p.GoFiles) > 10 {
			t.Errorf("scrim/engine has %d files, at most ten are wanted", len(p.GoFiles))
		}
		for _, imp := range p.Imports {
			if to := room(imp); from >= 0 && to > from {
				t.Errorf("%s imports %s: room %s stands above %s", p.ImportPath, imp, rooms[to], rooms[from])
			} else if under(p.ImportPath, "scrim/internal") && under(imp, "scrim/engine") {
				t.Errorf("%s imports %s: what every part may use knows none of them", p.ImportPath, imp)
			}
		}
	}
}

// TestPartsDoNotKnowTheServer: what package engine assembles does not import it.
func TestPartsDoNotKnowTheServer(t *testing.T) {
	for _, p := range modulePackages(t) {
		if under(p.ImportPath, "scrim/engine") && slices.Contains(p.Imports, "scrim/engine") {
			t.Errorf("%s imports scrim/engine, which assembles it", p.ImportPath)
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	for _, p := range modulePackages(t) {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
		if main := path.Base(p.ImportPath) + ".go"; len(p.GoFiles) > 1 && !slices.Contains(p.GoFiles, "doc.go") && !slices.Contains(p.GoFiles, main) {
			t.Errorf("%s has %d files, and neither doc.go nor %s, where its comment is looked for", p.ImportPath, len(p.GoFiles), main)
		}
	}
}

func allowed(imp string, may []string) bool {
	for _, m := range may {
		if under(imp, m) {
			return true
		}
	}
	return false
}

func under(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
