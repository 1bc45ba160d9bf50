package functions

import (
	"fmt"
	"strings"

	"scrim/engine/estimator/covariance"
	"scrim/engine/estimator/variance"
)

var (
	countOptions = []string{"values", "cap", "error", "pilot", "epsilon", "rho"}
	sumOptions   = []string{"lower", "upper", "cap", "method", "dimension", "answer", "error", "pilot", "epsilon", "rho"}
	rankOptions  = []string{"lower", "upper", "weight", "method", "quantile", "error", "pilot", "epsilon", "rho"}
	meanOptions  = []string{"lower", "upper", "weight", "method", "p", "tail", "clip", "rotate", "quantile", "scale", "pairs", "radius",
		"sigma_min", "sigma_max", "sigma", "rounds", "relative", "moment", "sigma_k", "rows", "stages", "split", "histogram", "persons", "top",
		"dimension", "answer", "error", "pilot", "epsilon", "rho"}
	endOptions    = []string{"lower", "upper", "epsilon", "rho"}
	twoOptions    = []string{"weight", "error", "pilot", "epsilon", "rho"}
	spreadOptions = []string{"lower", "upper", "weight", "method", "dimension", "answer", "error", "pilot", "epsilon", "rho"}
)

// table lists every aggregate function that the planner knows, in the order of the documentation. A
// name that is not here is refused. It is read-only: nothing adds to it once the process runs.
var table = []*Function{
	{
		Name: "DP_COUNT", Role: Private, Measure: counts, Signature: "DP_COUNT(* | x | DISTINCT x [, options])",
		MinArgs: 0, MaxArgs: 1, Result: BigInt, Options: countOptions,
		Doc:     "Number of rows, of rows where x is not NULL, of persons (DISTINCT unit) or of distinct values. Not clamped: it may be negative.",
		Example: "SELECT DP_COUNT(DISTINCT customer_id) FROM orders",
	},
	{
		Name: "DP_SUM", Role: Private, Measure: sums, Signature: "DP_SUM(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Options: sumOptions,
		Doc:     "Sum over rows, of a number or a vector. A person's rows are summed first; the bound on a person's sum is chosen privately.",
		Example: "SELECT DP_SUM(amount) FROM orders",
	},
	{
		Name: "DP_MEAN", Aliases: []string{"DP_AVG"}, Role: Private, Measure: means, Signature: "DP_MEAN(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByPerson, Options: meanOptions, Moments: true,
		Doc:     "Mean of one number or vector a person, the mean of the person's rows; 'weight=row' for the mean over rows. The mean of vectors is a JSON array.",
		Example: "SELECT DP_MEAN(amount, 'weight=row') FROM orders",
	},
	{
		Name: "DP_VARIANCE", Role: Private, Measure: spread(variance.Options{}), Signature: "DP_VARIANCE(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByPerson, Options: spreadOptions,
		Doc:     "Sample variance of one number a person, or of each coordinate of a vector; 'weight=row' for the variance over rows.",
		Example: "SELECT DP_VARIANCE(age) FROM people",
	},
	{
		Name: "DP_STDDEV", Role: Private, Measure: spread(variance.Options{Stddev: true}), Signature: "DP_STDDEV(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByPerson, Options: spreadOptions,
		Doc:     "Sample standard deviation, as DP_VARIANCE.",
		Example: "SELECT DP_STDDEV(age) FROM people",
	},
	{
		Name: "DP_QUANTILE", Role: Private, Measure: quantiles, Signature: "DP_QUANTILE(x, q [, options])",
		MinArgs: 2, MaxArgs: 2, Result: Double, Weight: ByPerson, Options: rankOptions, Check: oneQuantile, Moments: true,
		Doc:     "The q-quantile, 0 < q < 1, of one value a person, the lower median of the person's rows; 'weight=row' where the rows of a person are bounded.",
		Example: "SELECT DP_QUANTILE(amount, 0.9) FROM orders",
	},
	{
		Name: "DP_QUANTILES", Role: Private, Measure: quantiles, Signature: "DP_QUANTILES(x, '[q, …]' [, options])",
		MinArgs: 2, MaxArgs: 2, Result: JSON, Weight: ByPerson, Options: rankOptions, Check: listOfQuantiles,
		Doc:     "Several quantiles at once, as a JSON array; they never cross.",
		Example: "SELECT DP_QUANTILES(amount, '[0.25, 0.5, 0.75]') FROM orders",
	},
	{
		Name: "DP_MEDIAN", Role: Private, Measure: quantiles, Signature: "DP_MEDIAN(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByPerson, Options: rankOptions, Check: median, Moments: true,
		Doc:     "The median, as DP_QUANTILE with q = 0.5.",
		Example: "SELECT DP_MEDIAN(age) FROM people",
	},
	{
		Name: "DP_MIN", Role: Private, Measure: extremes(false), Signature: "DP_MIN(x [, options])", MinArgs: 1, MaxArgs: 1, Result: Same, Moments: true, Options: endOptions,
		Doc:     "The value under which about k persons have their least one: never one person's value. k follows from the cost and the range; DP_INFO tells it.",
		Example: "SELECT DP_MIN(amount) FROM orders",
	},
	{
		Name: "DP_MAX", Role: Private, Measure: extremes(true), Signature: "DP_MAX(x [, options])", MinArgs: 1, MaxArgs: 1, Result: Same, Moments: true, Options: endOptions,
		Doc:     "The value above which about k persons have their greatest one, as DP_MIN.",
		Example: "SELECT DP_MAX(amount) FROM orders",
	},
	{
		Name: "COUNT", Bound: []string{"COUNTDISTINCT"}, Role: Rewritten, Measure: counts, Signature: "COUNT(* | x | DISTINCT x)",
		MinArgs: 0, MaxArgs: 1, Result: BigInt, AtLeastZero: true, DPForm: "DP_COUNT", Instead: "DP_COUNT",
		Doc:     "As DP_COUNT, with a negative answer shown as 0.",
		Example: "SELECT COUNT(*) FROM orders",
	},
	{
		Name: "SUM", Role: Rewritten, Measure: sums, Signature: "SUM(x)",
		MinArgs: 1, MaxArgs: 1, Result: Exact, AtLeastZero: true, DPForm: "DP_SUM", Instead: "DP_SUM",
		Doc:     "Sum over rows, as DP_SUM; never below 0 where the values cannot be negative, by their type or declared range.",
		Example: "SELECT SUM(amount) FROM orders",
	},
	{
		Name: "AVG", Role: Rewritten, Measure: means, Signature: "AVG(x)",
		MinArgs: 1, MaxArgs: 1, Result: Exact, Weight: ByRow,
		Digits: 4, // as MySQL's div_precision_increment
		DPForm: "DP_MEAN", Instead: "DP_MEAN(x, 'weight=row')",
		Doc:     "Mean over rows: DP_MEAN with weight=row.",
		Example: "SELECT AVG(amount) FROM orders",
	},
	plainSpread("VAR_POP", "DP_VARIANCE", "Population variance over rows.", variance.Options{Population: true}, "VARIANCE"),
	plainSpread("VAR_SAMP", "DP_VARIANCE", "Sample variance over rows.", variance.Options{}),
	plainSpread("STDDEV_POP", "DP_STDDEV", "Population standard deviation over rows.", variance.Options{Stddev: true, Population: true}, "STDDEV", "STD"),
	plainSpread("STDDEV_SAMP", "DP_STDDEV", "Sample standard deviation over rows.", variance.Options{Stddev: true}),
	two("DP_CORR", "x, y", covariance.Correlation, "Correlation of two numbers of a person, from −1 to 1", "age, income"),
	two("DP_COVAR_POP", "x, y", covariance.PopulationCovariance, "Population covariance of two numbers of a person", "age, income"),
	two("DP_COVAR_SAMP", "x, y", covariance.SampleCovariance, "Sample covariance of two numbers of a person", "age, income"),
	two("DP_REGR_SLOPE", "y, x", covariance.Slope, "Slope of the least-squares line of y on x, two numbers of a person", "income, age"),
	two("DP_REGR_INTERCEPT", "y, x", covariance.Intercept, "Value at 0 of the least-squares line of y on x, two numbers of a person", "income, age"),
	two("DP_REGR_R2", "y, x", covariance.Determination, "Square of the correlation, from 0 to 1", "income, age"),
	plainTwo("CORR", "x, y", covariance.Correlation, "Correlation over rows, from −1 to 1.", "age, income"),
	plainTwo("COVAR_POP", "x, y", covariance.PopulationCovariance, "Population covariance over rows.", "age, income"),
	plainTwo("COVAR_SAMP", "x, y", covariance.SampleCovariance, "Sample covariance over rows.", "age, income"),
	plainTwo("REGR_SLOPE", "y, x", covariance.Slope, "Slope of the least-squares line of y on x over rows.", "income, age"),
	plainTwo("REGR_INTERCEPT", "y, x", covariance.Intercept, "Value at 0 of the least-squares line of y on x over rows.", "income, age"),
	plainTwo("REGR_R2", "y, x", covariance.Determination, "Square of the correlation over rows, from 0 to 1.", "income, age"),
	{
		Name: "MIN", Role: Rewritten, Measure: extremes(false), Signature: "MIN(x)", MinArgs: 1, MaxArgs: 1, Result: Same, Moments: true,
		DPForm: "DP_MIN", Instead: "DP_MIN(x)", Doc: "As DP_MIN. Of a whole table and alone, it is the least value that is declared for the column.", Example: "SELECT MIN(amount) FROM orders",
	},
	{
		Name: "MAX", Role: Rewritten, Measure: extremes(true), Signature: "MAX(x)", MinArgs: 1, MaxArgs: 1, Result: Same, Moments: true,
		DPForm: "DP_MAX", Instead: "DP_MAX(x)", Doc: "As DP_MAX. Of a whole table and alone, it is the greatest value that is declared for the column.", Example: "SELECT MAX(amount) FROM orders",
	},
	refused("GROUP_CONCAT", "SELECT x, COUNT(*) … GROUP BY x", "It would list persons' values."),
	refused("JSON_ARRAYAGG", "SELECT x, COUNT(*) … GROUP BY x", "It would list persons' values.", "JSONARRAY"),
	refused("JSON_OBJECTAGG", "SELECT x, COUNT(*) … GROUP BY x", "It would list persons' values."),
	refused("BIT_AND", "COUNT(CASE WHEN x % 2 = 1 THEN 1 END)", "One person can change every bit."),
	refused("BIT_OR", "COUNT(CASE WHEN x % 2 = 1 THEN 1 END)", "One person can change every bit."),
	refused("BIT_XOR", "COUNT(CASE WHEN x % 2 = 1 THEN 1 END)", "One person can change every bit."),
	refused("ANY_VALUE", "GROUP BY x", "It would show one person's value."),
	refused("FIRST", "DP_QUANTILE(x, 0.01)", "It would show one person's value."),
	refused("LAST", "DP_QUANTILE(x, 0.99)", "It would show one person's value."),
}

// refused is a plain SQL aggregate without a private form.
func refused(name, instead, doc string, bound ...string) *Function {
	return &Function{Name: name, Bound: bound, Role: Refused, Signature: name + "(…)", MinArgs: 0, MaxArgs: 99, Instead: instead, Doc: doc}
}

// Reference returns the Markdown tables of functions and options.
func Reference() string {
	var b strings.Builder
	b.WriteString("| function | weight | options | what it answers |\n| --- | --- | --- | --- |\n")
	for _, f := range table {
		if f.Role == Refused {
			continue
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s | %s |\n", strings.ReplaceAll(f.Signature, "|", `\|`), f.aliasText(), f.weightText(), f.optionText(), f.Doc)
	}
	for _, f := range errorBarFunctions {
		fmt.Fprintf(&b, "| `%s` |  |  | %s |\n", f.Signature, f.Doc)
	}
	for _, f := range scalars {
		fmt.Fprintf(&b, "| `%s` |  |  | %s |\n", f.Signature, f.Doc)
	}
	for _, f := range reportFunctions {
		fmt.Fprintf(&b, "| `%s` |  |  | %s |\n", f.Signature, f.Doc)
	}
	b.WriteString("\n| refused | why | what serves |\n| --- | --- | --- |\n")
	for _, f := range table {
		if f.Role == Refused {
			fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", f.Name, f.Doc, f.Instead)
		}
	}
	b.WriteString("\n| option | values | default | meaning |\n| --- | --- | --- | --- |\n")
	for _, o := range optionTable {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Name, o.Values, o.Default, o.Doc)
	}
	return b.String()
}

// Row is one line of dp.functions.
type Row struct {
	Name, Aliases, Kind, Signature, Result, Weight, Options, Description, Example string
}

// Rows returns dp.functions.
func Rows() []Row {
	var out []Row
	for _, f := range table {
		doc := f.Doc
		if f.Role == Refused {
			doc += " Use " + f.Instead + "."
		}
		out = append(out, Row{
			Name: f.Name, Aliases: strings.Join(f.Aliases, ", "), Kind: f.Role.String(), Signature: f.Signature,
			Result: f.resultText(), Weight: f.weightText(), Options: f.optionDoc(),
			Description: doc, Example: f.Example,
		})
	}
	for _, f := range errorBarFunctions {
		out = append(out, Row{Name: f.Name, Kind: "error bar", Signature: f.Signature, Result: f.result(), Description: f.Doc, Example: f.Example})
	}
	for _, f := range reportFunctions {
		out = append(out, Row{Name: f.Name, Kind: "collection", Signature: f.Signature, Result: f.Result.String(), Description: f.Doc, Example: f.Example})
	}
	for _, f := range scalars {
		out = append(out, Row{Name: f.Name, Kind: "scalar", Signature: f.Signature, Result: f.Result.String(), Description: f.Doc, Example: f.Example})
	}
	return out
}

// String names the role in dp.functions.
func (r Role) String() string {
	return [...]string{"private", "rewritten", "refused"}[r]
}

// String names the result in dp.functions.
func (r Result) String() string {
	return [...]string{"BIGINT", "DOUBLE", "DECIMAL or DOUBLE", "JSON", "as x"}[r]
}

// resultText names the result, of vectors too where the function takes them.
func (f *Function) resultText() string {
	if f.Vectors != nil {
		return f.Result.String() + "; JSON for vectors"
	}
	return f.Result.String()
}

func (f *Function) weightText() string {
	if !f.Weighed {
		return ""
	}
	return f.Weight.String()
}

func (f *Function) aliasText() string {
	if len(f.Aliases) == 0 {
		return ""
	}
	return ", or `" + strings.Join(f.Aliases, "`, `") + "`"
}

func (f *Function) optionText() string {
	if len(f.Options) == 0 {
		return ""
	}
	return "`" + strings.Join(f.Options, "`, `") + "`"
}

// optionDoc lists the options with what each takes.
func (f *Function) optionDoc() string {
	parts := make([]string, len(f.Options))
	for i, name := range f.Options {
		o := documented(name)
		parts[i] = fmt.Sprintf("%s = %s (default %s)", o.Name, o.Values, o.Default)
	}
	return strings.Join(parts, "; ")
}
