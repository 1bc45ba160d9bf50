package mcp

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"

	"scrim/internal/client"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// Table is a result.
type Table struct {
	Columns   []Column `json:"columns"`
	Rows      [][]any  `json:"rows" jsonschema:"values in the order of columns; null where there is none; DECIMAL values are numbers"`
	Truncated string   `json:"truncated,omitempty" jsonschema:"set where rows were left out: why, and what to do"`
}

// Column is a column of a result.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type" jsonschema:"MySQL's type"`
}

// read sends a statement and reads its first result, up to so many rows and bytes.
func (c *call) read(ctx context.Context, query string, most, bytes int) (Table, error) {
	rows, err := c.conn.QueryContext(ctx, query)
	if err != nil {
		return Table{}, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return Table{}, err
	}
	t := Table{Columns: []Column{}, Rows: [][]any{}}
	for _, ty := range types {
		t.Columns = append(t.Columns, Column{ty.Name(), ty.DatabaseTypeName()})
	}
	for size := 0; rows.Next(); {
		row, err := scan(rows, types)
		if err != nil {
			return t, err
		}
		if size += sizeOf(row); len(t.Rows) == most || size > bytes {
			t.Truncated = fmt.Sprintf("only the first %d rows are here, by this tool's bounds of %d rows and %d bytes; group more coarsely, or ask for parts with ORDER BY and LIMIT", len(t.Rows), most, bytes)
			return t, nil
		}
		t.Rows = append(t.Rows, row)
	}
	return t, rows.Err()
}

// scan reads one row as JSON can carry it.
func scan(rows *sql.Rows, types []*sql.ColumnType) ([]any, error) {
	row, to := make([]any, len(types)), make([]any, len(types))
	for i := range row {
		to[i] = &row[i]
	}
	if err := rows.Scan(to...); err != nil {
		return nil, err
	}
	for i, v := range row {
		b, ok := v.([]byte)
		switch {
		case !ok:
		case types[i].DatabaseTypeName() == "DECIMAL":
			row[i] = json.Number(b)
		default:
			row[i] = string(b)
		}
	}
	return row, nil
}

// sizeOf is about how many bytes a row has in an answer.
func sizeOf(row []any) int {
	n := 2
	for _, v := range row {
		if s, ok := v.(string); ok {
			n += len(s) + 3
		} else {
			n += len(fmt.Sprint(v)) + 1
		}
	}
	return n
}

// Records are the rows of a table of facts by the names of their columns, without what is NULL.
type Records []map[string]any

// What a table of facts may be: as many tables, columns or budgets as one can still make sense of.
const (
	mostRecords = 2000
	factBytes   = 1 << 20
)

// records reads the rows of one of the server's own tables.
func (c *call) records(ctx context.Context, query string) (Records, error) {
	t, err := c.read(ctx, query, mostRecords, factBytes)
	out := make(Records, 0, len(t.Rows))
	for _, row := range t.Rows {
		r := map[string]any{}
		for i, v := range row {
			if v != nil {
				r[t.Columns[i].Name] = v
			}
		}
		out = append(out, r)
	}
	return out, err
}

// Described is what describe is asked.
type Described struct {
	Table string `json:"table,omitempty" jsonschema:"schema.table, as the list of tables has it; without it the tables are listed"`
}

// Description is what describe answers.
type Description struct {
	Tables    Records `json:"tables" jsonschema:"name, state (protected, public, undeclared), the unit whose privacy is protected, its entity"`
	Columns   Records `json:"columns,omitempty" jsonschema:"of the table"`
	Keys      Records `json:"public_keys,omitempty" jsonschema:"columns whose possible values are public: GROUP BY them shows every key"`
	Functions Records `json:"functions,omitempty" jsonschema:"aggregates with privacy; COUNT, SUM, AVG, VARIANCE and STDDEV work too"`
	Budgets   Records `json:"budgets,omitempty" jsonschema:"see the tool budget"`
}

const (
	policies  = "SELECT table_name, state, unit, unit_column, entity, neighbours, defaults FROM dp.policies"
	functions = "SELECT name, signature, result, description FROM dp.functions"
	// a domain may be long: its beginning tells what its values look like
	domains = "SELECT column_name, domain_type, size, LEFT(domain, 2000) AS domain FROM dp.domains"
)

func (s *session) describe(ctx context.Context, c *call, in Described) (d Description, err error) {
	if in.Table == "" {
		return c.overview(ctx)
	}
	name := " WHERE table_name = " + sqltext.Text(in.Table)
	if d.Tables, err = c.records(ctx, policies+name); err != nil {
		return d, err
	}
	if d.Columns, err = c.records(ctx, "DESCRIBE "+quoted(in.Table)); err != nil {
		return d, err
	}
	d.Keys, err = c.records(ctx, domains+name)
	return d, err
}

// overview is what there is without a table.
func (c *call) overview(ctx context.Context) (d Description, err error) {
	if d.Tables, err = c.records(ctx, policies); err != nil {
		return d, err
	}
	if d.Functions, err = c.records(ctx, functions); err != nil {
		return d, err
	}
	d.Budgets, err = c.records(ctx, budgets)
	return d, err
}

// quoted quotes a name that may have its schema before it.
func quoted(name string) string {
	parts := strings.Split(strings.ReplaceAll(name, "`", ""), ".")
	for i := range parts {
		parts[i] = sqltext.Name(parts[i])
	}
	return strings.Join(parts, ".")
}

var (
	errSingle = errors.New("want exactly one statement, without anything after its semicolon; send statements one after another")
	errWrites = errors.New("this tool only reads: send a SELECT, WITH, SHOW, DESCRIBE or EXPLAIN (not EXPLAIN ANALYZE, not INTO); " +
		"changes are for a DBA, with scrim sql")
)

// single is the one statement of a text.
func single(text string) (string, error) {
	query, ok := client.Single(text)
	if !ok {
		return "", errSingle
	}
	return query, nil
}

// nextSteps say what to do about MySQL's errors that have no remedy of their own.
var nextSteps = map[uint16]string{
	1045: "The operator has to give this process the account's name and password.",
	1046: "Write schema.table; describe lists the tables.",
	1049: "describe lists the tables with their schemas.",
	1054: "describe with the table lists its columns.",
	1064: "Write MySQL's dialect.",
	1146: "describe lists the tables.",
	1142: "A DBA can grant SELECT on it to this account.",
	1305: "describe lists the DP functions.",
	3024: "Ask for less: fewer tables, groups or aggregates.",
}

// told is an error as the caller reads it: what is wrong, and what to do.
func told(err error) error {
	if err == nil || errors.Is(err, errSingle) || errors.Is(err, errWrites) {
		return err
	}
	if e := (*mysql.MySQLError)(nil); errors.As(err, &e) {
		if step, ok := nextSteps[e.Number]; ok {
			return fmt.Errorf("%w. %s", err, step)
		}
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the time of this call is over: %w. What was charged stands; the same statement later gets the stored answer, if there is one, for nothing", err)
	}
	if e := net.Error(nil); errors.As(err, &e) {
		return fmt.Errorf("the database cannot be reached: %w. Try again later, or have the operator look whether it runs", err)
	}
	return err
}

// charged adds to an error what was charged all the same.
func charged(err error, costs []Cost) error {
	if c, ok := lists.Find(costs, func(c Cost) bool { return c.Entry == "charge" }); ok {
		return fmt.Errorf("%w (It was charged: entry %d of the ledger.)", err, c.LedgerID)
	}
	return err
}
