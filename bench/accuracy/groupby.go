package accuracy

// groupLine are the ways to answer a GROUP BY.
var groupLine = []string{"groups", "ball", "box", "box:groups=1", "per-group", "nothing"}

// groupData are the real sets of GROUP BY: what is asked for, of whom.
var groupData = []struct {
	name, title, data string
	uneven, many      bool // sums of uneven persons; persons with many groups
}{
	{"kosarak", "kosarak-part: persons by page, 17 034 groups", "sales:file=kosarak-part,measure=persons", false, false},
	{"webview", "bms-webview-1: persons by page, 497 groups", "sales:file=bms-webview-1,measure=persons", false, false},
	{"retail-items", "retail: baskets by item, 16 470 groups", "sales:file=retail,measure=persons", false, true},
	{"retail-rows", "retail: items by department, 100 groups", "sales:file=retail,departments=100,measure=rows", false, true},
	{"retail-prices", "retail: made-up prices by department, 100 groups", "sales:file=retail,departments=100,measure=sum", true, true},
	{"genre-rows", "ratings: COUNT by genre, 20 groups", "ratings:by=genre,measure=rows", false, true},
	{"genre-sum", "ratings: SUM by genre, 20 groups", "ratings:by=genre,measure=sum", true, true},
	{"movie-rows", "ratings: COUNT by movie, 9742 groups", "ratings:by=movie,measure=rows", false, true},
	{"movie-sum", "ratings: SUM by movie, 9742 groups", "ratings:by=movie,measure=sum", true, true},
}

const groupNotes = "Errors are ℓ2 over all groups, to the exact totals: a public list of all groups is taken as given. `groups` is one vector of each person; " +
	"`ball` is such a vector without a search, with the radius that is the best in hindsight: about what a private radius can come to; " +
	"`box` drops groups of a person at random beyond the best number, and clips at the best bound, both chosen by the exact expected error on the data; `box:groups=1` keeps one group of a person; " +
	"`per-group` is the product without groups as a vector: 8 groups of a person, all where there are at most 24, a private bound in each group; a group without an answer counts as 0. `nothing` answers 0 everywhere: an error near it tells next to nothing. " +
	"retail's departments are ranges of 165 item numbers, its prices are made up (log-normal)."

func groupBy() []Experiment {
	e := Experiment{Name: "groups", Title: "GROUP BY: one vector a person against bounds for each group", Trials: 20, Relations: addRemove, Notes: groupNotes}
	for _, g := range groupData {
		e.Panels = append(e.Panels, Panel{Name: "groups-" + g.name, Title: g.title, XLabel: "ρ", LogX: true, LogY: true, Metric: Groups,
			Points: overRho(g.data, 0.03125, 0.125, 0.5, 1), Methods: groupLine})
	}
	return []Experiment{e}
}
