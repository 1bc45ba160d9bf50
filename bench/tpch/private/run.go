package private

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"scrim/bench/internal/served"
	"scrim/test/testenv/tpch"
)

// Options say what is asked.
type Options struct {
	Setup    Setup
	Scale    float64
	Seed     uint64
	Runs     int // of each query
	Epsilon  float64
	Keep     string          // the directory that keeps the loaded tables for the next time; "": none
	Only     map[string]bool // names of queries; nil: all
	Progress func(done, total int)
}

// Report has a row for each query, and one for each that is asked in the place of another.
type Report struct {
	Options Options
	Rows    []*Row
}

// Run loads the tables, and asks.
func Run(ctx context.Context, o Options) (Report, error) {
	report := Report{Options: o}
	return report, within(ctx, o, func(tables, dir string) error {
		s, err := start(ctx, tables, filepath.Join(dir, o.Setup.Name), o)
		if err != nil {
			return err
		}
		return errors.Join(report.ask(ctx, s), s.Stop())
	})
}

// sessions are an analyst's connection and an administrator's that may see rows.
type sessions struct {
	private, raw served.Session
	turn         int
}

func (r *Report) ask(ctx context.Context, srv *served.Server) error {
	var s sessions
	var err error
	if s.private, err = srv.Connect(ctx, "tpch"); err != nil {
		return err
	}
	defer s.private.Close()
	if s.raw, err = srv.Connect(ctx, "tpch"); err != nil {
		return err
	}
	defer s.raw.Close()
	if _, err := s.raw.ExecContext(ctx, "SET dp_raw = ON"); err != nil {
		return err
	}
	list := r.Options.questions()
	for i, q := range list {
		row, err := s.row(ctx, r.Options, q)
		if err != nil {
			return fmt.Errorf("private: %s: %w", q.Name, err)
		}
		r.Rows = append(r.Rows, row)
		if r.Options.Progress != nil {
			r.Options.Progress(i+1, len(list))
		}
	}
	return nil
}

// questions are the queries, each followed by what is asked in its place.
func (o Options) questions() []tpch.Query {
	var out []tpch.Query
	for _, q := range tpch.Queries() {
		if o.Only != nil && !o.Only[q.Name] {
			continue
		}
		out = append(out, q)
		instead := tpch.Query{Name: q.Name + " instead", Text: q.Instead, Values: q.InsteadValues}
		if o.Setup.Name == Both.Name {
			instead.Text, instead.Values = q.InsteadBoth, q.InsteadBothValues
		}
		if instead.Text != "" {
			out = append(out, instead)
		}
	}
	return out
}

// row asks a query in all its forms, by turns.
func (s *sessions) row(ctx context.Context, o Options, q tpch.Query) (*Row, error) {
	row := &Row{Query: q}
	names, exact, err := s.raw.Table(ctx, q.Text)
	if err != nil {
		return nil, err
	}
	row.learn(names, exact)
	plan, err := s.private.Query(ctx, "EXPLAIN "+q.Text)
	if err != nil {
		row.refuse(err)
		return row, ctx.Err()
	}
	row.Exact = !strings.Contains(printed(plan), "private statement")
	ends := q.Text
	if !row.Exact {
		ends = s.withEnds(ctx, q)
	}
	for range o.Runs {
		if err := s.exact(ctx, row); err != nil {
			return nil, err
		}
		if _, err := s.private.ExecContext(ctx, fmt.Sprintf("SET dp_epsilon = %.9f", o.Epsilon*(1+1e-6*float64(s.turn)))); err != nil {
			return nil, err
		}
		var names []string
		var rows [][]*string
		if err := row.Private.take(func() (err error) {
			names, rows, err = s.private.Table(ctx, ends)
			return err
		}); err != nil {
			row.refuse(err)
			return row, ctx.Err()
		}
		row.judge(names, rows)
	}
	return row, nil
}

// exact asks for the exact answers and takes the time.
func (s *sessions) exact(ctx context.Context, row *Row) error {
	for _, form := range []struct {
		text string
		into *times
	}{{row.Query.Text, &row.Plain}, {row.Query.Persons, &row.Persons}} {
		if form.text == "" {
			continue
		}
		s.turn++
		if _, err := s.raw.ExecContext(ctx, fmt.Sprintf("INSERT INTO turns VALUES (%d)", s.turn)); err != nil {
			return err
		}
		if err := form.into.take(func() error {
			_, err := s.raw.Query(ctx, form.text)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// withEnds is the query with the ends of its values' intervals, or without those that it cannot be
// asked with: a quotient of two answers has none.
func (s *sessions) withEnds(ctx context.Context, q tpch.Query) string {
	list, from, found := strings.Cut(q.Text, "\nFROM")
	if !found || strings.HasPrefix(q.Text, "WITH") {
		return q.Text
	}
	for _, v := range q.Values {
		list += fmt.Sprintf(", DP_LOW(%[1]s) AS %[1]s%[2]s, DP_HIGH(%[1]s) AS %[1]s%[3]s", v, lowEnd, highEnd)
	}
	text := list + "\nFROM" + from
	if _, err := s.private.Query(ctx, "EXPLAIN "+text); err != nil {
		return q.Text
	}
	return text
}

// lowEnd and highEnd follow the name of a value in those of the ends of its interval.
const lowEnd, highEnd = "_low_end", "_high_end"

// printed is a plan as one text.
func printed(rows [][]*string) string {
	var b strings.Builder
	for _, row := range rows {
		for _, c := range row {
			if c != nil {
				b.WriteString(*c)
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}
