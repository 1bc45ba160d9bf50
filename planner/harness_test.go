package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/functions"
	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/parse"
	"scrim/planner/plan"
	"scrim/planner/rule"
)

// TestMain takes out the refusal rule that the environment names, so that a script can see that
// some test notices.
func TestMain(m *testing.M) {
	rule.Disabled = rule.Rule(os.Getenv("SCRIM_WITHOUT_RULE"))
	os.Exit(m.Run())
}

// stubTable gives a memory table the store's interface; it holds no rows and refuses to be read.
type stubTable struct {
	sql.Table
	ref store.TableRef
}

func (t *stubTable) StoreRef() store.TableRef { return t.ref }

func (t *stubTable) StoreColumns() []store.Column {
	var out []store.Column
	for _, c := range t.Schema(sql.NewEmptyContext()) {
		typ := storeType(c.Type)
		if c.Comment != "" { // a type that MySQL does not have: arrays
			typ = c.Comment
		}
		out = append(out, store.Column{Name: c.Name, Type: typ, Nullable: c.Nullable})
	}
	return out
}

func (t *stubTable) StoreCollation(c store.Column) sql.CollationID {
	s := t.Schema(sql.NewEmptyContext())
	return collation.Of(s[s.IndexOfColName(c.Name)].Type)
}

func (t *stubTable) PrimaryKeySchema(ctx *sql.Context) sql.PrimaryKeySchema {
	return t.Table.(sql.PrimaryKeyTable).PrimaryKeySchema(ctx)
}

func (t *stubTable) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return nil, errors.New("stub: rows of a stored table were read")
}

func (t *stubTable) Inserter(*sql.Context) sql.RowInserter { return nil }
func (t *stubTable) Replacer(*sql.Context) sql.RowReplacer { return nil }
func (t *stubTable) Updater(*sql.Context) sql.RowUpdater   { return nil }
func (t *stubTable) Deleter(*sql.Context) sql.RowDeleter   { return nil }
func (t *stubTable) Truncate(*sql.Context) (int, error)    { return 0, nil }

func storeType(t sql.Type) string {
	if s, err := lower.DuckDBType(t); err == nil {
		return s
	}
	return "VARCHAR"
}

// stubProvider wraps the tables of a memory provider.
type stubProvider struct{ *memory.DbProvider }

func (p *stubProvider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	db, err := p.DbProvider.Database(ctx, name)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(name, "extern") {
		return db, nil
	}
	return &stubDatabase{db.(*memory.Database)}, nil
}

type stubDatabase struct{ *memory.Database }

func (d *stubDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	t, ok, err := d.Database.GetTableInsensitive(ctx, name)
	if err != nil || !ok {
		return nil, ok, err
	}
	return &stubTable{t, store.TableRef{Schema: strings.ToLower(d.Name()), Name: strings.ToLower(t.Name())}}, true, nil
}

// policies is a mutable catalogue for tests.
type policies map[string]catalog.Table

func (p policies) Table(name string) catalog.Table {
	t, ok := p[name]
	if !ok {
		return catalog.Table{Name: name}
	}
	return t
}

// Disjoint implements catalog.Reader: a table of no name stands for each pair, in either order.
func (p policies) Disjoint(a, b string) bool {
	_, ok := p["disjoint "+a+" "+b]
	_, back := p["disjoint "+b+" "+a]
	return ok || back
}

// harness is one engine with a planner over stubs.
type harness struct {
	t        testing.TB
	policies policies
	session  map[*params.Parameter]params.Value
	raw, dba bool
	pure     map[string]bool // accounts of tables and entities whose budget has delta 0
	sources  map[string][]any
	ddl      *sqle.Engine
	engine   *sqle.Engine
	provider *memory.DbProvider
	planner  *Planner
	base     sql.Session
	begun    int
	pushed   []string
}

func (h *harness) Parameter(_ *sql.Context, p *params.Parameter) (params.Value, bool) {
	v, ok := h.session[p]
	return v, ok
}
func (h *harness) RawAccess(*sql.Context) bool { return h.raw }
func (h *harness) IsDBA(*sql.Context) bool     { return h.dba }
func (h *harness) Pure(_ *sql.Context, account string, entity bool) bool {
	return h.pure[map[bool]string{true: "entity:"}[entity]+account]
}

func (h *harness) Values(_ *sql.Context, s catalog.Source, limit int) ([]any, error) {
	v, ok := h.sources[s.Table+"."+s.Column]
	if !ok {
		for i := range limit + 1 {
			v = append(v, int64(i))
		}
	}
	return v, nil
}

// QueryTables notes the query and returns no rows.
func (h *harness) QueryTables(_ *sql.Context, reads []store.TableRef, query string, args []any, _ sql.Schema) (sql.RowIter, error) {
	h.pushed = append(h.pushed, scanText(plan.Scan{SQL: query, Args: args})+fmt.Sprintf("\n  -- reads %v", reads))
	return sql.RowsToRowIter(), nil
}

func (h *harness) Begin(*sql.Context, *plan.Statement) (plan.Execution, error) {
	h.begun++
	return h, nil
}

// Answer makes up one row per public group, or one.
func (h *harness) Answer(_ *sql.Context, r *plan.Release) ([]sql.Row, error) {
	row := make(sql.Row, len(r.Output))
	for i, o := range r.Output {
		if o.Aggregate >= 0 {
			row[i] = r.Schema[i].Type.Zero()
		}
	}
	return []sql.Row{row}, nil
}

func newHarness(t testing.TB) *harness {
	h := &harness{t: t, policies: policies{}, session: map[*params.Parameter]params.Value{}, sources: map[string][]any{}, pure: map[string]bool{}}
	h.provider = memory.NewDBProvider(memory.NewDatabase("shop"), memory.NewDatabase("extern"))
	h.ddl = sqle.New(analyzer.NewBuilder(h.provider).Build(), nil)
	p := New(Config{Catalog: func() catalog.Reader { return h.policies }, Executor: h, Session: h, Domains: h, Public: h, Pure: h.Pure})
	b := analyzer.NewBuilder(&stubProvider{h.provider}).AddOverrides(sql.EngineOverrides{Builder: sql.BuilderOverrides{Parser: parser}})
	a := p.Build(b)
	t.Cleanup(func() { p.Close(a) })
	h.engine, h.planner = sqle.New(a, nil), p
	h.engine.Analyzer.Catalog.RegisterFunction(sql.NewEmptyContext(), functions.Register()...)
	for _, name := range []string{"row_number", "rank", "dense_rank", "lag", "lead", "first_value", "ntile", "sum", "avg", "count", "min", "max"} {
		f, ok := standard.Function(standard.Windowed(name))
		if !ok {
			t.Fatalf("no %s", name)
		}
		h.engine.Analyzer.Catalog.RegisterFunction(sql.NewEmptyContext(), f)
	}
	h.base = memory.NewSession(sql.NewBaseSession(), h.provider)
	return h
}

// adapting is vitess' parser with the planner's step, for the ways in which the tests' statements
// come.
type adapting struct{ *sql.MysqlParser }

var parser = adapting{sql.NewMysqlParser()}

func (p adapting) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, o ast.ParserOptions) (ast.Statement, string, string, error) {
	s, first, rest, err := p.MysqlParser.ParseWithOptions(ctx, query, delimiter, multi, o)
	return adapted(s), first, rest, err
}

func (p adapting) ParseOneWithOptions(ctx context.Context, query string, o ast.ParserOptions) (ast.Statement, int, error) {
	s, end, err := p.MysqlParser.ParseOneWithOptions(ctx, query, o)
	return adapted(s), end, err
}

// adapted is what the planner is given: functions of windows have names of their own.
func adapted(s ast.Statement) ast.Statement {
	renamed := map[*ast.FuncExpr]bool{}
	if q, ok := s.(ast.SelectStatement); ok {
		_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
			if f, ok := n.(*ast.FuncExpr); ok && f.Over != nil && !renamed[f] {
				renamed[f] = true
				f.Name = ast.NewColIdent(standard.Windowed(f.Name.Lowered()))
				f.Exprs = append(ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewIntVal([]byte("0"))}}, f.Exprs...)
			}
			return true, nil
		}, q)
	}
	return parse.Adapt(s)
}

// context is where a statement runs. One that cannot be parsed has its text only.
func (h *harness) context(query string) *sql.Context {
	ctx := sql.NewContext(h.t.Context(), sql.WithSession(h.base))
	ctx.SetCurrentDatabase("shop")
	// The rules hold without the mode that refuses columns beside aggregates before.
	if err := ctx.SetSessionVariable(ctx, "sql_mode", "NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES"); err != nil {
		h.t.Fatal(err)
	}
	s, _, _, err := parser.ParseWithOptions(ctx, query, ';', true, sql.LoadSqlMode(ctx).ParserOptions())
	if err != nil {
		return ctx.WithQuery(query)
	}
	return parse.WithStatement(ctx, query, s)
}

// define runs DDL on the memory database.
func (h *harness) define(text string) string {
	for _, q := range statements(text) {
		ctx := h.context(q)
		_, it, _, err := h.ddl.Query(ctx, q)
		if err == nil {
			_, err = sql.RowIterToRows(ctx, it)
		}
		if err != nil {
			return "error: " + err.Error()
		}
	}
	return "ok"
}

// run executes a statement and returns its rows, or the refusal.
func (h *harness) run(q string) ([]sql.Row, error) {
	ctx := h.context(q)
	_, it, _, err := h.engine.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	return sql.RowIterToRows(ctx, it)
}

// plan binds and analyses a statement and returns its private part.
func (h *harness) plan(q string) (*plan.Statement, sql.Node, error) {
	ctx := h.context(q)
	n, err := h.engine.AnalyzeQuery(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if d, ok := n.(*gmsplan.DescribeQuery); ok {
		n = d.Query()
	}
	b, ok := n.(*plan.Budget)
	if !ok {
		return nil, n, nil
	}
	return b.Statement, n, nil
}

// ddlBind binds a statement over the stub tables without any rule.
func (h *harness) ddlBind(q string) (sql.Node, error) {
	ctx := h.context(q)
	b := planbuilder.New(ctx, h.engine.Analyzer.Catalog, nil)
	n, _, _, _, err := b.Parse(q, nil, false)
	return n, err
}

// refusalText prints an error as the tests expect it.
func refusalText(err error) string {
	r, ok := refuse.As(err)
	if !ok {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("refused by %s (%s)\n%s", rule.Of(err), r.Code, r.Error())
}

// policy runs one policy command:
//
//	protect TABLE UNIT|row ENTITY [PERIOD COLUMN], public TABLE, link CHILD COLUMN PARENT COLUMN,
//	also CHILD COLUMN PARENT COLUMN (a second person), disjoint ENTITY ENTITY,
//	domain TABLE COLUMN JSON, defaults TABLE JSON, source TABLE COLUMN JSON,
//	set NAME VALUE, unset NAME, raw on|off, dba on|off,
//	memory QUERY STORE, in MiB, pure ACCOUNT|entity:NAME on|off
func (h *harness) policy(line string) error {
	f := strings.Fields(line)
	arg := func(i int) string {
		if i < len(f) {
			return f[i]
		}
		return ""
	}
	rest := func(i int) string { return strings.Join(f[min(i, len(f)):], " ") }
	name := arg(1)
	t := h.policies.Table(name)
	t.Name, t.Account = name, "account:"+name
	switch arg(0) {
	case "protect":
		t.State, t.Entity, t.Unit = catalog.Protected, arg(3), catalog.Unit{Column: arg(2)}
		if arg(2) == "row" {
			t.Unit = catalog.Unit{Row: true}
		}
		if arg(4) != "" {
			t.Unit.Period = catalog.Period{Every: arg(4), Of: arg(5)}
		}
	case "public":
		t.State = catalog.Public
	case "undeclare":
		delete(h.policies, name)
		return nil
	case "link":
		parent := h.policies.Table(arg(3))
		t.State, t.Entity = catalog.Protected, parent.Entity
		t.Unit = catalog.Unit{Link: &catalog.Link{Column: arg(2), Parent: arg(3), ParentColumn: arg(4)}}
	case "also":
		t.Also = &catalog.Owner{Entity: h.policies.Table(arg(3)).Entity, Unit: catalog.Unit{Link: &catalog.Link{Column: arg(2), Parent: arg(3), ParentColumn: arg(4)}}}
	case "disjoint":
		t.Name, t.Account = "", ""
		name = "disjoint " + arg(1) + " " + arg(2)
	case "entity":
		t.Entity = arg(2)
	case "neighbours":
		t.Relation, t.Sized = catalog.ReplaceOne, arg(2) == "sized"
	case "domain":
		d, err := parseDomain(rest(3))
		if err != nil {
			return err
		}
		m := map[string]catalog.Domain{}
		for k, v := range t.Domains {
			m[k] = v
		}
		m[arg(2)] = d
		t.Domains = m
	case "defaults":
		t.Defaults = catalog.Defaults{}
		if err := json.Unmarshal([]byte(rest(2)), &t.Defaults); err != nil {
			return err
		}
	case "source":
		var v []any
		if err := json.Unmarshal([]byte(rest(3)), &v); err != nil {
			return err
		}
		h.sources[name+"."+arg(2)] = v
		return nil
	case "memory":
		_, err := fmt.Sscan(rest(1), &h.planner.config.Memory, &h.planner.config.StoreMemory)
		h.planner.config.Memory <<= 20
		h.planner.config.StoreMemory <<= 20
		return err
	case "set":
		p, ok := params.ByName(name, params.Session)
		if !ok {
			return fmt.Errorf("no parameter %s", name)
		}
		text := strings.Trim(rest(2), `"`)
		if text == "null" {
			text = "NULL"
		}
		v, ok := p.Read(text)
		if !ok { // no session holds it: a value that got past SET
			v = params.Value{Word: text}
		}
		h.session[p] = v
		return nil
	case "unset":
		p, _ := params.ByName(name, params.Session)
		delete(h.session, p)
		return nil
	case "pure":
		h.pure[name] = arg(2) == "on"
		return nil
	case "raw":
		h.raw = name == "on"
		return nil
	case "dba":
		h.dba = name == "on"
		return nil
	default:
		return fmt.Errorf("unknown policy command %q", line)
	}
	h.policies[name] = t
	return nil
}

// declare runs policy commands.
func (h *harness) declare(text string) string {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if err := h.policy(line); err != nil {
			return "error: " + err.Error()
		}
	}
	return "ok"
}

// fixture loads a schema with its policies.
func (h *harness) fixture(name string) string {
	ddl, err := os.ReadFile("testdata/fixtures/" + name + ".sql")
	if err != nil {
		return err.Error()
	}
	policy, err := os.ReadFile("testdata/fixtures/" + name + ".policy")
	if err != nil {
		return err.Error()
	}
	if out := h.define(string(ddl)); out != "ok" {
		return out
	}
	return h.declare(string(policy))
}

func parseDomain(text string) (catalog.Domain, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return catalog.Domain{}, err
	}
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			if f, ok := x.(float64); ok && f == float64(int64(f)) {
				v[i] = int64(f)
			}
		}
		return catalog.Domain{Values: v}, nil
	case map[string]any:
		if t, ok := v["table"].(string); ok {
			return catalog.Domain{Source: &catalog.Source{Table: t, Column: v["column"].(string)}}, nil
		}
		return catalog.Domain{Range: &catalog.Range{Min: v["min"].(float64), Max: v["max"].(float64)}}, nil
	}
	return catalog.Domain{}, fmt.Errorf("bad domain %s", text)
}

// statements splits a text at lines that end with a semicolon.
func statements(text string) []string {
	var out []string
	for _, s := range regexp.MustCompile(`;\s*(\n|$)`).Split(text, -1) {
		if strings.TrimSpace(s) != "" {
			out = append(out, strings.TrimSpace(s))
		}
	}
	return out
}
