package everyday

import (
	"fmt"
	"regexp"
	"strings"
)

// Statements lists all questions, those over generated tables first.
func Statements() []Statement {
	out := append(overGenerated(), overFiles()...)
	return append(out, overDeclared(out)...)
}

// overGenerated lists the questions over generated tables.
func overGenerated() []Statement {
	var out []Statement
	ask := func(name, table, from string, keys []string, a ...Aggregate) {
		out = append(out, Statement{Name: name, Table: table, From: from, Keys: keys, Aggregates: a})
	}
	count, total, average := Aggregate{rowCount, ""}, Aggregate{sum, "x"}, Aggregate{mean, "x"}
	for _, t := range generated() {
		n := t.Name
		ask(n+"/count", n, "", nil, count)
		ask(n+"/groups", n, "", []string{"g"}, count)
		switch n {
		case "n50_one", "n500_geometric", "n5000_poisson", "n1279_regulars", "n10000_holes":
			ask(n+"/all", n, "", nil, count, total, average)
		case "n100000_poisson":
			ask(n+"/months", n, "", []string{"MONTH(day)"}, count, total)
			ask(n+"/days", n, "", []string{"day"}, count)
		default:
			ask(n+"/sum", n, "", nil, total)
		}
		switch n {
		case "n200_poisson", "n1279_regulars", "n5000_poisson", "n10000_holes", "n50000_heavy", "n100000_poisson", "n1000_pareto":
			ask(n+"/averages", n, "", []string{"g"}, average, total)
		case "n600_one", "n600_key", "n2000_one":
			ask(n+"/sums", n, "", []string{"g"}, total)
		case "n1000_giant", "n2000_spike":
			ask(n+"/weekdays", n, "", []string{"WEEKDAY(day)"}, count)
		}
	}
	return out
}

// overDeclared asks of each table with declarations what is asked of the same rows without them.
func overDeclared(plain []Statement) []Statement {
	var out []Statement
	for _, t := range declared() {
		for _, s := range plain {
			if s.Table == t.Plain {
				s.Name, s.Table = strings.Replace(s.Name, t.Plain, t.Name, 1), t.Name
				out = append(out, s)
			}
		}
	}
	return out
}

// overFiles lists the questions over public data.
func overFiles() []Statement {
	count := Aggregate{rowCount, ""}
	const withFilms = "ratings r JOIN movies m ON r.movieId = m.movieId"
	return []Statement{
		{Name: "adult/count", Table: "adult", Aggregates: []Aggregate{count}},
		{Name: "adult/education", Table: "adult", Keys: []string{"education"}, Aggregates: []Aggregate{count, {mean, "hr_per_week"}}},
		{Name: "adult/country", Table: "adult", Keys: []string{"country"}, Aggregates: []Aggregate{count}},
		{Name: "adult/gains", Table: "adult", Aggregates: []Aggregate{{sum, "capital_gain"}, {mean, "capital_gain"}}},
		{Name: "adult/age", Table: "adult", Keys: []string{"sex"}, Aggregates: []Aggregate{{mean, "age"}, {median, "age"}, {deviation, "age"}}},
		{Name: "adult/line", Table: "adult", Aggregates: []Aggregate{{call, "CORR(age, hr_per_week)"}, {call, "REGR_SLOPE(hr_per_week, age)"}}},
		{Name: "adult/lines", Table: "adult", Keys: []string{"sex"}, Aggregates: []Aggregate{{call, "COVAR_SAMP(age, hr_per_week)"}}},
		{Name: "adult/ages", Table: "adult", Keys: []string{"DP_BUCKET(age, 10, 100, 18)"}, Aggregates: []Aggregate{count}},
		{Name: "adult/old", Table: "adult", From: "adult WHERE age >= 80", Aggregates: []Aggregate{count, {mean, "hr_per_week"}}},
		{Name: "adult/rollup", Table: "adult", Keys: []string{"sex", "income"}, Rollup: true, Aggregates: []Aggregate{count}},
		{Name: "visits/all", Table: "visits", Aggregates: []Aggregate{count, {sum, "spent"}, {mean, "minutes"}}},
		{Name: "visits/days", Table: "visits", Keys: []string{"day"}, Aggregates: []Aggregate{count, {sum, "spent"}}},
		{Name: "visits/persons", Table: "visits", Keys: []string{"day"}, Aggregates: []Aggregate{{personCount, "visitor_id"}}},
		{Name: "visits/spread", Table: "visits", Aggregates: []Aggregate{{deviation, "spent"}}},
		{Name: "visits/line", Table: "visits", Aggregates: []Aggregate{{call, "CORR(minutes, spent)"}, {call, "COVAR_POP(minutes, spent)"}}},
		{Name: "visits/long", Table: "visits", From: "visits WHERE minutes > 50", Aggregates: []Aggregate{count}},

		{Name: "ratings/count", Table: "ratings", Aggregates: []Aggregate{count}},
		{Name: "ratings/all", Table: "ratings", Aggregates: []Aggregate{count, {sum, "rating"}, {mean, "rating"}}},
		{Name: "ratings/persons", Table: "ratings", From: withFilms + " WHERE m.movieId = 318", Aggregates: []Aggregate{{personCount, "userId"}, {mean, "rating"}}},
		{Name: "ratings/good", Table: "ratings", From: "ratings WHERE rating >= 4", Aggregates: []Aggregate{count}},
		{Name: "ratings/rating", Table: "ratings", Keys: []string{"rating"}, Aggregates: []Aggregate{count}},
		{Name: "ratings/weekday", Table: "ratings", Keys: []string{"WEEKDAY(FROM_UNIXTIME(timestamp))"}, Aggregates: []Aggregate{count}},
		{Name: "ratings/hour", Table: "ratings", Keys: []string{"HOUR(FROM_UNIXTIME(timestamp))"}, Aggregates: []Aggregate{count}},
		{Name: "ratings/year", Table: "ratings", Keys: []string{"YEAR(FROM_UNIXTIME(timestamp))"}, Aggregates: []Aggregate{count, {mean, "rating"}}},
		{Name: "ratings/comedy", Table: "ratings", From: withFilms, Keys: []string{"genres LIKE '%Comedy%'"}, Aggregates: []Aggregate{count}},
		{Name: "ratings/films", Table: "ratings", From: withFilms, Keys: []string{"m.movieId"}, Aggregates: []Aggregate{count}},
		{Name: "ratings/five", Table: "ratings", From: withFilms + " WHERE m.movieId IN (356, 318, 296, 593, 2571)", Keys: []string{"m.title"}, Aggregates: []Aggregate{count, {mean, "rating"}}},
		{Name: "ratings/distinct", Table: "ratings", Aggregates: []Aggregate{{call, "COUNT(DISTINCT movieId)"}}},
		{Name: "ratings/distinct_cap", Table: "ratings", Aggregates: []Aggregate{{values, "movieId, 'values=170'"}}},
		{Name: "ratings/each", Table: "ratings", From: "(SELECT userId, COUNT(*) AS films FROM ratings GROUP BY userId) AS r", Aggregates: []Aggregate{{mean, "films"}}},

		{Name: "people/all", Table: "people", Aggregates: []Aggregate{count, {sum, "income"}, {mean, "income"}}},
		{Name: "people/educ", Table: "people", Keys: []string{"educ"}, Aggregates: []Aggregate{count, {mean, "income"}}},
		{Name: "people/married", Table: "people", Keys: []string{"married"}, Aggregates: []Aggregate{count, {mean, "age"}}},
		{Name: "stays/all", Table: "stays", Aggregates: []Aggregate{count, {sum, "spent"}}},
		{Name: "stays/days", Table: "stays", Keys: []string{"day"}, Aggregates: []Aggregate{{mean, "spent"}}},
		{Name: "items/count", Table: "items", Aggregates: []Aggregate{count, {sum, "price"}}},
		{Name: "items/baskets", Table: "items", Keys: []string{"MONTH(day)"}, Aggregates: []Aggregate{{personCount, "basket"}}},
		{Name: "items/dept", Table: "items", Keys: []string{"dept"}, Aggregates: []Aggregate{count, {sum, "price"}}},
		{Name: "items/days", Table: "items", Keys: []string{"day"}, Aggregates: []Aggregate{count}},
		{Name: "items/rollup", Table: "items", Keys: []string{"dept"}, Rollup: true, Aggregates: []Aggregate{count}},
		{Name: "views/count", Table: "views", Aggregates: []Aggregate{count}},
		{Name: "views/pages", Table: "views", Keys: []string{"page"}, Aggregates: []Aggregate{count}},
		{Name: "news/count", Table: "news", Aggregates: []Aggregate{count}},
		{Name: "news/stories", Table: "news", From: "news WHERE story <= 1000", Keys: []string{"story"}, Aggregates: []Aggregate{count}},
	}
}

// selected returns the statements whose names match only, and whose tables can be read.
func selected(only string, dir string) ([]Statement, error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("everyday: statements %q: %w", only, err)
	}
	tables := Tables()
	var out []Statement
	for _, s := range Statements() {
		if match.MatchString(s.Name) && (dir != "" || !tables[s.Table].file) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("everyday: no statement %q, of those that need no --data directory where none is given", only)
	}
	return out, nil
}
