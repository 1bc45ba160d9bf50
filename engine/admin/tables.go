package admin

// TableDoc documents one table of the database dp.
type TableDoc struct {
	Name    string
	Columns []string
	Doc     string
}

// tableDocs says what each table shows.
var tableDocs = map[string]string{
	"accounts":               "Accounts and roles, and what they can do. An analyst sees themself.",
	"budgets":                "Limits, what is spent and what remains, per account and principal; per entity, the sum over its tables. An analyst sees what concerns them.",
	"collection_batches":     "The batches of shuffle collections that were loaded.",
	"collection_cells":       "The cells of every round, also of those to come: the law of their reports, how many are planned, and how many there are.",
	"collection_results":     "What is kept of collections that are FINAL: the estimates, by stratum, as JSON.",
	"collection_rounds":      "The public parameters of every round, exactly as the fingerprint is of them. Contributors read them here.",
	"collection_sim_results": "The runs of the latest 20 simulations of each collection; a collector sees their own, a DBA all. Truth and error are told of public sources only.",
	"collection_tokens":      "How many tokens the server has issued of each cell, and how many of them have reported.",
	"collections":            "The collections, their state, and what each contributor to them pays.",
	"continual":              "The series of running totals: their days, how many are released, for how much one person counts in each measure, and the standard error of the last total; the schedule by which the server releases days, and how that went last. An account sees those whose tables it sees.",
	"domains":                "Declared public domains.",
	"errors":                 "Every refusal with its SQLSTATE, cause and remedy.",
	"functions":              "The aggregate functions with options and examples.",
	"last_cost":              "What the last private statement of this connection was charged: of each charge the ledger's lines, of each stored answer which charge it is of. number counts the connection's private statements. They stay until the next one.",
	"last_warnings":          "The warnings and notes on the last private statement of this connection, for clients that drop MySQL's. They stay until the next private statement.",
	"ledger":                 "Who asked what, when, what it cost and what remained. An analyst sees their own entries. Of entries that were archived, a line with the outcome archive says where they are.",
	"periods":                "Where each budget stands on each block of days, where the unit of a table is one person's rows of one period and something was charged to some periods only. An open end is NULL. A line with account_type 'person' is of a budget on what one person loses over all periods. An analyst sees what concerns them.",
	"policies":               "What each table is declared to be, and its defaults. A table that nobody has declared is undeclared: refused to analysts until dp_protect, dp_link or dp_public.",
	"procedures":             "The procedures for DBAs.",
	"protocols":              "The protocols of collections, and the parameters that each takes.",
	"replays":                "Stored answers, that the same query gets again for nothing: whose, of which charge, how large, how often used since the server started. An analyst sees their own.",
	"scales":                 "Declared standard deviations of columns.",
	"sources":                "Tables that are, or were, read from files in place. Analysts see none: which files there are may depend on persons.",
	"synthetic":              "The synthetic tables: what they are of, what they cost, how old their rows are, and how far off they are in pairs of columns on average. An account sees those whose tables it sees.",
	"variables":              "The session variables.",
	"views":                  "The DP views: what they hold, what they cost, how old their rows are. Their measures as JSON have the clip, the share that it is expected to have taken, which the rows have been enlarged by, and how much more it may be. Of a schedule they have who set it, when it is due next, and how that went last. An account sees those whose tables it sees.",
	"warnings":               "Every warning on answers with its level, cause and remedy.",
}

// Tables documents the tables of dp in the order of their names.
func Tables() []TableDoc {
	var out []TableDoc
	for _, t := range new(Admin).views() {
		d := TableDoc{Name: t.Title, Doc: tableDocs[t.Title]}
		for _, c := range t.Columns {
			d.Columns = append(d.Columns, c.Name)
		}
		out = append(out, d)
	}
	return out
}
