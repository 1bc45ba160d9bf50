package cells

import (
	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/planner/aggregate"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/settings"
)

// View is a DP view as it was released.
type View struct {
	plan.View
	Ref   store.TableRef
	Asked string // plan.Release.Asked of its release
	// the definition, as it was planned
	Text       string
	Tree       ast.Statement
	Settings   settings.View
	Dimensions []string  // its columns, in the order of the keys of its release
	Measures   []Measure // in the order of its parts
	// StdErrs returns the function that tells the standard deviation of the noise of a sum of cells
	// of a measure; cells are told by the values of their dimensions.
	StdErrs func(measure int) (func(cells []sql.Row) (float64, error), error)
	Work    int // what the error of a group takes for each cell, 1 but where there are ranges
}

// Measure is a column of numbers that add up, and are not under 0 where they cannot be.
type Measure struct {
	Column, Raw string // Raw: that of the numbers without bias
	Signed      bool   // a number may be under 0
	// Clip is what one person was shortened to, in units of the numbers, 0 where nobody was; Near
	// the share that was added for what that takes, and Wide how much more it may be.
	Clip, Near, Wide float64
}

// Rows are those below a GROUP BY: the rows of a FROM clause, and conditions on them.
type Rows struct {
	Text  string           // of the FROM clause, rel.Writer.Identity
	From  *rel.Relation    // the FROM clause
	Conds []sql.Expression // over its base columns
}

// Definition is the definition of a view, as it is planned now.
type Definition struct {
	*View
	Rows     Rows
	Relation *rel.Relation // below the GROUP BY
	Keys     []keys.Key
	Parts    []*aggregate.Aggregate // the measures
	Finder   *keys.Finder
}

// Question is an aggregation of a statement.
type Question struct {
	Rows       Rows
	Relation   *rel.Relation
	Grouping   keys.Grouping
	Aggregates []*aggregate.Aggregate
}
