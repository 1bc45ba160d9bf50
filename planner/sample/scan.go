package sample

import (
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// values translates what is selected: as many numbers as are wanted, or one array.
func (s *sampler) values(out *Node, r *rel.Relation, list []sql.Expression) ([]string, error) {
	if len(list) == 1 && out.Width > 1 {
		x, err := s.Lower(tree.Unalias(list[0]), r.Resolve)
		if err != nil {
			return nil, err
		}
		x, ok := lower.Vector(x, out.Width)
		if !ok {
			return nil, Unsuitable("%s is no vector of %d numbers.", list[0], out.Width)
		}
		out.Array = true
		return []string{x.SQL}, nil
	}
	if len(list) != out.Width {
		return nil, Unsuitable("The source has %d columns, and a value of the collection %d.", len(list), out.Width)
	}
	columns := make([]string, len(list))
	for i, e := range list {
		x, err := s.Lower(tree.Unalias(e), r.Resolve)
		if err != nil {
			return nil, err
		}
		switch x.Type.Kind {
		case lower.Bool, lower.Int, lower.UInt, lower.Decimal, lower.Double:
		default:
			return nil, Unsuitable("%s is not a number.", e)
		}
		columns[i] = x.AsDouble()
	}
	return columns, nil
}

// sampleScan writes the scan.
func (s *sampler) sampleScan(out *Node, r *rel.Relation, columns []string) {
	u := r.UnitExpr().SQL
	items, names := []string{u + " AS u"}, make([]string, len(columns))
	for i, c := range columns {
		names[i] = "x" + strconv.Itoa(i)
		items = append(items, c+" AS "+names[i])
		out.Scan.Types = append(out.Scan.Types, store.ScanFloat64)
	}
	if out.Array {
		out.Scan.Types = []store.ScanType{store.ScanVector}
	}
	from := "SELECT " + sqltext.List(items) + s.Clause(r.With(u+" IS NOT NULL"))
	if !r.Unique {
		from = s.onePerPerson(from, names)
	}
	out.Scan.SQL = "SELECT " + sqltext.List(names) + " FROM (" + from + ") AS p"
	out.Scan.Args = s.Args()
	out.Scan = rel.Renumbered(out.Scan)
}

// samplable refuses what the store has no memory for: see storeHolds.
func (s *sampler) samplable(out *Node, r *rel.Relation) error {
	if !r.Unique && !s.StoreHolds(out.Width, rel.OrderedBytes) {
		return rule.Deny(rule.Memory, refuse.Option, "Have an operator raise --memory-limit.",
			"To keep one row of each person, the store orders values of %d numbers; with its memory limit of %d MiB it can order %d.",
			out.Width, s.StoreMemory>>20, s.MostOf(rel.OrderedBytes))
	}
	return s.CheckWidth(out.Scan.SQL)
}

// onePerPerson keeps one row of each person, by a keyed hash of what is selected of it; equal rows
// are numbered, so that each of them counts. Which one is kept depends on the person's rows and the
// secret alone, not on who the person is. Whether there are such rows is not looked at otherwise.
func (s *sampler) onePerPerson(from string, names []string) string {
	values := sqltext.List(names)
	rows := "SELECT u, " + values + ", row_number() OVER (PARTITION BY u, " + values + ") AS j FROM (" + from + ") AS r"
	secret := s.Bind(plan.SecretArg{Index: 0})
	return "SELECT u, " + values + " FROM (" + rows + ") AS j QUALIFY row_number() OVER (PARTITION BY u ORDER BY hash(" + values + ", j, CAST(" + secret + " AS BIGINT)), " + values + ") = 1"
}

// charged lists the accounts that a charge goes to: those of the table, of what it is linked to,
// and of the entity.
func (s *sampler) charged(out *Node, r *rel.Relation) error {
	seen := map[string]bool{}
	for _, t := range r.Private {
		if seen[t.Policy.Account] {
			continue
		}
		seen[t.Policy.Account] = true
		total, err := s.params.TotalFor(t.Policy)
		if err != nil {
			return err
		}
		out.Tables = append(out.Tables, plan.Charge{Account: t.Policy.Account, Table: t.Name})
		out.caps, out.limits = append(out.caps, total), append(out.limits, t.Policy.Defaults.MaxEpsilon)
	}
	out.Entities = []string{r.Entity}
	read := map[store.TableRef]bool{}
	for _, t := range r.Reads {
		if !read[t] {
			read[t] = true
			out.Reads, out.Defined = append(out.Reads, t), append(out.Defined, s.Definition(t))
		}
	}
	return nil
}
