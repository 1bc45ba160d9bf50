package rel

import (
	"errors"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/canon"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// ErrStay says that a relation of public rows is left to go-mysql-server: it is as nobody asked for
// it here, or the store might answer otherwise.
var ErrStay = errors.New("planner: not pushed down")

// Tables is what a writer knows of the tables that a statement reads.
type Tables struct {
	Catalog catalog.Reader
	// Find finds a stored table by schema.table. It may be nil where no protected table is read.
	Find func(name string) (stored.Table, bool)
	// LastColumn is the largest id of a column that the binder has given out.
	LastColumn sql.ColumnId
	// AsWritten says that public tables alone are read: operands and conditions keep their order.
	AsWritten bool
	// StoreMemory bounds what the store keeps in memory, in bytes; 0: no bound is known.
	StoreMemory int64
}

// Writer writes relations as SQL for the store, one scan after another.
type Writer struct {
	Tables
	ctx     *sql.Context
	nextCol sql.ColumnId
	defined map[store.TableRef]plan.Definition
	persons map[store.TableRef]string

	// Subquery translates a subquery in an expression of a statement on public tables; outer
	// resolves the columns of the rows around it. nil: such an expression is refused.
	Subquery func(e sql.Expression, outer lower.Columns) (lower.Expr, error)
	// Rows reads the rows of a subquery in an expression on protected rows: rows of persons, or
	// public ones. nil: such an expression is refused.
	Rows func(n sql.Node) (*Relation, error)
	// Answer releases an aggregate without keys, whose answer is a value of the rows being read.
	// nil: such a value is refused.
	Answer func(g *gmsplan.GroupBy) (*plan.DPAggregate, error)
	// AnswerEach releases an aggregate for each of the values that columns of the rows around it
	// have. nil: such a value is refused.
	AnswerEach func(around *Relation, g *gmsplan.GroupBy) (Answers, error)
	// Outer resolves the columns around the query being written, where it is a subquery.
	Outer lower.Columns

	binder  *lower.Binder  // of the scan being generated
	aliases int            // number of aliases given out in it
	counted map[string]int // columns of tables that it may read: see stored
}

// NewWriter returns a writer that has begun its first scan.
func NewWriter(ctx *sql.Context, t Tables) *Writer {
	w := &Writer{Tables: t, ctx: ctx, nextCol: t.LastColumn}
	w.Begin()
	return w
}

// Alias returns a fresh table alias of the scan being generated.
func (s *Writer) Alias() string {
	s.aliases++
	return "t" + strconv.Itoa(s.aliases)
}

// NewID returns a column id that the binder has not given out.
func (s *Writer) NewID() sql.ColumnId {
	s.nextCol++
	return s.nextCol
}

// Begin starts the generation of a scan: fresh values and aliases, so that the same subtree always
// gives the same text.
func (s *Writer) Begin() {
	s.binder, s.aliases, s.counted = &lower.Binder{Raise: s.AsWritten}, 0, nil
}

// A Mark is a place in a scan being generated: what has been bound and named up to there.
type Mark struct {
	binder  *lower.Binder
	aliases int
	counted map[string]int
}

// Mark returns the place in the scan being generated.
func (s *Writer) Mark() *Mark { return &Mark{s.binder.Clone(), s.aliases, maps.Clone(s.counted)} }

// Resume goes on from a mark, so that several scans have what was translated before it in common.
func (s *Writer) Resume(m *Mark) {
	s.binder, s.aliases, s.counted = m.binder.Clone(), m.aliases, maps.Clone(m.counted)
}

// Aside runs f, which generates other scans, and then goes on with the one being generated.
func (s *Writer) Aside(f func() error) error {
	binder, aliases, counted, subquery, outer := s.binder, s.aliases, s.counted, s.Subquery, s.Outer
	s.Subquery, s.Outer = nil, nil
	s.Begin()
	defer func() {
		s.binder, s.aliases, s.counted, s.Subquery, s.Outer = binder, aliases, counted, subquery, outer
	}()
	return f()
}

// Bind gives a value a place holder of the scan being generated.
func (s *Writer) Bind(v any) string { return s.binder.Bind(v) }

// Args are the values that were bound.
func (s *Writer) Args() []any { return s.binder.Args() }

// Definition is what the statement has planned a table with.
func (s *Writer) Definition(t store.TableRef) plan.Definition { return s.defined[t] }

// Persons tells which person a row of a table that was planned belongs to, as stored.Persons does.
func (s *Writer) Persons(t store.TableRef) string { return s.persons[t] }

// Lower translates an expression of a row.
func (s *Writer) Lower(e sql.Expression, cols lower.Columns) (lower.Expr, error) {
	return s.translate(lower.Lower, e, cols)
}

// predicate translates a condition on rows.
func (s *Writer) predicate(e sql.Expression, cols lower.Columns) (lower.Expr, error) {
	return s.translate(lower.LowerPredicate, e, cols)
}

func (s *Writer) translate(f func(*sql.Context, sql.Expression, *lower.Binder, lower.Columns) (lower.Expr, error), e sql.Expression, cols lower.Columns) (lower.Expr, error) {
	if outer := s.Outer; outer != nil {
		own := cols
		cols = func(gf *expression.GetField) (lower.Expr, bool) {
			if x, ok := own(gf); ok {
				return x, true
			}
			return outer(gf)
		}
	}
	var named []subquery
	if s.Subquery == nil && s.Answer != nil {
		var err error
		if e, cols, named, err = s.withoutSubqueries(e, cols, s.onlyAnswers); err != nil {
			return lower.Expr{}, err
		}
	} else if s.Subquery == nil {
		if err := s.NoSubquery(e); err != nil {
			return lower.Expr{}, err
		}
	} else {
		var err error
		if e, cols, named, err = s.withoutSubqueries(e, cols, s.Subquery); err != nil {
			return lower.Expr{}, err
		}
	}
	if s.AsWritten && lower.MayExceed(s.ctx, e) {
		return lower.Expr{}, ErrStay
	}
	if !s.AsWritten {
		e = canon.Expr(s.ctx, e, cols)
	}
	s.binder.Rows = len(named) > 0 || s.Outer != nil
	x, err := f(s.ctx, e, s.binder, cols)
	if err == nil && s.binder.Rows {
		if strings.Contains(x.SQL, "lambda ") {
			return x, ErrStay
		}
		x.SQL = withSubqueries(x.SQL, named)
	}
	return x, rule.By(rule.Expression, err)
}

// RunsOnBases refuses an expression over base columns that may not run on protected rows.
func (s *Writer) RunsOnBases(r *Relation, e sql.Expression) error {
	check := &Writer{ctx: s.ctx, binder: new(lower.Binder)}
	_, err := check.Lower(e, func(gf *expression.GetField) (lower.Expr, bool) {
		b := r.BaseByID(gf.Id())
		if b == nil {
			return lower.Expr{}, false
		}
		return b.Expr, true
	})
	return err
}

// NoSubquery refuses subquery expressions below an aggregate of protected rows.
func (s *Writer) NoSubquery(e sql.Expression) error {
	if tree.HasSubquery(s.ctx, e) {
		return rule.Deny(rule.Subquery, refuse.Shape, "Write it as a JOIN, or compute it in a statement of its own.",
			"A subquery in an expression on protected rows is not supported.")
	}
	return nil
}

// define records the definition that the statement has planned a table with.
func (s *Writer) define(t stored.Table, p catalog.Table) error {
	d := stored.Definition(s.ctx, t, p)
	if s.defined == nil {
		s.defined, s.persons = map[store.TableRef]plan.Definition{}, map[store.TableRef]string{}
	}
	if old, ok := s.defined[d.Ref]; ok && old != d {
		return plan.Changed(d.Ref)
	}
	s.defined[d.Ref], s.persons[d.Ref] = d, stored.Persons(t, p)
	return nil
}

// subquery is the translation of a subquery in an expression. The expression is translated with its
// name in its place.
type subquery struct{ name, text string }

// withoutSubqueries puts a column in the place of each subquery in an expression, and returns what
// resolves it to the name of the subquery's translation.
func (s *Writer) withoutSubqueries(e sql.Expression, cols lower.Columns, translate func(e sql.Expression, outer lower.Columns) (lower.Expr, error)) (sql.Expression, lower.Columns, []subquery, error) {
	if !tree.HasSubquery(s.ctx, e) {
		return e, cols, nil, nil
	}
	var list []subquery
	found := map[sql.ColumnId]lower.Expr{}
	var replace func(e sql.Expression) (sql.Expression, error)
	replace = func(e sql.Expression) (sql.Expression, error) {
		switch e.(type) {
		case *gmsplan.Subquery, *gmsplan.InSubquery, *gmsplan.ExistsSubquery:
			x, err := translate(e, cols)
			if err != nil {
				return nil, err
			}
			q := subquery{s.Alias() + ".v", x.SQL}
			list = append(list, q)
			id := s.NewID()
			found[id] = lower.Expr{SQL: q.name, Type: x.Type, Nullable: x.Nullable, Subquery: true}
			return tree.Column(id, 0, e.Type(s.ctx), "", "", "subquery"), nil
		}
		children := e.Children()
		if len(children) == 0 {
			return e, nil
		}
		out, err := lists.Try(children, func(c sql.Expression) (sql.Expression, error) { return replace(c) })
		if err != nil {
			return nil, err
		}
		return e.WithChildren(s.ctx, out...)
	}
	e, err := replace(e)
	return e, func(gf *expression.GetField) (lower.Expr, bool) {
		if x, ok := found[gf.Id()]; ok {
			return x, true
		}
		return cols(gf)
	}, list, err
}

// withSubqueries puts the texts of subqueries into the place of their names. Where guards repeat an
// operand, the subqueries become the columns of a row that the expression is computed from.
func withSubqueries(text string, list []subquery) string {
	once := true
	for _, q := range list {
		once = once && strings.Count(text, q.name) == 1
	}
	var from []string
	for _, q := range list {
		if once {
			text = strings.Replace(text, q.name, q.text, 1)
		}
		from = append(from, "(SELECT "+q.text+" AS v) AS "+strings.TrimSuffix(q.name, ".v"))
	}
	if once {
		return text
	}
	return "(SELECT " + text + " FROM " + strings.Join(from, ", ") + ")"
}

// What the store holds in memory however few rows a step of it has to do with at a time: it puts
// rows on disk, not columns. How wide a scan may be follows from the store's memory limit, a public
// fact; whether a wider one fails would follow from the number of rows. All was measured with
// 600,000 rows of random numbers of 200,000 persons, with the store to itself: a scan that fails
// beside others is done again like that.
const (
	// ColumnBytes is what is counted for a stored column of a table that is read: the store holds
	// its blocks of 256 KiB until a row group of 122,880 rows is done. Of DOUBLE, 176 columns are
	// read within 256 MiB and 640 within 1 GiB, but neither 192 nor 768.
	ColumnBytes = 2 << 20
	// StateBytes is what is counted for a column that the store adds up for each person, in 128
	// bits, and then may order by person and group: of persons with texts for names, 64 pass within
	// 256 MiB and 256 within 1 GiB, but 128 do not within 256 MiB.
	StateBytes = 4 << 20
	// OrderedBytes is what is counted for a number of an array that is ordered by person and group:
	// arrays of 256 numbers pass within 256 MiB and of 1024 within 1 GiB; of 1024 do not within 256
	// MiB, nor 4096 within 1 GiB.
	OrderedBytes = 1 << 20
)

// StoreHolds reports whether so many columns or numbers, each of which is counted as so many bytes,
// fit into the store's memory.
func (s *Writer) StoreHolds(n, bytes int) bool {
	return s.StoreMemory <= 0 || float64(n)*float64(bytes) <= float64(s.StoreMemory)
}

// MostOf is how many columns or numbers of so many bytes fit into the store's memory, where a limit
// is known.
func (s *Writer) MostOf(bytes int64) int64 { return s.StoreMemory / bytes }

// stored reads a column of a table in the scan that is generated, and remembers how many columns of
// eight bytes it is counted as.
func (s *Writer) stored(alias string, c store.Column) lower.Expr {
	e := lower.ReadColumn(alias+"."+sqltext.StoreName(c.Name), c.Type)
	n := 1
	if e.Type.Kind == lower.Decimal && e.Type.Precision > 18 || strings.Contains(c.Type, "HUGEINT") || c.Type == "UUID" {
		n = 2 // of sixteen bytes
	}
	if s.counted == nil {
		s.counted = map[string]int{}
	}
	s.counted[alias+"."+sqltext.StoreName(c.Name)] = n
	return e
}

// columnPattern finds what stored writes.
var columnPattern = regexp.MustCompile(`\b(t[0-9]+)\."(?:[^"]|"")*"`)

// CheckWidth refuses a scan that reads more columns of one table than the store holds. Tables are
// read one after another.
func (s *Writer) CheckWidth(sql string) error {
	all := 0
	for _, n := range s.counted {
		all += n
	}
	if s.StoreHolds(all, ColumnBytes) {
		return nil // however many of them the scan reads
	}
	seen, of := map[string]bool{}, map[string]int{}
	for _, m := range columnPattern.FindAllStringSubmatch(sql, -1) {
		if !seen[m[0]] {
			seen[m[0]] = true
			of[m[1]] += s.counted[m[0]]
		}
	}
	for _, n := range of {
		if !s.StoreHolds(n, ColumnBytes) {
			return rule.Deny(rule.Memory, refuse.Option, "Read fewer columns, keep the numbers in one column of type VECTOR, or have an operator raise --memory-limit.",
				"The query reads %d columns of one table, where numbers of more than 18 digits count twice; with its memory limit of %d MiB the store can read %d.",
				n, s.StoreMemory>>20, s.MostOf(ColumnBytes))
		}
	}
	return nil
}

// CheckSums refuses a scan in which the store would add up more columns for each person than it
// holds.
func (s *Writer) CheckSums(columns int) error {
	if s.StoreHolds(columns, StateBytes) {
		return nil
	}
	return rule.Deny(rule.Memory, refuse.Option, "Ask for fewer aggregates at a time, or have an operator raise --memory-limit.",
		"The store adds up %d columns for each person; with its memory limit of %d MiB it can add up %d.", columns, s.StoreMemory>>20, s.MostOf(StateBytes))
}
