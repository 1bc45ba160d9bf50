package functions

import "strings"

// Role says what becomes of a function on a protected table.
type Role uint8

// Roles.
const (
	Private   Role = iota // a DP function
	Rewritten             // a plain SQL aggregate that keeps its SQL meaning, over rows
	Refused               // no private form; Instead says what serves
)

// Measure is what a function estimates.
type Measure uint8

// Measures.
const (
	Count Measure = iota
	Sum
	Mean
	Variance
	Quantile
)

// Result is the SQL type family of an answer.
type Result uint8

// Results. Exact is DECIMAL where the argument is an integer or a decimal, with the scale that MySQL
// gives, and DOUBLE otherwise.
const (
	BigInt Result = iota
	Double
	Exact
	JSON
)

// Weight says what counts once in a mean, a variance or a quantile.
type Weight uint8

// Weights.
const (
	ByRow    Weight = iota // every row
	ByPerson               // every person, with one value
)

// String returns the word that the option weight takes.
func (w Weight) String() string {
	if w == ByPerson {
		return "person"
	}
	return "row"
}

// Function is one aggregate function. The values in the table are shared and must not be changed.
type Function struct {
	Name      string // upper case
	Aliases   []string
	Role      Role
	Measure   Measure
	Signature string
	MinArgs   int // without the options string
	MaxArgs   int
	Result    Result
	Weight    Weight   // the default
	Options   []string // names in Options, in the order of the documentation
	Doc       string
	Example   string
	Instead   string // of a refused function: the query that serves

	clamp              bool // counts: show a negative answer as 0
	stddev, population bool // variances
}

// Distinct says whether DISTINCT may stand before the argument (and then only before the unit).
func (f *Function) Distinct() bool { return f.Measure == Count && f.Role != Refused }

// ByName finds a function by its name or an alias, in any case, or by the name that go-mysql-server
// gives the bound form of a plain aggregate: VarPop for VAR_POP.
func ByName(name string) (*Function, bool) {
	f, ok := byName[strings.ToUpper(name)]
	return f, ok
}

// All returns the functions in the order of the documentation.
func All() []*Function { return table }

var byName = func() map[string]*Function {
	m := map[string]*Function{}
	for _, f := range table {
		m[f.Name] = f
		for _, a := range f.Aliases {
			m[a] = f
		}
		if f.Role != Private {
			m[strings.ReplaceAll(f.Name, "_", "")] = f
		}
	}
	m["JSONARRAY"] = m["JSON_ARRAYAGG"]
	m["COUNTDISTINCT"] = m["COUNT"]
	return m
}()
