package functions

var (
	countOptions = []string{"error", "pilot", "epsilon", "rho"}
	sumOptions   = []string{"lower", "upper", "method", "dimension", "answer", "error", "pilot", "epsilon", "rho"}
	rankOptions  = []string{"lower", "upper", "weight", "method", "quantile", "error", "pilot", "epsilon", "rho"}
	meanOptions  = []string{"lower", "upper", "weight", "method", "p", "tail", "clip", "rotate", "quantile", "scale", "pairs", "radius",
		"sigma_min", "sigma_max", "sigma", "rounds", "relative", "moment", "sigma_k", "rows", "stages", "split", "histogram", "persons", "top",
		"dimension", "answer", "error", "pilot", "epsilon", "rho"}
	spreadOptions = []string{"lower", "upper", "weight", "method", "dimension", "answer", "error", "pilot", "epsilon", "rho"}
)

// table lists every function that the planner knows, in the order of the documentation.
var table = []*Function{
	{
		Name: "DP_COUNT", Role: Private, Measure: Count, Signature: "DP_COUNT(* | x | DISTINCT unit [, options])",
		MinArgs: 0, MaxArgs: 1, Result: BigInt, Options: countOptions,
		Doc:     "Number of rows, of rows where x is not NULL, or of persons. Not clamped: it may be negative.",
		Example: "SELECT DP_COUNT(DISTINCT customer_id) FROM orders",
	},
	{
		Name: "DP_SUM", Role: Private, Measure: Sum, Signature: "DP_SUM(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Options: sumOptions,
		Doc:     "Sum over rows, of a number or a vector. A person's rows are summed first; the bound on a person's sum is chosen privately.",
		Example: "SELECT DP_SUM(amount) FROM orders",
	},
	{
		Name: "DP_MEAN", Aliases: []string{"DP_AVG"}, Role: Private, Measure: Mean, Signature: "DP_MEAN(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByPerson, Options: meanOptions,
		Doc:     "Mean of one number or vector a person, the mean of the person's rows; 'weight=row' for the mean over rows. The mean of vectors is a JSON array.",
		Example: "SELECT DP_MEAN(amount, 'weight=row') FROM orders",
	},
	{
		Name: "DP_VARIANCE", Role: Private, Measure: Variance, Signature: "DP_VARIANCE(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByPerson, Options: spreadOptions,
		Doc:     "Sample variance of one number a person, or of each coordinate of a vector; 'weight=row' for the variance over rows.",
		Example: "SELECT DP_VARIANCE(age) FROM people",
	},
	{
		Name: "DP_STDDEV", Role: Private, Measure: Variance, Signature: "DP_STDDEV(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByPerson, Options: spreadOptions, stddev: true,
		Doc:     "Sample standard deviation, as DP_VARIANCE.",
		Example: "SELECT DP_STDDEV(age) FROM people",
	},
	{
		Name: "DP_QUANTILE", Role: Private, Measure: Quantile, Signature: "DP_QUANTILE(x, q [, options])",
		MinArgs: 2, MaxArgs: 2, Result: Double, Weight: ByPerson, Options: rankOptions,
		Doc:     "The q-quantile, 0 < q < 1, of one value a person, the lower median of the person's rows; 'weight=row' where the rows of a person are bounded.",
		Example: "SELECT DP_QUANTILE(amount, 0.9) FROM orders",
	},
	{
		Name: "DP_QUANTILES", Role: Private, Measure: Quantile, Signature: "DP_QUANTILES(x, '[q, …]' [, options])",
		MinArgs: 2, MaxArgs: 2, Result: JSON, Weight: ByPerson, Options: rankOptions,
		Doc:     "Several quantiles at once, as a JSON array; they never cross.",
		Example: "SELECT DP_QUANTILES(amount, '[0.25, 0.5, 0.75]') FROM orders",
	},
	{
		Name: "DP_MEDIAN", Role: Private, Measure: Quantile, Signature: "DP_MEDIAN(x [, options])",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByPerson, Options: rankOptions,
		Doc:     "The median, as DP_QUANTILE with q = 0.5.",
		Example: "SELECT DP_MEDIAN(age) FROM people",
	},
	{
		Name: "COUNT", Role: Rewritten, Measure: Count, Signature: "COUNT(* | x | DISTINCT unit)",
		MinArgs: 0, MaxArgs: 1, Result: BigInt, clamp: true,
		Doc:     "As DP_COUNT, with a negative answer shown as 0.",
		Example: "SELECT COUNT(*) FROM orders",
	},
	{
		Name: "SUM", Role: Rewritten, Measure: Sum, Signature: "SUM(x)",
		MinArgs: 1, MaxArgs: 1, Result: Exact,
		Doc:     "Sum over rows, as DP_SUM.",
		Example: "SELECT SUM(amount) FROM orders",
	},
	{
		Name: "AVG", Role: Rewritten, Measure: Mean, Signature: "AVG(x)",
		MinArgs: 1, MaxArgs: 1, Result: Exact, Weight: ByRow,
		Doc:     "Mean over rows: DP_MEAN with weight=row.",
		Example: "SELECT AVG(amount) FROM orders",
	},
	rewrittenVariance("VAR_POP", "Population variance over rows.", false, true, "VARIANCE"),
	rewrittenVariance("VAR_SAMP", "Sample variance over rows.", false, false),
	rewrittenVariance("STDDEV_POP", "Population standard deviation over rows.", true, true, "STDDEV", "STD"),
	rewrittenVariance("STDDEV_SAMP", "Sample standard deviation over rows.", true, false),
	refused("MIN", "DP_QUANTILE(x, 0.01)", "The minimum is one person's value. Of a whole table and alone, it is the least value that is declared for the column."),
	refused("MAX", "DP_QUANTILE(x, 0.99)", "The maximum is one person's value. Of a whole table and alone, it is the greatest value that is declared for the column."),
	refused("GROUP_CONCAT", "SELECT x, COUNT(*) … GROUP BY x", "It would list persons' values."),
	refused("JSON_ARRAYAGG", "SELECT x, COUNT(*) … GROUP BY x", "It would list persons' values."),
	refused("JSON_OBJECTAGG", "SELECT x, COUNT(*) … GROUP BY x", "It would list persons' values."),
	refused("BIT_AND", "COUNT(CASE WHEN x % 2 = 1 THEN 1 END)", "One person can change every bit."),
	refused("BIT_OR", "COUNT(CASE WHEN x % 2 = 1 THEN 1 END)", "One person can change every bit."),
	refused("BIT_XOR", "COUNT(CASE WHEN x % 2 = 1 THEN 1 END)", "One person can change every bit."),
	refused("ANY_VALUE", "GROUP BY x", "It would show one person's value."),
	refused("FIRST", "DP_QUANTILE(x, 0.01)", "It would show one person's value."),
	refused("LAST", "DP_QUANTILE(x, 0.99)", "It would show one person's value."),
}

func rewrittenVariance(name, doc string, stddev, population bool, aliases ...string) *Function {
	return &Function{
		Name: name, Aliases: aliases, Role: Rewritten, Measure: Variance, Signature: name + "(x)",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByRow, stddev: stddev, population: population,
		Doc: doc, Example: "SELECT " + name + "(amount) FROM orders",
	}
}

func refused(name, instead, doc string) *Function {
	return &Function{Name: name, Role: Refused, Signature: name + "(…)", MinArgs: 0, MaxArgs: 99, Instead: instead, Doc: doc}
}
