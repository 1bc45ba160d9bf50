package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/go-sql-driver/mysql"
)

// tolerance is how far a private answer may be from the truth to count as close.
const tolerance = 0.10

// Report counts what the tour showed.
type Report struct {
	Cells int // private answers shown beside a true value
	Close int // of these, within 10 % of the truth
}

// guide takes the tour: analyst asks, and truth is a DBA's connection with raw access.
type guide struct {
	out            io.Writer
	analyst, truth *sql.Conn
	report         Report
}

// budget shows what the analyst has left.
func (g *guide) budget(ctx context.Context, title string) error {
	fmt.Fprintf(g.out, "\n%s\n", title)
	const q = "SELECT account, principal, epsilon, spent_epsilon, remaining_epsilon FROM dp.budgets ORDER BY account, principal"
	cols, rows, err := query(ctx, g.analyst, q)
	if err != nil {
		return err
	}
	return g.table(cols, rows, nil, 0)
}

// visit sends one statement and shows the answer, or the refusal when there is no exact
// counterpart.
func (g *guide) visit(ctx context.Context, s stop) error {
	fmt.Fprintf(g.out, "\n%s\nmysql> %s;\n", s.title, s.sql)
	cols, rows, err := query(ctx, g.analyst, s.sql)
	var refusal *mysql.MySQLError
	if errors.As(err, &refusal) && s.exact == "" {
		fmt.Fprintf(g.out, "ERROR %d (%s): %s\n", refusal.Number, refusal.SQLState[:], refusal.Message)
		return nil
	}
	if err != nil {
		return err
	}
	if s.exact == "" {
		return g.table(cols, rows, nil, 0)
	}
	_, exact, err := query(ctx, g.truth, s.exact)
	if err != nil {
		return fmt.Errorf("true values: %w", err)
	}
	return g.table(cols, rows, truthByKey(exact, s.keys), s.keys)
}

// truthByKey indexes true rows by their key columns.
func truthByKey(rows [][]string, keys int) map[string][]string {
	m := make(map[string][]string, len(rows))
	for _, r := range rows {
		m[strings.Join(r[:keys], "\x00")] = r
	}
	return m
}

// table prints rows; where there is a true row of the same key, each cell shows "private (true)".
func (g *guide) table(cols []string, rows [][]string, truth map[string][]string, keys int) error {
	w := tabwriter.NewWriter(g.out, 0, 0, 2, ' ', 0)
	for i, c := range cols {
		if truth != nil && i >= keys {
			c += " (true)"
		}
		cols[i] = c
	}
	fmt.Fprintln(w, "  "+strings.Join(cols, "\t"))
	for _, r := range rows {
		if t, ok := truth[strings.Join(r[:keys], "\x00")]; ok {
			for i := keys; i < len(r); i++ {
				g.count(r[i], t[i])
				r[i] = fmt.Sprintf("%s (%s)", short(r[i]), short(t[i]))
			}
		}
		fmt.Fprintln(w, "  "+strings.Join(r, "\t"))
	}
	return w.Flush()
}

// elements returns the numbers of a JSON array as text, or the cell itself.
func elements(cell string) []string {
	list, ok := strings.CutPrefix(cell, "[")
	if !ok {
		return []string{cell}
	}
	return strings.Split(strings.TrimSuffix(list, "]"), ",")
}

// count judges one cell, each number of a vector by itself. A cell without a number, NULL for too
// few persons, is not close.
func (g *guide) count(private, truth string) {
	p, t := elements(private), elements(truth)
	for i := range t {
		if len(p) == len(t) {
			g.judge(strings.TrimSpace(p[i]), strings.TrimSpace(t[i]))
		} else {
			g.judge(private, strings.TrimSpace(t[i]))
		}
	}
}

// judge counts one number.
func (g *guide) judge(private, truth string) {
	t, err := strconv.ParseFloat(truth, 64)
	if err != nil {
		return
	}
	g.report.Cells++
	if p, err := strconv.ParseFloat(private, 64); err == nil && math.Abs(p-t) <= tolerance*math.Abs(t) {
		g.report.Close++
	}
}

// short cuts the numbers of a cell to two decimals for the screen.
func short(cell string) string {
	if !strings.HasPrefix(cell, "[") {
		return rounded(cell)
	}
	list := elements(cell)
	for i, s := range list {
		list[i] = rounded(strings.TrimSpace(s))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func rounded(s string) string {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f == math.Trunc(f) {
		return s
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

// query returns a result as text, the way a client shows it.
func query(ctx context.Context, c *sql.Conn, q string) (cols []string, out [][]string, err error) {
	rows, err := c.QueryContext(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if cols, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		cells := make([]sql.NullString, len(cols))
		dst := make([]any, len(cols))
		for i := range cells {
			dst[i] = &cells[i]
		}
		if err := rows.Scan(dst...); err != nil {
			return nil, nil, err
		}
		row := make([]string, len(cols))
		for i, c := range cells {
			row[i] = "NULL"
			if c.Valid {
				row[i] = c.String
			}
		}
		out = append(out, row)
	}
	return cols, out, rows.Err()
}
