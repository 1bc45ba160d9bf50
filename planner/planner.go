package planner

import (
	"sync"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/aggregate"
	"scrim/planner/cells"
	"scrim/planner/cost"
	"scrim/planner/keys"
	"scrim/planner/parse"
	"scrim/planner/plan"
	"scrim/planner/push"
	"scrim/planner/ratio"
	"scrim/planner/rel"
	"scrim/planner/release"
	"scrim/planner/rule"
	"scrim/planner/sample"
	"scrim/planner/settings"
	"scrim/planner/stored"
	"scrim/planner/survey"
	"scrim/planner/tree"
)

// Ids of the analyzer rules, above those of go-mysql-server.
const (
	rewriteID analyzer.RuleId = 20001 + iota
	guardID
	windowsID
	budgetID
	pushID
	typesID
	collatedID
	listedID
	unionsID
)

// Planner plans the statements of one server. It is immutable and safe for concurrent use.
type Planner struct{ config Config }

// New returns a planner. It panics where the configuration lacks what every statement needs.
func New(c Config) *Planner {
	if c.Catalog == nil || c.Executor == nil || c.Session == nil {
		panic("planner: the configuration needs a catalog, an executor and session facts")
	}
	return &Planner{config: c}
}

// planners finds the planner of an analyzer for the one rule that is installed for the process:
// go-mysql-server takes short ways for simple INSERT, UPDATE and DELETE that only run rules of its
// global list.
var planners sync.Map // *analyzer.Analyzer → *Planner

func init() {
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault, analyzer.Rule{Id: guardID,
		Apply: func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *gmsplan.Scope, sel analyzer.RuleSelector, q *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
			p, ok := planners.Load(a)
			if !ok {
				return n, transform.SameTree, nil
			}
			return p.(*Planner).guard(ctx, a, n, scope, sel, q)
		}})
}

// Build adds the planner's rules to a builder of an analyzer, and builds it.
func (p *Planner) Build(b *analyzer.Builder) *analyzer.Analyzer {
	b.AddPreAnalyzeRule(windowsID, func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		return tree.PastWindows(ctx, n)
	})
	b.AddPreAnalyzeRule(collatedID, func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		create, creates := n.(*gmsplan.CreateTable)
		if survey.SchemaOnly(ctx, n) || creates && (create.Select() == nil || create.TableOpts != nil) {
			return n, transform.SameTree, nil
		}
		return standard.Collate(ctx, n)
	})
	b.AddPreAnalyzeRule(rewriteID, p.rewrite)
	b.AddPreAnalyzeRule(typesID, func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		return standard.Types(ctx, n, parse.FailsByZero(ctx))
	})
	b.AddPreAnalyzeRule(unionsID, func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if survey.SchemaOnly(ctx, n) {
			return n, transform.SameTree, nil
		}
		return standard.Unions(ctx, n)
	})
	if p.config.Public != nil {
		b.AddPreAnalyzeRule(pushID, p.pushDown)
	}
	b.AddPreAnalyzeRule(listedID, func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		return standard.Listed(ctx, n)
	})
	b.AddPostValidationRule(budgetID, p.budget)
	for _, r := range analyzer.OnceBeforeDefault {
		if r.Id.String() == "validateGroupBy" { // which reads names, where onlyFullGroupBy reads columns
			b.RemoveOnceBeforeRule(r.Id)
		}
	}
	a := b.Build()
	planners.Store(a, p)
	return a
}

// Close forgets an analyzer that Build made.
func (p *Planner) Close(a *analyzer.Analyzer) { planners.Delete(a) }

// rewrite is the rule that runs on the bound tree before any rule of go-mysql-server: logical nodes
// only, nothing pushed down, counted from statistics or reordered. Nested calls see subtrees of
// what the call for the whole statement has already rewritten, or the bodies of triggers.
func (p *Planner) rewrite(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	same := func(err error) (sql.Node, transform.TreeIdentity, error) { return n, transform.SameTree, err }
	if want, ok := sample.WantedBy(ctx); ok {
		out, err := p.sample(ctx, a, n, !scope.IsEmpty() || scope.RecursionDepth() > 0, want)
		return out, transform.NewTree, err
	}
	if scope.IsEmpty() && scope.RecursionDepth() == 0 {
		if err := onlyFullGroupBy(ctx, n); err != nil {
			return same(err)
		}
	}
	if p.config.Session.RawAccess(ctx) {
		return same(nil)
	}
	c := p.config.Catalog()
	if handled, err := survey.Kind(ctx, c, p.config.Session.IsDBA, n); handled || err != nil {
		return same(err)
	}
	f := survey.Of(ctx, c, n)
	if len(f.Undeclared) > 0 && !p.config.Session.IsDBA(ctx) {
		return same(survey.Undeclared(f.Undeclared))
	}
	if len(f.Protected) == 0 || f.BindVars {
		return same(nil)
	}
	t, err := survey.ReadText(ctx)
	if err == nil {
		n, err = standard.ColumnTypes(ctx, n)
	}
	if err != nil {
		return same(err)
	}
	nested := !scope.IsEmpty() || scope.RecursionDepth() > 0
	switch {
	case t.View, nested && t.Binds:
		// A definition is bound, or a statement is prepared whose values are still to come: what is
		// left of protected scans cannot run, the tables themselves refuse.
		return same(nil)
	case t.Analyze:
		return same(rule.Deny(rule.ExplainAnalyze, refuse.Context, "Use EXPLAIN, which runs nothing.", "EXPLAIN ANALYZE would run the private query and time it."))
	case !t.Query || nested:
		return same(rule.Deny(rule.Context, refuse.Context, "", "A private query cannot run inside another statement, a trigger, an event or a stored program."))
	}
	if t.Window {
		return same(survey.Windowed())
	}
	s, err := p.statement(ctx, a, c, t, f)
	if err != nil {
		return same(err)
	}
	s.Answer, s.AnswerEach = s.scalar, s.answerEach
	if s.params.EmptyPreviews() && s.isPreview(n) {
		return s.previewed(n)
	}
	r, err := s.build(n, position{top: true})
	if err != nil {
		return same(err)
	}
	if r.rel != nil {
		return same(s.raw(r.rel, "The query"))
	}
	d := cost.NewDivider(ctx, s.releases, s.params, s.aggregations, s.nodes)
	d.Earlier, d.Explains = p.config.Earlier, s.explains
	if err := d.Finish(); err != nil {
		return same(err)
	}
	s.chooseViews()
	if r.node, err = s.pushedBelow(r.node); err != nil {
		return same(err)
	}
	if len(s.nodes) > 0 {
		st := s.nodes[0].Statement
		st.Ranges = ratio.Of(ctx, n)
		if len(s.nodes) == 1 {
			st.Top = ratio.Top(ctx, n, s.nodes[0])
		}
	}
	return r.node, transform.NewTree, nil
}

// statement begins the planning of one statement.
func (p *Planner) statement(ctx *sql.Context, a *analyzer.Analyzer, c catalog.Reader, t survey.Text, f survey.Facts) (*statement, error) {
	session := settings.Layer{}
	for _, of := range params.At(params.Hint) {
		v, set := p.config.Session.Parameter(ctx, of)
		if !set {
			continue
		}
		if !of.Takes(v) { // SET has let it through: the guarantee rests on it
			return nil, settings.BadParameter(of, v.String(), "The session")
		}
		session[of] = v
	}
	s := &statement{
		Writer: rel.NewWriter(ctx, rel.Tables{
			Catalog: c, Find: func(name string) (stored.Table, bool) { return stored.Find(ctx, a, name) },
			LastColumn: f.MaxColumn, StoreMemory: p.config.StoreMemory,
		}),
		ctx: ctx, catalog: c,
		p:       p,
		params:  &settings.Settings{Layers: []settings.Layer{t.Hints, session}, PureTable: p.pureTable(ctx, c, f.Protected)},
		retyped: tree.Types{}, scalars: map[*gmsplan.GroupBy]*plan.DPAggregate{}, keyed: map[*gmsplan.GroupBy]*keyedAnswer{}, carried: map[sql.ColumnId]bool{},

		explains: t.Explain,
		analyzer: a, definitions: map[store.TableRef]*cells.Definition{}, viewed: map[*plan.Release]*viewed{},
	}
	s.Writer.Rows = s.deciding
	s.aggs = aggregate.NewBinder(ctx, s.Writer, s.params)
	s.aggs.Intervals = f.Intervals
	s.keys = keys.NewFinder(ctx, s.Writer, c, p.config.Domains, p.config.Public)
	if v := settings.ViewOf(ctx); v != nil && v.Series != nil {
		s.keys.Days = v.Series.Days
	}
	s.releases = release.NewBuilder(ctx, s.Writer, s.params, s.keys, s.aggs, p.config.Memory)
	return s, nil
}

// guard runs where go-mysql-server skips the other rules: it refuses, and rewrites nothing.
func (p *Planner) guard(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, _ *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if p.config.Session.RawAccess(ctx) {
		return n, transform.SameTree, nil
	}
	_, err := survey.Kind(ctx, p.config.Catalog(), p.config.Session.IsDBA, n)
	return n, transform.SameTree, err
}

// budget puts the Budget node at the root of a statement, after validation: only then is the tree
// what will run. Nested analyses leave it to the outermost.
func (p *Planner) budget(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, scope *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !scope.IsEmpty() || scope.RecursionDepth() > 0 {
		return n, transform.SameTree, nil
	}
	n, _, err := transform.NodeWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if b, ok := n.(*plan.Budget); ok {
			return b.Child, transform.NewTree, nil
		}
		return n, transform.SameTree, nil
	})
	if err != nil {
		return n, transform.SameTree, err
	}
	var st *plan.Statement
	tree.Inspect(ctx, n, func(n sql.Node) {
		if d, ok := n.(*plan.DPAggregate); ok {
			st = d.Statement
		}
	}, nil)
	if st == nil {
		return n, transform.SameTree, nil
	}
	return &plan.Budget{UnaryNode: gmsplan.UnaryNode{Child: n}, Statement: st, Executor: p.config.Executor, Forecast: p.config.Forecast}, transform.NewTree, nil
}

// Analyze plans a statement that an engine's parser has read, without running it.
func Analyze(ctx *sql.Context, e *sqle.Engine, text string, tree ast.Statement) (sql.Node, error) {
	ctx = parse.WithStatement(ctx, text, tree)
	bound, flags, err := planbuilder.New(ctx, e.Analyzer.Catalog, e.EventScheduler).BindOnly(tree, text, nil)
	if err != nil {
		return nil, err
	}
	return e.Analyzer.Analyze(ctx, bound, nil, flags)
}

// SessionFacts answers what the planner must know about the session of a context.
type SessionFacts interface {
	// Parameter returns a session parameter as the client set it; set is false where the session
	// leaves the choice to the table's defaults.
	Parameter(ctx *sql.Context, p *params.Parameter) (value params.Value, set bool)
	// RawAccess reports whether the session may read protected rows as they are: a DBA with dp_raw
	// ON.
	RawAccess(ctx *sql.Context) bool
	// IsDBA reports whether the session's account is a DBA.
	IsDBA(ctx *sql.Context) bool
}

// Config holds what a planner depends on.
type Config struct {
	// Catalog returns the current policies; it is called once a statement.
	Catalog  func() catalog.Reader
	Executor plan.Executor
	Session  SessionFacts
	// Pure reports whether what the session's principal spends on a table's or an entity's account
	// must have a pure ε: a budget that it is tested against has δ = 0. nil: it never must.
	Pure func(ctx *sql.Context, account string, entity bool) bool
	// Forecast tells what the budgets would say to the charges of a statement, as far as the
	// session's account may know: EXPLAIN prints it. nil: EXPLAIN tells the cost alone.
	Forecast func(ctx *sql.Context, s *plan.Statement) ([]accounting.Forecast, error)
	// Earlier finds what an earlier answer of the session's principal tells about the error of an
	// aggregate, by its shape (Aggregate.Shape). nil: nothing is kept.
	Earlier func(ctx *sql.Context, shape string) (plan.Earlier, bool)
	// Views lists the DP views of the given tables, and of no others, that the session's account
	// may read. nil: there are none.
	Views func(ctx *sql.Context, tables []store.TableRef) ([]*cells.View, error)
	// Domains may be nil: domains that come from a table are then refused.
	Domains keys.DomainSource
	// Public may be nil: queries on public tables then stay with go-mysql-server.
	Public push.Executor
	// Memory bounds the numbers of one query that the executor holds, in bytes; 0: no bound is
	// known.
	Memory int64
	// StoreMemory bounds what the store keeps in memory, in bytes; 0: no bound is known.
	StoreMemory int64
}

// statement is the planning of one statement.
type statement struct {
	*rel.Writer
	keys     *keys.Finder
	releases *release.Builder
	aggs     *aggregate.Binder
	ctx      *sql.Context
	catalog  catalog.Reader
	p        *Planner
	params   *settings.Settings
	// columns of answers whose type differs from what the binder said
	retyped      tree.Types
	nodes        []*plan.DPAggregate    // in the order of the tree
	aggregations []*release.Aggregation // distinct releases

	// the private answers that are values of the rows around them
	scalars map[*gmsplan.GroupBy]*plan.DPAggregate
	keyed   map[*gmsplan.GroupBy]*keyedAnswer // those by values of these rows

	over  sql.Node // whose expressions are being rewritten
	looks bool     // an expression looks answers up

	// columns of answers that have no value: a group has many
	carried map[sql.ColumnId]bool

	analyzer    *analyzer.Analyzer
	definitions map[store.TableRef]*cells.Definition // of DP views, nil of those that are none any more
	viewed      map[*plan.Release]*viewed            // what DP views tell
	viewsNot    []plan.NotTaken                      // why others do not answer
	defines     *gmsplan.GroupBy                     // of a view's definition, where this is one

	privates map[sql.Node]bool // whether subtrees are rows of persons, as far as it was asked

	explains bool // the plan is only shown
}

// pushDown is the rule that hands whole queries on public tables to the store. With raw access a
// DBA's queries on protected tables are such, too. It runs after rewrite and touches only
// statements without protected and undeclared tables.
func (p *Planner) pushDown(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, scope *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !scope.IsEmpty() || scope.RecursionDepth() > 0 || survey.SchemaOnly(ctx, n) {
		return n, transform.SameTree, nil
	}
	var c catalog.Reader = readable{p.config.Catalog(), p.config.Session.RawAccess(ctx), p.config.Session.IsDBA(ctx)}
	f := survey.Of(ctx, c, n)
	if len(f.Protected) > 0 || len(f.Undeclared) > 0 || f.BindVars {
		return n, transform.SameTree, nil
	}
	out, changed := push.Down(ctx, rel.Tables{Catalog: c, LastColumn: f.MaxColumn, StoreMemory: p.config.StoreMemory}, p.config.Public, n)
	if !changed {
		return n, transform.SameTree, nil
	}
	return out, transform.NewTree, nil
}

// readable shows the tables that a session may read as they are as public ones: protected tables to
// raw access, undeclared ones to a DBA. The store asks again before it hands rows out.
type readable struct {
	catalog.Reader
	raw, dba bool
}

// Table implements catalog.Reader.
func (r readable) Table(name string) catalog.Table {
	t := r.Reader.Table(name)
	if t.State == catalog.Protected && r.raw || t.State == catalog.Undeclared && r.dba {
		return catalog.Table{Name: t.Name, State: catalog.Public}
	}
	return t
}

// sample plans the source of a simulation. Raw access plays no part: what is protected is charged,
// whoever asks.
func (p *Planner) sample(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, nested bool, want sample.Wanted) (sql.Node, error) {
	c := p.config.Catalog()
	f := survey.Of(ctx, c, n)
	switch {
	case len(f.Undeclared) > 0:
		return nil, sample.Unsuitable("%s has been declared neither protected nor public.", f.Undeclared[0])
	case len(f.Protected) == 0:
		return n, sample.OnlyStored(ctx, n)
	case nested || f.BindVars:
		return nil, sample.Unsuitable("The query on %s has a subquery or a place holder.", f.Protected[0])
	}
	t, err := survey.ReadText(ctx)
	if err != nil {
		return nil, err
	}
	if !t.Query || t.Explain {
		return nil, sample.Unsuitable("The source is not a SELECT.")
	}
	s, err := p.statement(ctx, a, c, t, f)
	if err != nil {
		return nil, err
	}
	out, err := sample.Source(s.Writer, s.ctx, s.params, s.rows, n, want)
	if r, ok := refuse.As(err); ok && r.Code != refuse.Parameter && r.Code != refuse.SimulationSource {
		return nil, sample.Unsuitable("%s", r.Cause)
	}
	return out, err
}

// pureTable returns the first of the tables named, and of those that they are linked to, that is on
// the pure account, "" where there is none: a table is charged with its parents.
func (p *Planner) pureTable(ctx *sql.Context, c catalog.Reader, names []string) string {
	if p.config.Pure == nil {
		return ""
	}
	name, _ := lists.Find(names, func(name string) bool { return p.pure(ctx, c, name, rel.MaxLinkDepth) })
	return name
}

// pure reports whether a table, or one that its links lead to, is on the pure account.
func (p *Planner) pure(ctx *sql.Context, c catalog.Reader, name string, depth int) bool {
	t := c.Table(name)
	if p.config.Pure(ctx, t.Account, false) || p.config.Pure(ctx, t.Entity, true) {
		return true
	}
	for _, o := range t.Owners() {
		if p.config.Pure(ctx, o.Entity, true) || o.Unit.Link != nil && depth > 0 && p.pure(ctx, c, o.Unit.Link.Parent, depth-1) {
			return true
		}
	}
	return false
}
