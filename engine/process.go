package engine

import (
	"io"
	"log"
	"slices"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/sirupsen/logrus"

	"scrim/engine/admin"
	"scrim/engine/browse"
	"scrim/engine/gate"
	"scrim/engine/session"
	"scrim/engine/tables"
	"scrim/engine/version"
	"scrim/functions/standard"
	"scrim/internal/gcpace"
	"scrim/internal/processors"
)

var process sync.Once

// guard bounds what is evaluated of texts. Its id is outside the range that go-mysql-server uses.
var guard = analyzer.Rule{Id: 20300, Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return standard.Guard(ctx, n)
}}

// evaluates is the rule of go-mysql-server that computes conditions without columns once, when a
// statement is analysed: EXPLAIN would take a DBA's locks, RAND() would be one number for all rows,
// and @i := @i + 1 be done once.
const evaluates = "simplifyFilters"

// prepareProcess sets what go-mysql-server keeps for the whole process: our rules for the
// statements that skip an engine's own, our variables, closed file functions, and no log of its
// own, because its lines quote errors and statements.
func prepareProcess() {
	process.Do(func() {
		gcpace.Set()
		processors.Count()
		rules := append([]analyzer.Rule{gate.Rule(), browse.Rule()}, slices.Concat(admin.Rules(), tables.Rules())...)
		analyzer.AlwaysBeforeDefault = append(append(rules, analyzer.AlwaysBeforeDefault...), guard)
		analyzer.OnceBeforeDefault = slices.DeleteFunc(analyzer.OnceBeforeDefault, func(r analyzer.Rule) bool { return r.Id.String() == evaluates })
		analyzer.SetOutput(io.Discard)
		logrus.SetOutput(io.Discard)
		logrus.SetLevel(logrus.PanicLevel)
		log.SetOutput(io.Discard) // the protocol implementation logs here
		session.RegisterVariables()
		sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{gate.SecureFilePriv()})
		if err := sql.SystemVariables.AssignValues(map[string]any{
			"local_infile":    int8(1),
			"version":         version.Number,
			"version_comment": version.Comment,
		}); err != nil {
			panic("engine: system variables: " + err.Error()) // names and types are fixed
		}
	})
}
