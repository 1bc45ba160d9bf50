package console

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"scrim/internal/client"
	"scrim/internal/lists"
)

// answered is what a statement that ended well says.
type answered struct {
	Table     table    `json:"table"`
	Statement string   `json:"statement"` // as it was asked
	Ends      []int    `json:"ends"`      // columns whose intervals' ends are the last columns, in pairs
	Warnings  table    `json:"warnings"`  // level, code, message, remedy
	Costs     []string `json:"costs"`
	Seconds   float64  `json:"seconds"`
}

// failed is an error of a statement; what was charged for it stands.
type failed struct {
	problem
	Costs []string `json:"costs"`
}

// run runs a statement. It is ended on the server when the browser goes away.
func run(ctx context.Context, a *account, q asked) (any, error) {
	statement, err := single(q.SQL)
	if err != nil {
		return nil, err
	}
	if !a.running.TryLock() {
		return nil, complaint("Another statement of this session is running.")
	}
	defer a.running.Unlock()
	defer a.killWith(ctx)()
	own := context.WithoutCancel(ctx)
	if err := within(own, a.main, q.Database); err != nil {
		return nil, err
	}
	out := answered{Statement: statement}
	if q.Intervals {
		out.Statement, out.Ends = a.withIntervals(own, statement)
	}
	before, err := a.spent(own)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if out.Table, err = ask(own, a.main, out.Statement); err != nil {
		if ended(err) {
			return nil, err
		}
		costs, unknown := a.costs(own, before)
		return failed{problemOf(err), costs}, unknown
	}
	out.Seconds = time.Since(start).Seconds()
	plain, err := ask(own, a.main, "SHOW WARNINGS")
	if err != nil {
		return nil, err
	}
	out.Warnings = plain
	if out.Costs, err = a.costs(own, before); len(out.Costs) > 0 { // a private answer: its remarks have remedies
		out.Warnings, err = ask(own, a.main, "SELECT level, code, message, remedy FROM dp.last_warnings")
	}
	return out, err
}

// withIntervals adds to a private query the ends of the intervals that cost nothing more, and
// returns whose they are. A connection that has ended is for the next statement to find.
func (a *account) withIntervals(ctx context.Context, query string) (longer string, columns []int) {
	l, ok := client.ParseSelect(query)
	if !ok {
		return query, nil
	}
	price := a.losses(ctx, query)
	if len(price) == 0 {
		return query, nil
	}
	columns = l.Intervals(func(items ...int) bool { return reflect.DeepEqual(price, a.losses(ctx, l.WithIntervals(items...))) })
	if len(columns) == 0 {
		return query, nil
	}
	return l.WithIntervals(columns...), columns
}

// losses are what a statement would cost of each budget; none where it has no price.
func (a *account) losses(ctx context.Context, statement string) (list [][]any) {
	t, err := ask(ctx, a.main, priceQuery(statement))
	if err != nil {
		return nil
	}
	for _, row := range t.Rows {
		var loss []any
		for _, name := range []string{"item", "name", "holder", "epsilon", "rho"} {
			if i := slices.Index(t.Columns, name); i >= 0 {
				loss = append(loss, row[i])
			}
		}
		if slices.Contains(loss, any("budget")) {
			list = append(list, loss)
		}
	}
	return list
}

// killWith ends what the first connection runs when ctx ends, until stop is called.
func (a *account) killWith(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	off := context.AfterFunc(ctx, func() {
		defer close(done)
		_, _ = beside(ctx, a, "", fmt.Sprintf("KILL QUERY %d", a.id))
	})
	return func() {
		if !off() {
			<-done
		}
	}
}

// spent is the number of the connection's last private statement that cost something.
func (a *account) spent(ctx context.Context) (int64, error) {
	t, err := ask(ctx, a.main, client.LastCostNumber)
	if err != nil {
		return 0, err
	}
	return int64(client.Number(t.Rows[0][0])), nil
}

// costs words what a private statement after that one cost; nothing where there was none.
func (a *account) costs(ctx context.Context, before int64) ([]string, error) {
	t, err := ask(ctx, a.main, client.CostQuery(before))
	if err != nil {
		return nil, err
	}
	var lines []string
	lines = append(lines, lists.Map(t.Rows, client.CostLine)...)
	return lines, nil
}
