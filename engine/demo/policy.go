package demo

// setup is what the DBA does before the tour, statement by statement.
var setup = []string{
	"CALL dp_protect('demo.adult', 'row', 'census')",
	`CALL dp_set_domain('demo.adult', 'income', '["<=50K",">50K"]')`,
	`CALL dp_set_domain('demo.adult', 'sex', '["Female","Male"]')`,
	"CALL dp_protect('demo.visits', 'visitor_id', 'visitor')",
	`CALL dp_set_domain('demo.visits', 'day', '[1,2,3,4,5,6,7]')`,
	`CALL dp_set_domain('demo.visits', 'minutes', '{"min":0,"max":180}')`,
	"CALL dp_set_budget('demo.adult', '*', 30, 1e-6, 'month')",
	"CALL dp_set_budget('demo.adult', 'default', 20, 1e-6, 'month')",
	"CALL dp_set_budget('demo.visits', '*', 40, 1e-6, 'month')",
	"CALL dp_set_budget('demo.visits', 'default', 30, 1e-6, 'month')",
	`CALL dp_set_defaults('demo.visits', '{"dp_epsilon": 4}')`,
}

// stop is one statement of the tour.
type stop struct {
	title string
	sql   string // what the analyst sends
	// the same question without privacy, for the column beside it; "" where there is none
	exact string
	keys  int // leading columns of the answer that name the group
}

// tour is what the analyst does.
var tour = []stop{
	{
		title: "Plain SQL, as any BI tool sends it, is rewritten. Each row is one person.",
		sql:   "SELECT income, COUNT(*) AS persons, AVG(age) AS mean_age, AVG(hr_per_week) AS hours FROM adult GROUP BY income",
		exact: "SELECT income, COUNT(*), AVG(age), AVG(hr_per_week) FROM adult GROUP BY income",
		keys:  1,
	},
	{
		title: "The DP functions say more. Nobody declared a bound on age.",
		sql:   "SELECT DP_MEAN(age) AS mean_age, DP_MEDIAN(age) AS median_age, DP_QUANTILE(age, 0.9) AS p90_age, DP_VARIANCE(age) AS var_age FROM adult",
		exact: `SELECT AVG(age), (SELECT age FROM adult ORDER BY age LIMIT 1 OFFSET 15080),
			(SELECT age FROM adult ORDER BY age LIMIT 1 OFFSET 27145), VAR_SAMP(age) FROM adult`,
	},
	{
		title: "A vector a person: columns, or an embedding, are averaged together, with noise on the whole.",
		sql:   "SELECT income, DP_MEAN(DP_VECTOR(age, education_num, hr_per_week)) AS `mean of age, schooling, hours` FROM adult GROUP BY income",
		exact: "SELECT income, JSON_ARRAY(AVG(age), AVG(education_num), AVG(hr_per_week)) FROM adult GROUP BY income",
		keys:  1,
	},
	{
		title: "Many rows a person: a visitor who comes every day hides as well as one who came once.",
		sql:   "SELECT day, COUNT(*) AS visits, AVG(minutes) AS minutes FROM visits GROUP BY day ORDER BY day",
		exact: "SELECT day, COUNT(*), AVG(minutes) FROM visits GROUP BY day ORDER BY day",
		keys:  1,
	},
	{
		title: "Totals and persons.",
		sql:   "SELECT COUNT(DISTINCT visitor_id) AS visitors, SUM(spent) AS revenue, DP_MEAN(spent) AS spent_per_visitor FROM visits",
		exact: "SELECT COUNT(DISTINCT visitor_id), SUM(spent), (SELECT AVG(m) FROM (SELECT AVG(spent) AS m FROM visits GROUP BY visitor_id) v) FROM visits",
	},
	{
		title: "Rows are refused, and the message says what works.",
		sql:   "SELECT * FROM adult LIMIT 5",
	},
	{
		title: "So are lists of what persons have.",
		sql:   "SELECT GROUP_CONCAT(education) FROM adult",
	},
	{
		title: "EXPLAIN shows mechanisms, cost and expected error, and charges nothing.",
		sql:   "EXPLAIN SELECT income, COUNT(*), AVG(age) FROM adult GROUP BY income",
	},
}
