package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/planner/aggregate"
	"scrim/planner/cells"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/release"
	"scrim/planner/settings"
	"scrim/planner/tree"
)

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
