package console

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/internal/client"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
	"scrim/internal/web"
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

const (
	maxCall  = 1 << 20          // bytes of a call, its statement included
	maxRows  = 2000             // of an answer that is shown
	maxBytes = 4 << 20          // of its cells
	longest  = 10 * time.Minute // of one call
)

// asked is what the browser sends.
type asked struct {
	SQL      string `json:"sql"`
	Database string `json:"database"`
	// Intervals asks for the ends of 95 % intervals beside the answers that have them.
	Intervals bool `json:"intervals"`
}

// problem is why there is no answer: the server's error, or the console's own.
type problem struct {
	Number  uint16 `json:"number,omitempty"`
	State   string `json:"state,omitempty"`
	Message string `json:"message"`
}

// call answers one call of a session. ctx ends when the browser goes away.
type call func(ctx context.Context, a *account, q asked) (any, error)

// private serves a call to who is logged in and sends the session's token, which no other site can
// read.
func (c *Console) private(do call) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, ok := c.browsers.Of(r)
		switch {
		case !ok:
			reply(w, http.StatusUnauthorized, problem{Message: "The session has ended: log in again."})
			return
		case !web.Same(s.Token, r.Header.Get("X-Scrim-Token")):
			reply(w, http.StatusForbidden, problem{Message: "The page had expired: load it again."})
			return
		}
		var q asked
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxCall)).Decode(&q); err != nil {
			reply(w, http.StatusBadRequest, problem{Message: "The call cannot be read, or is longer than 1 MiB."})
			return
		}
		// a statement may take longer than a page
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(longest + time.Minute))
		ctx, cancel := context.WithTimeout(r.Context(), longest)
		defer cancel()
		out, err := do(ctx, s.Value, q)
		if ended(err) {
			c.browsers.EndOf(r)
			reply(w, http.StatusUnauthorized, problem{Message: "The connection has ended: log in again."})
			return
		}
		if err != nil {
			reply(w, http.StatusUnprocessableEntity, problemOf(err))
			return
		}
		reply(w, http.StatusOK, out)
	})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// ended reports whether an error is the end of the connection.
func ended(err error) bool {
	return errors.Is(err, errEnded) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, sql.ErrConnDone)
}

// hints are what helps on the page after MySQL's errors, which have no remedy of their own.
var hints = map[uint16]string{
	1046: "Choose a database above.",
	1054: "A table on the left opens to its columns.",
	1064: "Look at the words just before that; Ctrl+Space completes.",
	1142: "A DBA can GRANT SELECT on it; the tables that you may read are on the left.",
	1146: "The tables are on the left.",
	1305: "Ctrl+Space completes the names of functions.",
}

// problemOf words an error; what is not the server's has no details.
func problemOf(err error) problem {
	if e := (*mysql.MySQLError)(nil); errors.As(err, &e) {
		p := problem{e.Number, string(e.SQLState[:]), e.Message}
		if hint := hints[e.Number]; hint != "" {
			p.Message += ". " + hint
		}
		return p
	}
	if e := (complaint)(""); errors.As(err, &e) {
		return problem{Message: string(e)}
	}
	return problem{Message: "The statement did not end well."}
}

// complaint is the console's own refusal.
type complaint string

func (c complaint) Error() string { return string(c) }

// single takes the one statement of a text, without its end.
func single(text string) (string, error) {
	s, rest, _ := client.Next(text)
	if s.Text == "" {
		return "", complaint("There is no statement.")
	}
	if s.Command() {
		return "", complaint("Commands with a backslash are the shell's; the console has buttons.")
	}
	if more, _, _ := client.Next(rest); more.Text != "" {
		return "", complaint("The console runs one statement at a time: select the one that is meant.")
	}
	return s.Text, nil
}

// within makes a database the current one of a connection; "" leaves it.
func within(ctx context.Context, c *sql.Conn, database string) error {
	if database == "" {
		return nil
	}
	_, err := c.ExecContext(ctx, "USE "+sqltext.Name(database))
	return err
}

// table is an answer as the browser gets it.
type table struct {
	Columns []string `json:"columns"`
	Types   []string `json:"types"`
	Rows    [][]any  `json:"rows"` // null, or texts as people read them
	Numeric []bool   `json:"numeric"`
	Cut     bool     `json:"cut"` // there are more rows than are shown
}

// tableOf reads one result within the bounds of what is shown. What is beyond is not kept.
func tableOf(rows *sql.Rows) (table, error) {
	a, cut, err := client.ReadUpTo(rows, maxRows, maxBytes)
	if err != nil {
		return table{}, err
	}
	t := table{Columns: a.Columns, Types: a.Types, Rows: make([][]any, len(a.Rows)), Cut: cut}
	for i := range a.Columns {
		t.Numeric = append(t.Numeric, a.Numeric(i))
	}
	for r, row := range a.Rows {
		t.Rows[r] = make([]any, len(row))
		for i, v := range row {
			if v != nil {
				t.Rows[r][i] = client.Cell(v)
			}
		}
	}
	return t, nil
}

// ask asks one of the console's own questions on a connection.
func ask(ctx context.Context, c *sql.Conn, query string) (table, error) {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return table{}, err
	}
	defer rows.Close()
	return tableOf(rows)
}

// beside asks on the connection that runs nothing. The browser's going away does not cut it: the
// driver would close the connection, and the session with it.
func beside(ctx context.Context, a *account, database string, query string) (table, error) {
	a.asking.Lock()
	defer a.asking.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := within(ctx, a.side, database); err != nil {
		return table{}, err
	}
	return ask(ctx, a.side, query)
}

// names lists the columns that the account may name, what their tables are declared to be, and the
// words of the language.
func names(ctx context.Context, a *account, _ asked) (any, error) {
	columns, err := beside(ctx, a, "", `SELECT c.table_schema, c.table_name, c.column_name, c.column_type FROM information_schema.columns c
		WHERE c.table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys', 'dp', 'dp_in') ORDER BY c.table_schema, c.table_name, c.ordinal_position`)
	if err != nil {
		return nil, err
	}
	policies, err := beside(ctx, a, "", "SELECT table_name, state, entity FROM dp.policies")
	if err != nil {
		return nil, err
	}
	words, err := beside(ctx, a, "", "SELECT name, signature FROM dp.functions")
	return struct {
		Columns  table `json:"columns"`
		Policies table `json:"policies"`
		Words    table `json:"words"`
	}{columns, policies, words}, err
}

// budget tells the budgets that the account may see.
func budget(ctx context.Context, a *account, _ asked) (any, error) {
	return beside(ctx, a, "", client.BudgetQuery)
}

// history lists the account's own entries of the ledger, whoever else's it may read.
func history(ctx context.Context, a *account, _ asked) (any, error) {
	return beside(ctx, a, "", "SELECT id, charged_at, entry, statement, account, epsilon, rho, outcome, remark FROM dp.ledger "+
		"WHERE principal = "+sqltext.Text(a.name)+" AND entry IN ('charge', 'replay') AND (account_type = 'table' OR account_type IS NULL) ORDER BY id DESC LIMIT 50")
}

// price tells what a statement would cost. It charges nothing.
func price(ctx context.Context, a *account, q asked) (any, error) {
	statement, err := single(q.SQL)
	if err != nil {
		return nil, err
	}
	return beside(ctx, a, q.Database, priceQuery(statement))
}

func priceQuery(statement string) string { return "CALL dp_price(" + sqltext.Text(statement) + ")" }

// explain shows the plan. It charges nothing.
func explain(ctx context.Context, a *account, q asked) (any, error) {
	statement, err := single(q.SQL)
	if err != nil {
		return nil, err
	}
	return beside(ctx, a, q.Database, "EXPLAIN "+statement)
}
