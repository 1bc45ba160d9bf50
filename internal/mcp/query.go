package mcp

import (
	"context"
	"reflect"
	"slices"

	"scrim/internal/client"
	"scrim/internal/sqltext"
)

// Question is what query is asked.
type Question struct {
	SQL         string `json:"sql" jsonschema:"one SELECT, WITH, SHOW, DESCRIBE or EXPLAIN"`
	NoIntervals bool   `json:"no_intervals,omitempty" jsonschema:"leave out the 95 % intervals, which cost nothing"`
}

// Answer is what query answers.
type Answer struct {
	Table
	Intervals []Interval `json:"intervals,omitempty" jsonschema:"95 % intervals of private values, row by row; where a column has none here, select DP_LOW(alias), DP_HIGH(alias)"`
	Cost      []Cost     `json:"cost" jsonschema:"a line for each table or entity that was charged, or whose stored answer this is; empty: nothing private was read"`
	Warnings  Records    `json:"warnings" jsonschema:"what has to be known of the answer, and what would help"`
}

// Interval has the ends of the 95 % intervals of a column.
type Interval struct {
	Column string `json:"column"`
	Low    []any  `json:"low" jsonschema:"in the order of rows"`
	High   []any  `json:"high"`
}

func (s *session) query(ctx context.Context, c *call, in Question) (a Answer, err error) {
	query, err := single(in.SQL)
	if err != nil {
		return a, err
	}
	if !client.Reads(query) {
		return a, errWrites
	}
	var added []int
	price, err := c.losses(ctx, query)
	private := err == nil && len(price) > 0 // what has no price is refused, or is no SELECT
	if private && !in.NoIntervals {
		query, added = c.withIntervals(ctx, query, price)
	}
	last, err := c.spent(ctx)
	if err != nil {
		return a, err
	}
	a.Table, err = c.read(ctx, query, c.Rows, c.Bytes)
	failure := err
	if a.Cost, err = c.costs(ctx, last); failure != nil {
		return a, charged(failure, a.Cost)
	}
	if err != nil {
		return a, err
	}
	a.Intervals = apart(&a.Table, added)
	a.Warnings, err = c.warnings(ctx, private)
	return a, err
}

// withIntervals adds the intervals of the columns that have one to a private query, where the
// server prices the longer query as it does the query itself: the loss of every budget is the same.
// columns are the columns with an interval.
func (c *call) withIntervals(ctx context.Context, query string, price Records) (longer string, columns []int) {
	l, ok := client.ParseSelect(query)
	if !ok {
		return query, nil
	}
	same := func(items ...int) bool {
		longer, err := c.losses(ctx, l.WithIntervals(items...))
		return err == nil && reflect.DeepEqual(price, longer)
	}
	if columns = l.Intervals(same); len(columns) == 0 {
		return query, nil
	}
	return l.WithIntervals(columns...), columns
}

// losses are the lines of the budgets in the price of a query.
func (c *call) losses(ctx context.Context, query string) (Records, error) {
	lines, err := c.priced(ctx, query)
	return slices.DeleteFunc(lines, func(r map[string]any) bool { return r["item"] != "budget" }), err
}

// apart takes the columns that withIntervals has added out of an answer.
func apart(t *Table, columns []int) (out []Interval) {
	own := len(t.Columns) - 2*len(columns)
	for k, column := range columns {
		in := Interval{t.Columns[column].Name, []any{}, []any{}}
		for _, row := range t.Rows {
			in.Low, in.High = append(in.Low, row[own+2*k]), append(in.High, row[own+2*k+1])
		}
		out = append(out, in)
	}
	t.Columns = t.Columns[:own]
	for i, row := range t.Rows {
		t.Rows[i] = row[:own]
	}
	return out
}

// warnings are those on the statement before: of a private answer with what would help.
func (c *call) warnings(ctx context.Context, private bool) (Records, error) {
	if private {
		return c.records(ctx, "SELECT level, code, message, remedy FROM dp.last_warnings")
	}
	return c.records(ctx, "SHOW WARNINGS")
}

// Cost is a charge for a query, or a stored answer. Losses are in the unit that the account is kept
// in.
type Cost struct {
	LedgerID         int64    `json:"ledger_id,omitempty"`
	Entry            string   `json:"entry" jsonschema:"charge, or replay: a stored answer, which costs nothing"`
	AccountType      string   `json:"account_type,omitempty"`
	Account          string   `json:"account,omitempty" jsonschema:"the table or entity"`
	Epsilon          *float64 `json:"epsilon,omitempty"`
	Delta            *float64 `json:"delta,omitempty"`
	PureEpsilon      *float64 `json:"pure_epsilon,omitempty"`
	Rho              *float64 `json:"rho,omitempty"`
	RemainingEpsilon *float64 `json:"remaining_epsilon,omitempty"`
	RemainingRho     *float64 `json:"remaining_rho,omitempty"`
	QuestionsLeft    *int64   `json:"questions_left,omitempty" jsonschema:"at the default loss"`
	ReplayOf         *int64   `json:"replay_of,omitempty" jsonschema:"the ledger entry of the charge whose answer this is"`
}

// spent is the number of the connection's last private statement that cost something.
func (c *call) spent(ctx context.Context) (number int64, err error) {
	return number, c.conn.QueryRowContext(ctx, client.LastCostNumber).Scan(&number)
}

// costs are what a private statement after that one cost.
func (c *call) costs(ctx context.Context, before int64) ([]Cost, error) {
	out := []Cost{}
	rows, err := c.conn.QueryContext(ctx, client.CostQuery(before))
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var k Cost
		var id *int64
		if err := rows.Scan(&id, &k.Entry, &k.AccountType, &k.Account, &k.Epsilon, &k.Delta, &k.PureEpsilon, &k.Rho,
			&k.RemainingEpsilon, &k.RemainingRho, &k.QuestionsLeft, &k.ReplayOf, new(int64)); err != nil {
			return out, err
		}
		if id != nil {
			k.LedgerID = *id
		}
		out = append(out, k)
	}
	return out, rows.Err()
}

// Nothing is what a tool without arguments is asked.
type Nothing struct{}

// Budgets are what the tool budget answers.
type Budgets struct {
	Budgets Records `json:"budgets" jsonschema:"a line for each table or entity and principal ('*': all together); questions_left is at the default loss"`
}

const budgets = `SELECT account_type, account, principal, epsilon, delta, rho, budget_window, window_end, spent_epsilon, spent_rho,
	remaining_epsilon, remaining_rho, remaining_pure_epsilon, questions_left FROM dp.budgets`

func (s *session) budget(ctx context.Context, c *call, _ Nothing) (Budgets, error) {
	list, err := c.records(ctx, budgets)
	return Budgets{list}, err
}

// Priced is what price is asked.
type Priced struct {
	SQL string `json:"sql" jsonschema:"one SELECT"`
}

// Price is what price answers.
type Price struct {
	Lines Records `json:"lines" jsonschema:"item budget: the loss of this query, what remains before and after it, how many such queries fit, questions_left at the default loss; item answer: its expected error and the persons that it needs; item keys: when a key is shown"`
}

func (s *session) price(ctx context.Context, c *call, in Priced) (Price, error) {
	query, err := single(in.SQL)
	if err != nil {
		return Price{}, err
	}
	lines, err := c.priced(ctx, query)
	return Price{lines}, err
}

func (c *call) priced(ctx context.Context, query string) (Records, error) {
	return c.records(ctx, "CALL dp_price("+sqltext.Text(query)+")")
}
