package functions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scrim/engine/estimator/covariance"
	"scrim/engine/estimator/variance"
)

// Role says what becomes of a function on a protected table.
type Role uint8

// Roles.
const (
	Private   Role = iota // a DP function
	Rewritten             // a plain SQL aggregate that keeps its SQL meaning, over rows
	Refused               // no private form; Instead says what serves
)

// Result is the SQL type family of an answer.
type Result uint8

// Results. Exact is DECIMAL where the argument is an integer or a decimal, with the scale that
// MySQL gives, and DOUBLE otherwise. Same is the type of the argument.
const (
	BigInt Result = iota
	Double
	Exact
	JSON
	Same
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

// Function is one aggregate function: a row of the table. The values in the table are shared and
// must not be changed.
type Function struct {
	Name      string // upper case
	Aliases   []string
	Bound     []string // further names that go-mysql-server gives the bound form
	Role      Role
	Measure   // what it estimates, and how; zero of a refused function
	Signature string
	MinArgs   int // without the options string
	MaxArgs   int // 2 where the second argument is a constant, or Two
	Result    Result
	Weight    Weight   // the default
	Options   []string // names in Options, in the order of the documentation
	Doc       string
	Example   string
	DPForm    string // of a rewritten function: the private one that estimates the same
	Instead   string // of a function that is refused, or not rewritten: the query that serves

	// Two says that both arguments are data.
	Two bool
	// Lacking says that go-mysql-server has no such plain aggregate: the marker is bound in its
	// place, and computes it over public rows that the store does not have.
	Lacking bool
	// Check reads Call.Constant, and checks what the options do not tell; nil: nothing is to be
	// read.
	Check func(*Call) error
	// Moments says that the argument may be a DATE or a DATETIME, of which the answer is one.
	Moments bool
	// Digits are added to the scale of the argument in an Exact result.
	Digits int
	// AtLeastZero says that a negative answer is shown as 0; of a function that adds, where no
	// value can be negative.
	AtLeastZero bool
}

// Distinct says whether DISTINCT may stand before the argument (the unit or a value).
func (f *Function) Distinct() bool { return f.Counts }

// Private is the DP function that estimates the same: of a plain aggregate, or the function itself.
func (f *Function) Private() *Function {
	if g, ok := ByName(f.DPForm); ok {
		return g
	}
	return f
}

// ByName finds a function by its name or an alias, in any case, or by the name that go-mysql-server
// gives the bound form of a plain aggregate: VarPop for VAR_POP.
func ByName(name string) (*Function, bool) {
	f, ok := byName[strings.ToUpper(name)]
	return f, ok
}

// All returns the functions in the order of the documentation.
func All() []*Function { return table }

// byName finds the functions of the table. A table with an incomplete row does not start.
var byName = mustIndex(table)

func mustIndex(table []*Function) map[string]*Function {
	m, err := index(table)
	if err != nil {
		panic(err)
	}
	return m
}

// index finds functions by name, and checks that they can be answered.
func index(table []*Function) (map[string]*Function, error) {
	m := map[string]*Function{"": nil}
	for _, f := range table {
		names := append([]string{f.Name}, f.Aliases...)
		if bound := strings.ReplaceAll(f.Name, "_", ""); f.Role != Private && bound != f.Name {
			names = append(names, bound)
		}
		for _, name := range append(names, f.Bound...) {
			if _, ok := m[name]; ok || name != strings.ToUpper(name) || tellsOrMakes(name) {
				return nil, fmt.Errorf("functions: %q is no name, or has two functions", name)
			}
			m[name] = f
		}
	}
	delete(m, "")
	for _, f := range table {
		if err := f.complete(m); err != nil {
			return nil, fmt.Errorf("functions: %s: %w", f.Name, err)
		}
	}
	return m, nil
}

// tellsOrMakes reports whether a name is that of a function outside of the table.
func tellsOrMakes(name string) bool {
	_, bar := ErrorBarByName(name)
	_, report := ReportByName(name)
	return bar || report || slices.ContainsFunc(scalars, func(f *Scalar) bool { return f.Name == name })
}

// complete checks that a row has what its role asks for.
func (f *Function) complete(all map[string]*Function) error {
	private, ok := all[f.DPForm]
	switch {
	case f.Signature == "" || f.Doc == "":
		return errors.New("no signature or documentation")
	case f.MinArgs < 0 || f.MinArgs > f.MaxArgs:
		return errors.New("more arguments at least than at most")
	case (f.Role == Private) != (f.Instead == ""):
		return errors.New("want what serves instead of all but private functions")
	case (f.Role == Rewritten) != (f.DPForm != ""):
		return errors.New("want the private form of rewritten functions, and of no others")
	case f.Role == Rewritten && (!ok || private.Role != Private):
		return fmt.Errorf("its private form, %s, is none", f.DPForm)
	case f.Role == Refused:
		return nil
	case f.Estimator == nil:
		return errors.New("no estimator")
	case f.MaxArgs > 2 || f.MaxArgs == 2 && f.Check == nil && !f.Two:
		return errors.New("want one argument, and a check of a constant second one")
	case f.Two && (f.MinArgs != 2 || f.MaxArgs != 2 || f.Statistics == nil):
		return errors.New("want two arguments and their statistic")
	case f.Example == "":
		return errors.New("no example")
	}
	for _, o := range f.Options {
		if !slices.ContainsFunc(optionTable, func(x Option) bool { return x.Name == o }) {
			return fmt.Errorf("no option %s", o)
		}
	}
	return nil
}

// plainSpread is a plain SQL aggregate that is a variance or a standard deviation over rows.
func plainSpread(name, private, doc string, o variance.Options, aliases ...string) *Function {
	return &Function{
		Name: name, Aliases: aliases, Role: Rewritten, Measure: spread(o), Signature: name + "(x)",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByRow,
		DPForm: private, Instead: "DP_VARIANCE(x, 'weight=row') or DP_STDDEV(x, 'weight=row')",
		Doc: doc, Example: "SELECT " + name + "(amount) FROM orders",
	}
}

// two is a private function of two arguments, and plainTwo the aggregate of the SQL standard over
// rows, which MySQL has not.
func two(name, args string, s covariance.Statistic, doc, example string) *Function {
	return &Function{
		Name: name, Role: Private, Measure: ofTwo(s), Signature: name + "(" + args + " [, options])", Two: true,
		MinArgs: 2, MaxArgs: 2, Result: Double, Weight: ByPerson, Options: twoOptions,
		Doc:     doc + ", the means of the person's rows; 'weight=row' for that over rows. Rows where one of the two is NULL do not count.",
		Example: "SELECT " + name + "(" + example + ") FROM people",
	}
}

func plainTwo(name, args string, s covariance.Statistic, doc, example string) *Function {
	return &Function{
		Name: name, Role: Rewritten, Lacking: true, Measure: ofTwo(s), Signature: name + "(" + args + ")", Two: true,
		MinArgs: 2, MaxArgs: 2, Result: Double, Weight: ByRow, DPForm: "DP_" + name, Instead: "DP_" + name + "(" + args + ", 'weight=row')",
		Doc: doc + " Rows where one of the two is NULL do not count. Asked together of the same columns they share one release.", Example: "SELECT " + name + "(" + example + ") FROM people",
	}
}
