package admin

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/internal/lists"
)

// PriceLine is one line of what CALL dp_price answers.
type PriceLine struct {
	Item   string // budget, keys, answer or statement
	Name   string // schema.table or entity:NAME of a budget, the text of keys or of the aggregate
	Budget *accounting.Forecast
	// Questions is how many default statements fit before the query; nil where it is not known to
	// who asks.
	Questions *int
	Fits      bool
	// Of answers: the expected standard deviation of the noise, NaN where it is not known, and the
	// number of persons under which the answer is NULL. Of keys: from which one is shown with a
	// probability of 95 %.
	Error      float64
	MinPersons int64
	Remark     string
}

// priceProcedure tells everybody what a query would cost.
var priceProcedure = procedure{min: 1, max: 1, result: priceColumns, may: everybody, note: unnoted, run: (*Admin).price, Procedure: Procedure{"dp_price", "dp_price(query)",
	"What a query would cost, per budget: its loss, what remains before and after it, how many such queries fit, how many statements at the default loss are left before it; per answer the expected error and the persons that it needs; and the persons that a key needs which is selected privately. Of CALL dp_create_view(…) the price of making the view. It runs nothing and charges nothing. Anybody may call it, and is told about their own budgets; of those shared with others, whether the query fits.",
	"CALL dp_price('SELECT region, AVG(amount) FROM shop.orders GROUP BY region')"}}

// priceColumns are the columns of its result.
var priceColumns = []column{text("item"), text("name"), text("holder"), text("window"), real("rho"), real("epsilon"), real("remaining_rho"), real("remaining_epsilon"),
	real("after_rho"), real("after_epsilon"), count("queries"), text("fits"), real("expected_error"), count("min_persons"), text("remark"), count("questions_left")}

func (a *Admin) price(ctx *sql.Context, args []string) ([]sql.Row, error) {
	lines, err := a.o.Price(ctx, args[0])
	if err != nil {
		return nil, err
	}
	return lists.Map(lines, func(l PriceLine) sql.Row { return l.row() }), nil
}

func (l *PriceLine) row() sql.Row {
	row := make(sql.Row, len(priceColumns))
	row[0], row[1], row[11] = l.Item, l.Name, yes(l.Fits)
	row[12], row[14] = finite(l.Error), orNull(l.Remark)
	if l.Item == "answer" || l.Item == "keys" {
		row[13] = l.MinPersons
	}
	if l.Questions != nil {
		row[15] = int64(*l.Questions)
	}
	f := l.Budget
	switch {
	case f == nil:
	case f.Missing:
		row[14] = "no '*' budget: every query is refused"
	case f.Budget.Window == "": // another's, which the asker does not see into
		row[2] = f.Holder
	default:
		row[2], row[3] = f.Holder, string(f.Budget.Window)
		row[4], row[6], row[8] = f.CostRho.Float(), f.RemainingRho.Float(), f.AfterRho.Float()
		row[5], row[7], row[9] = finite(float64(f.Cost)), finite(float64(f.Remaining)), finite(float64(f.After))
		row[10] = int64(f.Queries)
	}
	return row
}
