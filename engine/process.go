package engine

import (
	"cmp"
	"io"
	"log"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/sirupsen/logrus"

	"scrim/engine/admin"
	"scrim/engine/mysql/browse"
	"scrim/engine/mysql/gate"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/tables"
	"scrim/engine/observe/version"
	"scrim/engine/store/duckdb"
	"scrim/functions/standard"
	"scrim/internal/gcpace"
	"scrim/internal/processors"
	"scrim/internal/quota"
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
			"sql_mode":        "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_ZERO_DATE,NO_ZERO_IN_DATE,ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES", // MySQL 8's
			"version":         version.Number,
			"version_comment": version.Comment,
		}); err != nil {
			panic("engine: system variables: " + err.Error()) // names and types are fixed
		}
	})
}

// limits bounds the sessions of a server. It makes the pool that they share.
func (c Config) limits() *quota.Limits {
	return &quota.Limits{
		Statement:  c.StatementMemory << 20,
		Connection: c.ConnectionMemory << 20,
		Pool:       quota.NewPool(c.SessionsMemory << 20),
	}
}

var memoryPattern = regexp.MustCompile(`^([1-9][0-9]*(?:\.[0-9]+)?) ?([KMGT]i?B)$`)

// storeMemory is the store's memory limit in bytes.
func (c Config) storeMemory() int64 {
	limit := cmp.Or(c.MemoryLimit, duckdb.DefaultMemoryLimit)
	f := memoryPattern.FindStringSubmatch(limit)
	n, _ := strconv.ParseFloat(f[1], 64) // the pattern's
	step := 1000.0
	if len(f[2]) == 3 { // KiB and the like
		step = 1024
	}
	return int64(n * math.Pow(step, float64(1+strings.IndexByte("KMGT", f[2][0]))))
}
