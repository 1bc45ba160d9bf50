package everyday

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"scrim/bench/internal/served"
	"scrim/engine/estimator"
	"scrim/internal/params"
)

// Options say what is asked.
type Options struct {
	Data      string // directory of data files; "": only generated tables and those that ship
	Only      string // regular expression of the statements' names
	Runs      int
	Epsilons  []float64
	Relations []estimator.Relation
	Ways      bool // each GROUP BY also as one vector and group by group
	Sessions  int  // that ask side by side
	Progress  func(done, total int)
}

// Report is what the statements' answers were.
type Report struct {
	Options Options
	Cells   []*Cell
	Cut     bool // ended before all was asked
}

// job is a statement at one ε under one relation.
type job struct {
	statement Statement
	table     *Table
	relation  estimator.Relation
	epsilon   float64
	first     int // number of its first run among those of the statement at this ε
	cells     []*Cell
}

// asked are the statements as they are asked: as they are, and by the ways of a GROUP BY.
func (o Options) asked(st Statement) []Statement {
	out := []Statement{st}
	if o.Ways && st.ways() {
		for _, way := range []string{params.GroupByVector, params.GroupBySeparate} {
			st.Way = way
			out = append(out, st)
		}
	}
	return out
}

// Run starts a server, loads what the statements need, and asks them. When ctx ends it returns what
// is done, without an error.
func Run(ctx context.Context, o Options) (Report, error) {
	statements, err := selected(o.Only, o.Data)
	if err != nil {
		return Report{}, err
	}
	report := Report{Options: o}
	dir, err := os.MkdirTemp("", "scrim-everyday-")
	if err != nil {
		return report, err
	}
	defer os.RemoveAll(dir)
	srv, err := start(ctx, dir, o.Data, needed(statements), o.Relations)
	if err != nil {
		return report, err
	}
	jobs, err := (&running{Options: o, server: srv, ask: ask}).run(ctx, statements)
	for _, j := range jobs {
		report.Cells = append(report.Cells, j.cells...)
	}
	report.Cut = ctx.Err() != nil
	return report, errors.Join(err, srv.Stop())
}

// needed are the tables that statements read, those first that others name.
func needed(list []Statement) []*Table {
	all, names := Tables(), map[string]bool{}
	for _, s := range list {
		names[s.Table] = true
		for _, n := range all[s.Table].Needs {
			names[n] = true
		}
	}
	var out []*Table
	for _, n := range slices.Sorted(maps.Keys(names)) {
		out = append(out, all[n])
	}
	return out
}

// running is a run of jobs.
type running struct {
	Options
	server *served.Server
	ask    asker

	mu          sync.Mutex
	done, total int
}

// asker asks a statement once.
type asker func(ctx context.Context, s served.Session, st Statement, epsilon float64) (reply, error)

func (r *running) run(ctx context.Context, statements []Statement) ([]*job, error) {
	tables := Tables()
	var jobs []*job
	var g errgroup.Group
	g.SetLimit(max(1, r.Sessions))
	for _, st := range statements {
		r.total += len(r.asked(st)) * len(r.Relations) * len(r.Epsilons) * r.Runs
	}
	for _, st := range statements {
		var own []*job
		for _, rel := range r.Relations {
			for _, e := range r.Epsilons {
				for i, way := range r.asked(st) {
					own = append(own, &job{statement: way, table: tables[st.Table], relation: rel, epsilon: e, first: i * r.Runs})
				}
			}
		}
		jobs = append(jobs, own...)
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			if err := r.statement(ctx, own); err != nil && ctx.Err() == nil {
				return err
			}
			return nil
		})
	}
	return jobs, g.Wait()
}

// statement learns what is true, and runs a statement's jobs.
func (r *running) statement(ctx context.Context, jobs []*job) error {
	st, unit := jobs[0].statement, jobs[0].table.Unit
	s, err := r.server.Connect(ctx, database(jobs[0].relation))
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.ExecContext(ctx, "SET dp_raw = ON"); err != nil {
		return err
	}
	t, err := learn(ctx, s, st, unit)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if err := r.job(ctx, j, t); err != nil {
			return err
		}
	}
	return nil
}

func (r *running) job(ctx context.Context, j *job, t *truth) error {
	s, err := r.server.Connect(ctx, database(j.relation))
	if err != nil {
		return err
	}
	defer s.Close()
	rho, err := loss(ctx, s, j.statement, j.epsilon)
	if err != nil {
		j.fail(err)
		r.progress(r.Runs)
		return ctx.Err()
	}
	list := j.scores(t, rho)
	for i := range r.Runs {
		// Each run is a question of its own, also where the server would choose the way that
		// another job asks for: a stored answer is never asked for.
		reply, err := r.ask(ctx, s, j.statement, j.epsilon*(1+1e-6*float64(j.first+i)))
		if err != nil {
			j.fail(err)
			r.progress(r.Runs - i)
			return ctx.Err()
		}
		for a := range list {
			list[a].judge(t, reply)
		}
		r.progress(1)
	}
	for a := range list {
		list[a].finish()
	}
	return nil
}

func (r *running) progress(n int) {
	if r.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += n
	r.Progress(r.done, r.total)
}

// fail notes why a job has no answers.
func (j *job) fail(err error) {
	if j.cells == nil {
		for _, a := range j.statement.Aggregates {
			j.cells = append(j.cells, &Cell{Statement: j.statement.Name, Way: j.statement.Way, Aggregate: a.String(), Epsilon: j.epsilon, Relation: j.relation})
		}
	}
	for _, c := range j.cells {
		c.Problem = err.Error()
	}
}

// scores makes the job's cells.
func (j *job) scores(t *truth, rho float64) []*scores {
	var out []*scores
	crowd := max(1, float64(t.groups)/float64(max(1, t.persons))) // groups of a person
	for i, a := range j.statement.Aggregates {
		m := float64(t.persons) * math.Sqrt(2*rho)
		c := &Cell{Statement: j.statement.Name, Way: j.statement.Way, Aggregate: a.String(), Epsilon: j.epsilon, Relation: j.relation,
			Rho: rho, Persons: t.persons, Groups: len(t.keys), M: m, Far: j.table.Far != nil && j.table.Far(m)}
		s := &scores{cell: c, statement: j.statement, aggregate: i, ms: make([]float64, len(t.keys))}
		for g, n := range t.members {
			s.ms[g] = float64(n) * math.Sqrt(2*rho/crowd)
		}
		if a.additive() {
			s.best, c.Clipped = t.hindsight(j.statement, i, rho, j.relation)
		}
		out = append(out, s)
		j.cells = append(j.cells, c)
	}
	return out
}

// ask sends a statement and reads its warnings.
func ask(ctx context.Context, s served.Session, st Statement, epsilon float64) (reply, error) {
	rows, err := s.Query(ctx, st.asked(epsilon))
	if err != nil {
		return reply{}, err
	}
	warnings, err := s.Query(ctx, "SHOW WARNINGS")
	if err != nil {
		return reply{}, err
	}
	r := reply{rows: rows}
	for _, w := range warnings {
		if len(w) > 2 && w[2] != nil {
			r.warnings = append(r.warnings, *w[2])
		}
	}
	return r, nil
}

// cost finds the loss in EXPLAIN's line of the table.
var cost = regexp.MustCompile(`cost [^ ]*\.[^ ]* +rho=([0-9.e+-]+)`)

// loss returns the ρ of each aggregate of a statement: an even share of the statement's, of which
// the selection of keys has one too, and for ROLLUP of each level.
func loss(ctx context.Context, s served.Session, st Statement, epsilon float64) (float64, error) {
	rows, err := s.Query(ctx, "EXPLAIN "+st.asked(epsilon))
	if err != nil {
		return 0, err
	}
	rho, selects := 0.0, false
	for _, row := range rows {
		if row[0] == nil {
			continue
		}
		if m := cost.FindStringSubmatch(*row[0]); m != nil {
			if rho, err = strconv.ParseFloat(m[1], 64); err != nil {
				return 0, err
			}
		}
		selects = selects || selecting.MatchString(*row[0])
	}
	if !(rho > 0) {
		return 0, fmt.Errorf("everyday: EXPLAIN of %s tells no loss", st.Name)
	}
	shares := len(st.Aggregates)
	if selects {
		shares++
	}
	if st.Rollup {
		shares *= 1 + len(st.Keys)
	}
	return rho / float64(shares), nil
}

// selecting finds the selection of keys in EXPLAIN.
var selecting = regexp.MustCompile(`select keys`)
