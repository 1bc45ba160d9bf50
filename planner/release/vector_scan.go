package release

import (
	"strconv"
	"strings"

	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// vectorColumns writes what one row gives of an argument of vectors, and the conditions under which
// the row is present. Each is a function of the row alone.
//
//	Arrays        the array; the executor finds absent ones
//	Coordinates   the grid index of each coordinate; where a person may have several rows, its number as DOUBLE
//	Pairs         the item
func (s *Builder) vectorColumns(r *rel.Relation, a *aggregate.Aggregate) (columns, present []string, err error) {
	v := a.Vector
	switch v.Form {
	case plan.Coordinates:
		for j, c := range v.Coordinates {
			x, err := s.Lower(c, r.Resolve)
			if err != nil {
				return nil, nil, err
			}
			if !r.Unique && !a.Synthetic {
				columns = append(columns, x.AsDouble())
				continue
			}
			if x.Nullable {
				present = append(present, x.SQL+" IS NOT NULL")
			}
			if v.Grids != nil {
				columns = append(columns, v.Grids[j].Index(x))
				continue
			}
			columns = append(columns, a.Grid.Index(lower.Convert(x, lower.Type{Kind: lower.Double})))
		}
		return columns, present, nil
	case plan.Pairs:
		x, err := s.Lower(v.Item, r.Resolve)
		if err != nil {
			return nil, nil, err
		}
		item := "CAST(" + x.SQL + " AS BIGINT)"
		if x.Type.Kind == lower.UInt {
			item = "TRY_" + item
		}
		return []string{item}, []string{item + " BETWEEN 0 AND " + strconv.Itoa(v.Dim-1)}, nil
	}
	x, err := s.Lower(a.Arg, r.Resolve)
	if err != nil {
		return nil, nil, err
	}
	// aggregateOf has seen that it can be read as a vector.
	x, _ = lower.Vector(x, v.Dim)
	return []string{x.SQL}, nil, nil
}

// sameVectors returns an aggregate among the earlier ones that reads the same vectors: one scan
// serves both, and the executor makes one block of it.
func (s *Builder) sameVectors(earlier []*aggregate.Aggregate, a *aggregate.Aggregate) *aggregate.Aggregate {
	for _, b := range earlier {
		if a.Vector != nil && b.Vector != nil && *a.Description() == *b.Description() && tree.Same(s.ctx, a.Arg, b.Arg) {
			return b
		}
	}
	return nil
}

// vectorScan generates the scan of the aggregates of the same vectors over what materialise wrote,
// the columns g (the group), u, x0, x1, … A person's rows are kept in at most maxGroups groups, as
// in scanOf.
//
//	Arrays, one row a person   SELECT g, x0
//	Arrays                     SELECT g, u, x0 … QUALIFY dense_rank() OVER (PARTITION BY u ORDER BY hash(…)) <= n
//	Coordinates                SELECT g, count(*), sum(x0), sum(x1), … GROUP BY g, u
//	Coordinates as Arrays      SELECT g, u, [x0, x1, …] …, as of Arrays
//	Pairs                      SELECT g, u, x0, as often as there are rows
func (s *Builder) vectorScan(d *Aggregation, at int, in *flat) (plan.Scan, error) {
	a := d.Aggregates[d.specs[at].argument]
	v := *a.Vector
	out := plan.Scan{Types: append([]store.ScanType(nil), in.groupTypes...)}
	n, t := 1, store.ScanVector
	switch {
	case a.Synthetic:
		n, t = 1+v.Dim, store.ScanInt64
		out.SQL = s.syntheticScan(d, in)
	case v.Form == plan.Coordinates && s.addsUp(d, in):
		v.Form = plan.Arrays
		out.Rows, out.SQL = true, s.arrayScan(d, in)
	case v.Form == plan.Coordinates:
		if !d.Relation.Unique && !s.StoreHolds(v.Dim, rel.StateBytes) {
			return out, s.tooWideToAdd(d, a)
		}
		n, t = 1+v.Dim, store.ScanInt64
		out.SQL = s.coordinateScan(d, in, a)
	default:
		if v.Form == plan.Pairs {
			t = store.ScanInt64
		} else if d.Bounded && !s.StoreHolds(v.Dim, rel.OrderedBytes) {
			return out, s.tooWideToBound(d, a)
		}
		out.Rows = v.Form == plan.Pairs || !d.Relation.Unique
		out.SQL = s.rowScan(d, in, out.Rows)
	}
	if out.Rows {
		out.Types = append(out.Types, in.unitType)
	}
	var columns []int
	for range n {
		columns = append(columns, len(out.Types))
		out.Types = append(out.Types, t)
	}
	for _, a := range d.Aggregates {
		if a.Scan == at {
			a.Columns, a.Vector.Form = columns, v.Form
		}
	}
	out.Args = s.Args()
	return out, nil
}

// rowsSize is about what a scan takes that makes an array of each row's coordinates: the store
// makes a list first.
func rowsSize(coordinates int) float64 {
	return float64(coordinates) * 2 * plan.ChunkVectors * plan.ChunkRows * 8
}

// addsUp reports whether the executor adds up the rows of a DP_VECTOR, where persons have several,
// instead of the store.
//
// It does where the unit is an integer, which costs little to hand over with each row, and all
// groups are kept: the store's exact sums take longer than handing the rows over, as it does not
// know the range of the indexes, and adds them up in 128 bits. And it does what the store has no
// memory for.
func (s *Builder) addsUp(d *Aggregation, in *flat) bool {
	n := len(in.vector)
	if d.Relation.Unique || !within(rowsSize(n), s.Memory) {
		return false
	}
	if s.StoreHolds(n, rel.StateBytes) {
		return in.unitType == store.ScanInt64 && !d.Bounded
	}
	return !d.Bounded || s.StoreHolds(n, rel.OrderedBytes)
}

// tooWideToAdd says why neither the store adds up the coordinates of a DP_VECTOR, nor the executor.
func (s *Builder) tooWideToAdd(d *Aggregation, a *aggregate.Aggregate) error {
	if n := a.Vector.Dim; !within(rowsSize(n), s.Memory) {
		return tooLarge("Reading the rows of %s takes %.0f MiB, as they have %d coordinates; a query may take %d MiB.", a.Text, plan.MiB(rowsSize(n)), n, s.Memory>>20)
	}
	return s.tooWideToBound(d, a)
}

// arrayScan is the scan of a DP_VECTOR whose rows the executor adds up. A row with a NULL in its
// array is absent, as is one with a NaN or an infinity.
func (s *Builder) arrayScan(d *Aggregation, in *flat) string {
	array := "CAST(list_value(" + sqltext.List(in.vector) + ") AS DOUBLE[" + strconv.Itoa(len(in.vector)) + "]) AS x0"
	return s.keptRows(d, in, "SELECT "+sqltext.List(append(append([]string(nil), in.groupColumns...), in.unit+" AS unit", array))+" FROM ("+in.sql+") AS r")
}

// rowScan is the scan of arrays or pairs, with the unit where a person may have several rows. The
// executor drops pairs that come again as they arrive, much faster than the store would with
// DISTINCT.
func (s *Builder) rowScan(d *Aggregation, in *flat, unit bool) string {
	items := append([]string(nil), in.groupColumns...)
	if unit {
		items = append(items, in.unit+" AS unit")
	}
	return s.keptRows(d, in, "SELECT "+sqltext.List(append(items, "x0"))+" FROM ("+in.sql+") AS r")
}

// keptRows keeps a person's rows in at most maxGroups groups, where that has to be seen to.
func (s *Builder) keptRows(d *Aggregation, in *flat, sql string) string {
	if d.Bounded {
		sql += " QUALIFY dense_rank() OVER (PARTITION BY u ORDER BY " + s.choice("u", in.groupColumns) + ") <= " + strconv.Itoa(d.MaxGroups)
	}
	return sql
}

// coordinateScan is the scan of a DP_VECTOR: the number of a person's rows, and the sum of each
// coordinate. A sum of 2^40 indexes of 51 bits has 91: it is clamped in the store's wide integers,
// after summing.
func (s *Builder) coordinateScan(d *Aggregation, in *flat, a *aggregate.Aggregate) string {
	g := in.groupColumns
	if d.Relation.Unique {
		return "SELECT " + sqltext.List(append(append(append([]string(nil), g...), "CAST(1 AS BIGINT) AS n"), in.vector...)) + " FROM (" + in.sql + ") AS r"
	}
	by := append([]string{"u"}, g...)
	rows := "(" + indexed(in, by, a.Grid) + ") AS r"
	sums, names := append([]string(nil), "count(*) AS n"), []string{"n"}
	for j, x := range in.vector {
		name := "a" + strconv.Itoa(j)
		sums = append(sums, clamped("sum("+x+")")+" AS "+name)
		names = append(names, name)
	}
	if !d.Bounded {
		return "SELECT " + sqltext.List(append(append([]string(nil), g...), sums...)) + " FROM " + rows + " GROUP BY " + sqltext.List(by)
	}
	return "SELECT " + sqltext.List(append(append([]string(nil), g...), names...)) + " FROM (SELECT " + sqltext.List(append(append([]string(nil), by...), sums...)) + " FROM " + rows +
		" GROUP BY " + sqltext.List(by) + ") AS p QUALIFY row_number() OVER (PARTITION BY u ORDER BY " + s.choice("u", g) + ") <= " + strconv.Itoa(d.MaxGroups)
}

// indexed reads the rows of a DP_VECTOR that are present, with the grid index of each coordinate.
func indexed(in *flat, by []string, onto grid.Grid) string {
	items, present := append([]string(nil), by...), []string(nil)
	for _, name := range in.vector {
		x := lower.ReadColumn("q."+name, "DOUBLE")
		items = append(items, onto.Index(x)+" AS "+name)
		present = append(present, "isfinite(q."+name+")")
	}
	return "SELECT " + sqltext.List(items) + " FROM (" + in.sql + ") AS q WHERE " + strings.Join(present, " AND ")
}

// unitColumn writes the unit u as an integer or a text by which the executor tells persons apart:
// equal units give equal columns, and others others. The two zeros of a DOUBLE are one unit; a
// BIGINT UNSIGNED is named by its bits, from 2^63 on by itself less 2^64.
func unitColumn(t lower.Type) (string, store.ScanType) {
	switch t.Kind {
	case lower.Int, lower.Bool:
		return "CAST(u AS BIGINT)", store.ScanInt64
	case lower.UInt:
		return "CASE WHEN u < 9223372036854775808 THEN TRY_CAST(u AS BIGINT) ELSE TRY_CAST(CAST(u AS HUGEINT) - 18446744073709551616 AS BIGINT) END", store.ScanInt64
	case lower.Double:
		return "CAST(u + CAST(0 AS DOUBLE) AS VARCHAR)", store.ScanText
	}
	return "CAST(u AS VARCHAR)", store.ScanText
}
