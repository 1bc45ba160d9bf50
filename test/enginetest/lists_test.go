package enginetest

import (
	"fmt"
	"regexp"
	"strings"

	q "github.com/dolthub/go-mysql-server/enginetest/queries"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"gopkg.in/src-d/go-errors.v1"
)

// A list is one list of the module.
type list struct {
	name    string
	changes bool // its subject is statements that change data or the catalogue
	chained bool // each script begins with what the one before it left
	base    base
	scripts []script
}

// A script is what runs on one connection. A script that only reads may find the tables that the
// one before it found; any other gets a new database.
type script struct {
	name  string
	reads bool
	setup []string
	steps []step
}

// A step is one statement and what is expected of it.
type step struct {
	text    string
	rows    []sql.Row    // nil: any answer
	fails   bool         // any error
	kind    *errors.Kind // of the error; may be nil
	session bool         // wants a new connection
}

// base is the module's set-up data, in its groups.
type base [][]setup.SetupScript

// skipped are the lists that are not run, and why.
var skipped = map[string]string{
	"PlanTests": plans, "IndexPlanTests": plans, "ImdbPlanTests": plans, "IntegrationPlanTests": plans, "GeneratedColumnPlanTests": plans,
	"TpchPlanTests": plans, "TpccPlanTests": plans, "TpcdsPlanTests": plans, "SysbenchPlanTests": plans, "QueryPlanTODOs": plans, "QueryPlanScriptTests": plans,
	"ParallelismTests":               plans,
	"StatisticsQueries":              "the form of go-mysql-server's own statistics",
	"StatsIndexTests":                "the form of go-mysql-server's own statistics",
	"UserPrivTests":                  harness,
	"QuickPrivTests":                 harness,
	"ServerAuthTests":                harness,
	"TransactionTests":               "several connections at once, interleaved",
	"VersionedQueries":               "AS OF, which is not MySQL's",
	"VersionedScripts":               "AS OF, which is not MySQL's",
	"VersionedViewTests":             "AS OF, which is not MySQL's",
	"CallAsofScripts":                "AS OF, which is not MySQL's",
	"ExternalProcedureTests":         "procedures that the harness registers in Go",
	"TableFunctionScriptTests":       "table functions that the harness registers in Go",
	"LoadDataScripts":                "files of the module, which the server would have to be allowed to read",
	"LoadDataErrorScripts":           "files of the module, which the server would have to be allowed to read",
	"LoadDataFailingScripts":         broken,
	"OnUpdateExprScripts":            "a clock that the harness sets",
	"TimeQueryTests":                 "a clock that the harness sets",
	"VectorDDLQueries":               vectors,
	"VectorFunctionQueries":          vectors,
	"VectorFunctionTestCases":        vectors,
	"VectorIndexQueries":             vectors,
	"BlobUnsupported":                broken,
	"BrokenQueries":                  broken,
	"BrokenErrorQueries":             broken,
	"BrokenScriptTests":              broken,
	"BrokenCreateTableQueries":       broken,
	"BrokenGeneratedColumnTests":     broken,
	"BrokenJSONTableScriptTests":     broken,
	"BrokenTriggerQueries":           broken,
	"InsertBrokenScripts":            broken,
	"SkippedInfoSchemaQueries":       broken,
	"SkippedInfoSchemaScripts":       broken,
	"SkippedUpdateTests":             broken,
	"TriggerTests":                   programs,
	"TriggerCreateInSubroutineTests": programs, "RollbackTriggerTests": programs, "TriggerErrorTests": programs,
	"ProcedureLogicTests": programs, "ProcedureCallTests": programs, "ProcedureDropTests": programs, "ProcedureShowStatus": programs, "ProcedureShowCreate": programs,
	"ProcedureCreateInSubroutineTests": programs, "NoDbProcedureTests": programs, "CreateTableInSubroutineTests": programs, "ViewCreateInSubroutineTests": programs,
	"EventTests": programs, "EventCreateInSubroutineTests": programs,
	"SpatialQueryTests": spatial, "SpatialDeleteTests": spatial, "SpatialInsertQueries": spatial, "SpatialUpdateTests": spatial, "SpatialScriptTests": spatial,
	"SpatialIndexScriptTests": spatial, "LargeGeometryScriptTests": spatial,
	"FulltextTests": "FULLTEXT indexes: each script begins with one, and the server has none",
}

const (
	plans    = "go-mysql-server's plans, as text"
	harness  = "accounts and privileges of the module's own harness"
	broken   = "go-mysql-server itself does not pass it"
	programs = "stored programs: each script begins with one, and the server has none"
	spatial  = "spatial types: each script begins with one, and the server has none"
	vectors  = "the type VECTOR, of MySQL 9"
)

// lists returns everything that is run.
func lists() []list {
	mydb := base{setup.MydbData}
	mytable := append(mydb[:1:1], setup.MytableData)
	with := func(groups ...[]setup.SetupScript) base { return append(base{setup.MydbData}, groups...) }
	simple, joins := base(setup.SimpleSetup), with(setup.MytableData, setup.Pk_tablesData, setup.OthertableData, setup.NiltableData, setup.XyData, setup.FooData,
		setup.Comp_index_tablesData, setup.EmptytableData)
	updates := with(setup.MytableData, setup.Mytable_del_idxData, setup.FloattableData, setup.NiltableData, setup.TypestableData, setup.Pk_tablesData,
		setup.OthertableData, setup.TabletestData)
	ordinal := base(setup.OrdinalSetup)
	views := append(mytable[:2:2], []setup.SetupScript{{"create view myview2 as select * from myview where i = 1"}})
	return []list{
		reading("QueryTests", simple, q.QueryTests),
		reading("FunctionQueryTests", simple, q.FunctionQueryTests),
		reading("KeylessQueries", simple, q.KeylessQueries),
		reading("JoinQueryTests", joins, q.JoinQueryTests),
		reading("JSONTableQueryTests", with(setup.Pk_tablesData), q.JSONTableQueryTests),
		reading("InfoSchemaQueries", with(setup.MytableData, setup.Fk_tblData, setup.FooData), q.InfoSchemaQueries),
		reading("DateParseQueries", mydb, q.DateParseQueries),
		reading("ComplexIndexQueries", base(setup.ComplexIndexSetup), q.ComplexIndexQueries),
		reading("ViewTests", views, q.ViewTests),
		reading("BlobQueries", with(setup.BlobData, setup.MytableData), q.BlobQueries),
		reading("NullRangeTests", base(setup.NullsSetup), q.NullRangeTests),
		reading("OrdinalDDLQueries", ordinal, q.OrdinalDDLQueries),
		reading("ShowTableStatusQueries", with(setup.MytableData, setup.OthertableData), q.ShowTableStatusQueries),
		reading("ConvertTests", with(setup.TypestableData), conversions()),
		reading("TupleQueryTests", mydb, tuples()),
		reading("RegexTests", append(simple[:len(simple):len(simple)], []setup.SetupScript{{
			"create table tests (pk int primary key, str text, pattern text, flags text)", "insert into tests values (1, 'testing', 'TESTING', 'ci')"}}), regexes()),
		reading("CollationCoercionTests", base{setup.MydbData, {q.CollationCoercionSetup[3:]}}, coercions()),
		failing("ErrorQueries", with(setup.MytableData, setup.Pk_tablesData, setup.MyhistorytableData, setup.OthertableData, setup.SpecialtableData,
			setup.DatetimetableData, setup.NiltableData, setup.FooData), q.ErrorQueries),
		failing("VariableErrorTests", mydb, q.VariableErrorTests),
		failing("BlobErrors", with(setup.BlobData, setup.MytableData), q.BlobErrors),
		scripts("ScriptTests", mydb, q.ScriptTests),
		scripts("NumericErrorQueries", mydb, q.NumericErrorQueries),
		scripts("JoinScriptTests", joins, q.JoinScriptTests),
		scripts("LateralJoinScriptTests", mydb, q.LateralJoinScriptTests),
		scripts("JSONTableScriptTests", with(setup.Pk_tablesData), q.JSONTableScriptTests),
		scripts("JsonScripts", with(setup.BlobData), q.JsonScripts),
		scripts("InfoSchemaScripts", with(setup.MytableData, setup.Fk_tblData, setup.FooData), q.InfoSchemaScripts),
		scripts("MySqlDbTests", mydb, q.MySqlDbTests),
		scripts("AnsiQuotesTests", mydb, q.AnsiQuotesTests),
		scripts("OrderByGroupByScriptTests", mydb, q.OrderByGroupByScriptTests),
		scripts("ColumnAliasQueries", mytable, q.ColumnAliasQueries),
		scripts("DerivedTableOuterScopeVisibilityQueries", mytable, q.DerivedTableOuterScopeVisibilityQueries),
		scripts("WindowFunctionsScriptTests", mydb, q.WindowFunctionsScriptTests),
		scripts("WindowRowFramesScriptTests", mydb, q.WindowRowFramesScriptTests),
		scripts("WindowRangeFramesScriptTests", mytable, q.WindowRangeFramesScriptTests),
		scripts("NamedWindowsScriptTests", mydb, q.NamedWindowsScriptTests),
		scripts("SQLLogicJoinTests", mydb, q.SQLLogicJoinTests),
		scripts("SQLLogicSubqueryTests", mydb, q.SQLLogicSubqueryTests),
		scripts("RegexScriptTests", mydb, q.RegexScriptTests),
		scripts("VariableQueries", mydb, q.VariableQueries),
		scripts("PreparedScriptTests", mydb, q.PreparedScriptTests),
		scripts("ShowTableStatusScripts", with(setup.MytableData, setup.OthertableData), q.ShowTableStatusScripts),
		scripts("CharsetCollationEngineTests", mydb, q.CharsetCollationEngineTests),
		charsets("CharsetCollationWireTests", mydb, q.CharsetCollationWireTests),
		charsets("DatabaseCollationWireTests", mydb, q.DatabaseCollationWireTests),

		changing(wire("TypeWireTests", mydb, q.TypeWireTests)),
		changing(scripts("RowLimitTests", mydb, q.RowLimitTests)),
		changing(scripts("ViewScripts", mydb, q.ViewScripts)),
		changing(scripts("IndexQueries", mydb, q.IndexQueries)),
		changing(scripts("IndexPrefixQueries", mydb, q.IndexPrefixQueries)),
		changing(scripts("IndexedExpressionsScriptTests", mydb, q.IndexedExpressionsScriptTests)),
		writing("InsertQueries", with(setup.MytableData, setup.Mytable_del_idxData, setup.KeylessData, setup.Keyless_idxData, setup.NiltableData, setup.TypestableData,
			setup.EmptytableData, setup.AutoincrementData, setup.OthertableData, setup.Othertable_del_idxData), q.InsertQueries),
		changing(scripts("InsertScripts", mydb, q.InsertScripts)),
		changing(scripts("InsertDuplicateKeyKeyless", mydb, q.InsertDuplicateKeyKeyless)),
		changing(scripts("InsertIgnoreScripts", mydb, q.InsertIgnoreScripts)),
		changing(scripts("IgnoreWithDuplicateUniqueKeyKeylessScripts", mydb, q.IgnoreWithDuplicateUniqueKeyKeylessScripts)),
		changing(generic("InsertErrorTests", mytable, q.InsertErrorTests)),
		changing(scripts("InsertErrorScripts", mydb, q.InsertErrorScripts)),
		writing("ReplaceQueries", with(setup.MytableData, setup.Mytable_del_idxData, setup.TypestableData), q.ReplaceQueries),
		changing(generic("ReplaceErrorTests", mytable, q.ReplaceErrorTests)),
		writing("UpdateWriteQueryTests", updates, q.UpdateWriteQueryTests),
		changing(scripts("UpdateScriptTests", updates, q.UpdateScriptTests)),
		writing("UpdateIgnoreTests", updates, q.UpdateIgnoreTests),
		changing(scripts("UpdateIgnoreScripts", updates, q.UpdateIgnoreScripts)),
		changing(generic("GenericUpdateErrorTests", with(setup.MytableData, setup.FloattableData, setup.TypestableData), q.GenericUpdateErrorTests)),
		changing(failing("UpdateErrorTests", with(setup.KeylessData, setup.Keyless_idxData, setup.PeopleData, setup.Pk_tablesData), q.UpdateErrorTests)),
		changing(scripts("UpdateErrorScripts", mydb, q.UpdateErrorScripts)),
		writing("DeleteTests", with(setup.MytableData, setup.TabletestData), q.DeleteTests),
		writing("DeleteJoinTests", with(setup.MytableData, setup.TabletestData), q.DeleteJoinTests),
		changing(scripts("DeleteErrorTests", with(setup.MytableData, setup.TabletestData, setup.TestdbData, []setup.SetupScript{{"create table test.other (pk int primary key)"}}), q.DeleteErrorTests)),
		writing("BlobWriteQueries", with(setup.BlobData, setup.MytableData), q.BlobWriteQueries),
		writing("OrdinalDDLWriteQueries", ordinal, q.OrdinalDDLWriteQueries),
		writing("CreateTableQueries", with(setup.MytableData, setup.FooData), q.CreateTableQueries),
		changing(scripts("CreateTableScriptTests", mydb, q.CreateTableScriptTests)),
		changing(scripts("CreateTableAutoIncrementTests", mydb, q.CreateTableAutoIncrementTests)),
		chained(scripts("CreateDatabaseScripts", mydb, q.CreateDatabaseScripts)),
		changing(scripts("DropDatabaseScripts", mydb, q.DropDatabaseScripts)),
		changing(scripts("AlterTableScripts", with(setup.Pk_tablesData), q.AlterTableScripts)),
		chained(scripts("RenameTableScripts", with(setup.MytableData, setup.OthertableData, setup.NiltableData, setup.EmptytableData), q.RenameTableScripts)),
		changing(scripts("AlterTableAddAutoIncrementScripts", mydb, q.AlterTableAddAutoIncrementScripts)),
		changing(scripts("AddDropPrimaryKeyScripts", mydb, q.AddDropPrimaryKeyScripts)),
		chained(scripts("AddColumnScripts", mytable, q.AddColumnScripts)),
		chained(scripts("RenameColumnScripts", with(setup.MytableData, setup.TabletestData), q.RenameColumnScripts)),
		chained(scripts("ModifyColumnScripts", with(setup.MytableData, setup.Mytable_del_idxData), q.ModifyColumnScripts)),
		chained(scripts("DropColumnScripts", with(setup.MytableData, setup.TabletestData), q.DropColumnScripts)),
		chained(scripts("DropColumnKeylessTablesScripts", with(setup.TabletestData), q.DropColumnKeylessTablesScripts)),
		changing(scripts("ColumnDefaultTests", mydb, q.ColumnDefaultTests)),
		changing(scripts("GeneratedColumnTests", mydb, q.GeneratedColumnTests)),
		changing(scripts("CreateCheckConstraintsScripts", base(setup.ChecksSetup), q.CreateCheckConstraintsScripts)),
		chained(scripts("DropCheckConstraintsScripts", mydb, q.DropCheckConstraintsScripts)),
		chained(scripts("ChecksOnInsertScripts", mydb, q.ChecksOnInsertScripts)),
		changing(scripts("ChecksOnUpdateScriptTests", mydb, q.ChecksOnUpdateScriptTests)),
		chained(scripts("DisallowedCheckConstraintsScripts", mydb, q.DisallowedCheckConstraintsScripts)),
		changing(scripts("ForeignKeyTests", with(setup.Parent_childData), q.ForeignKeyTests)),
		changing(scripts("CreateForeignKeyTests", mytable, q.CreateForeignKeyTests)),
		changing(scripts("DropForeignKeyTests", mytable, q.DropForeignKeyTests)),
	}
}

func changing(l list) list {
	l.changes = true
	return l
}

func chained(l list) list {
	l.changes, l.chained = true, true
	return l
}

// mysqlOnly says whether a statement is MySQL's dialect, which most do not say.
func mysqlOnly(dialect string) bool { return dialect == "" || dialect == "mysql" }

// reading makes a list of queries over the same tables.
func reading(name string, b base, tests []q.QueryTest) list {
	l := list{name: name, base: b}
	for _, t := range tests {
		if t.Skip || t.SkipServerEngine || !mysqlOnly(t.Dialect) || t.WrapBehavior != q.WrapBehavior_Unwrap {
			continue
		}
		l.scripts = append(l.scripts, script{reads: true, steps: []step{{
			text: bound(t.Query, t.Bindings), rows: t.Expected, fails: t.ExpectedErr != nil || t.ExpectedErrStr != "", kind: t.ExpectedErr}}})
	}
	return l
}

// failing makes a list of statements that must fail, over the same tables.
func failing(name string, b base, tests []q.QueryErrorTest) list {
	l := list{name: name, base: b}
	for _, t := range tests {
		l.scripts = append(l.scripts, script{steps: []step{{text: bound(t.Query, t.Bindings), fails: true, kind: t.ExpectedErr}}})
	}
	return l
}

func generic(name string, b base, tests []q.GenericErrorQueryTest) list {
	l := list{name: name, base: b}
	for _, t := range tests {
		if len(t.Bindings) == 0 {
			l.scripts = append(l.scripts, script{steps: []step{{text: t.Query, fails: true}}})
		}
	}
	return l
}

// writing makes a list of statements that change rows, each followed by the query that looks.
func writing(name string, b base, tests []q.WriteQueryTest) list {
	l := list{name: name, base: b, changes: true}
	for _, t := range tests {
		if t.Skip || !mysqlOnly(t.Dialect) || t.WrapBehavior != q.WrapBehavior_Unwrap {
			continue
		}
		look := step{text: bound(t.SelectQuery, t.Bindings), rows: t.ExpectedSelect}
		if t.SkipServerEngine {
			look.rows = nil
		}
		write := bound(t.WriteQuery, t.Bindings)
		l.scripts = append(l.scripts, script{name: write, steps: []step{{text: write, rows: t.ExpectedWriteResult}, look}})
	}
	return l
}

// scripts makes a list of scripts.
func scripts(name string, b base, tests []q.ScriptTest) list {
	l := list{name: name, base: b}
	for _, t := range tests {
		if t.Skip || !mysqlOnly(t.Dialect) {
			continue
		}
		s := script{name: t.Name, setup: t.SetUpScript}
		if len(t.Assertions) == 0 {
			t.Assertions = []q.ScriptTestAssertion{{Query: t.Query, Expected: t.Expected, ExpectedErr: t.ExpectedErr}}
		}
		for _, a := range t.Assertions {
			if a.Skip || !mysqlOnly(a.Dialect) {
				continue
			}
			rows := a.Expected
			if a.SkipResultsCheck || a.SkipResultCheckOnServerEngine {
				rows = nil
			}
			s.steps = append(s.steps, step{text: bound(a.Query, a.Bindings), rows: rows, fails: a.ExpectedErr != nil || a.ExpectedErrStr != "",
				kind: a.ExpectedErr, session: a.NewSession})
		}
		l.scripts = append(l.scripts, s)
	}
	return l
}

func charsets(name string, b base, tests []q.CharsetCollationWireTest) list {
	l := list{name: name, base: b}
	for _, t := range tests {
		s := script{name: t.Name, setup: t.SetUpScript}
		for _, a := range t.Queries {
			s.steps = append(s.steps, step{text: a.Query, rows: a.Expected, fails: a.Error})
		}
		l.scripts = append(l.scripts, s)
	}
	return l
}

func wire(name string, b base, tests []q.TypeWireTest) list {
	l := list{name: name, base: b}
	for _, t := range tests {
		s := script{name: t.Name, setup: t.SetUpScript}
		for i, text := range t.Queries {
			s.steps = append(s.steps, step{text: text, rows: t.Results[i]})
		}
		l.scripts = append(l.scripts, s)
	}
	return l
}

func conversions() (out []q.QueryTest) {
	for _, t := range q.ConvertTests {
		out = append(out, q.QueryTest{Query: fmt.Sprintf("select count(*) from typestable where %s %s %s", t.Field, t.Op, t.Operand), Expected: []sql.Row{{t.ExpCnt}}})
	}
	return out
}

func tuples() (out []q.QueryTest) {
	q.MakeTupleQueryTests(func(t q.QueryTest) { out = append(out, t) })
	return out
}

func regexes() (out []q.QueryTest) {
	for _, t := range q.RegexTests {
		out = append(out, q.QueryTest{Query: t.Query, Expected: t.Expected, ExpectedErr: t.ExpectedErr})
	}
	return out
}

// coercions asks for the collation and the coercibility that each expression has.
func coercions() (out []q.QueryTest) {
	for _, t := range q.CollationCoercionTests {
		query := fmt.Sprintf("select collation(%s), coercibility(%s) from temp_tbl", t.Parameters, t.Parameters)
		if t.Error {
			out = append(out, q.QueryTest{Query: query, ExpectedErrStr: "any"})
			continue
		}
		out = append(out, q.QueryTest{Query: query, Expected: []sql.Row{{t.Collation.Name(), t.Coercibility}}})
	}
	return out
}

var placeholder = regexp.MustCompile(`'[^']*'|\?|:[A-Za-z][A-Za-z0-9_]*`)

// bound is a statement with its parameters in their places.
func bound(text string, values map[string]sqlparser.Expr) string {
	if len(values) == 0 {
		return text
	}
	n := 0
	return placeholder.ReplaceAllStringFunc(text, func(at string) string {
		name := strings.TrimPrefix(at, ":")
		if at == "?" {
			n++
			name = fmt.Sprintf("v%d", n)
		}
		if v, ok := values[name]; ok && at[0] != '\'' {
			return sqlparser.String(v)
		}
		return at
	})
}
