package planner

import (
	"scrim/engine/store"
	"scrim/planner/lower"
)

// vectorColumns writes what one row gives of an argument of vectors, and the conditions under which the row is
// present. Each is a function of the row alone.
//
//	Arrays        the array; the executor finds absent ones
//	Coordinates   the grid index of each coordinate
//	Pairs         the item
func (s *statement) vectorColumns(r *relation, a *aggregate) (columns, present []string, err error) {
	v := a.vector
	switch v.form {
	case Coordinates:
		for j, c := range v.coordinates {
			x, err := s.lower(c, r.resolve)
			if err != nil {
				return nil, nil, err
			}
			if x.Nullable {
				present = append(present, x.SQL+" IS NOT NULL")
			}
			if v.grids != nil {
				columns = append(columns, v.grids[j].index(x))
				continue
			}
			columns = append(columns, a.grid.index(lower.Convert(x, lower.Type{Kind: lower.Double})))
		}
		return columns, present, nil
	case Pairs:
		x, err := s.lower(v.item, r.resolve)
		if err != nil {
			return nil, nil, err
		}
		item := "CAST(" + x.SQL + " AS BIGINT)"
		if x.Type.Kind == lower.UInt {
			item = "TRY_" + item
		}
		return []string{item}, []string{item + " BETWEEN 0 AND " + itoa(v.dim-1)}, nil
	}
	x, err := s.lower(a.arg, r.resolve)
	if err != nil {
		return nil, nil, err
	}
	// aggregateOf has seen that it can be read as a vector.
	x, _ = lower.Vector(x, v.dim)
	return []string{x.SQL}, nil, nil
}

// sameVectors returns an aggregate among the earlier ones that reads the same vectors: one scan serves both, and
// the executor makes one block of it.
func (s *statement) sameVectors(earlier []*aggregate, a *aggregate) *aggregate {
	for _, b := range earlier {
		if a.vector != nil && b.vector != nil && *a.description() == *b.description() && sameExpr(s.ctx, a.arg, b.arg) {
			return b
		}
	}
	return nil
}

// vectorScan generates the scan of the aggregates of the same vectors over what materialise wrote, the columns g (the group), u,
// x0, x1, … A person's rows are kept in at most maxGroups groups, as in scanOf.
//
//	Arrays, one row a person   SELECT g, x0
//	Arrays                     SELECT g, u, x0 … QUALIFY dense_rank() OVER (PARTITION BY u ORDER BY hash(…)) <= n
//	Coordinates                SELECT g, count(*), sum(x0), sum(x1), … GROUP BY g, u
//	Pairs                      SELECT g, u, x0, as often as there are rows
func (s *statement) vectorScan(d *draft, at int, rel *flat) Scan {
	v := d.aggregates[d.specs[at].argument].vector
	out := Scan{Types: append([]store.ScanType(nil), rel.groupTypes...)}
	n, t := 1, store.ScanVector
	switch v.form {
	case Coordinates:
		n, t = 1+v.dim, store.ScanInt64
	case Pairs:
		t = store.ScanInt64
	}
	if v.form == Coordinates {
		out.SQL = s.coordinateScan(d, rel)
	} else {
		out.Rows = v.form == Pairs || !d.relation.unique
		out.SQL = s.rowScan(d, rel, out.Rows)
	}
	if out.Rows {
		out.Types = append(out.Types, rel.unitType)
	}
	var columns []int
	for range n {
		columns = append(columns, len(out.Types))
		out.Types = append(out.Types, t)
	}
	for _, a := range d.aggregates {
		if a.scan == at {
			a.columns = columns
		}
	}
	out.Args = s.binder.Args()
	return out
}

// rowScan is the scan of arrays or pairs, with the unit where a person may have several rows. The executor drops pairs
// that come again as they arrive, much faster than the store would with DISTINCT.
func (s *statement) rowScan(d *draft, rel *flat, unit bool) string {
	g, items := rel.groupColumns, append([]string(nil), rel.groupColumns...)
	if unit {
		items = append(items, rel.unit+" AS unit")
	}
	sql := "SELECT " + comma(append(items, "x0")) + " FROM (" + rel.sql + ") AS r"
	if d.bounded {
		sql += " QUALIFY dense_rank() OVER (PARTITION BY u ORDER BY " + s.choice("u", g) + ") <= " + itoa(d.maxGroups)
	}
	return sql
}

// coordinateScan is the scan of a DP_VECTOR: the number of a person's rows, and the sum of each coordinate. A sum of
// 2^40 indexes of 51 bits has 91: it is clamped in the store's wide integers, after summing.
func (s *statement) coordinateScan(d *draft, rel *flat) string {
	g := rel.groupColumns
	if d.relation.unique {
		return "SELECT " + comma(append(append(append([]string(nil), g...), "CAST(1 AS BIGINT) AS n"), rel.vector...)) + " FROM (" + rel.sql + ") AS r"
	}
	by := append([]string{"u"}, g...)
	sums, names := append([]string(nil), "count(*) AS n"), []string{"n"}
	for j, x := range rel.vector {
		name := "a" + itoa(j)
		sums = append(sums, clamped("sum("+x+")")+" AS "+name)
		names = append(names, name)
	}
	if !d.bounded {
		return "SELECT " + comma(append(append([]string(nil), g...), sums...)) + " FROM (" + rel.sql + ") AS r GROUP BY " + comma(by)
	}
	return "SELECT " + comma(append(append([]string(nil), g...), names...)) + " FROM (SELECT " + comma(append(append([]string(nil), by...), sums...)) + " FROM (" + rel.sql +
		") AS r GROUP BY " + comma(by) + ") AS p QUALIFY row_number() OVER (PARTITION BY u ORDER BY " + s.choice("u", g) + ") <= " + itoa(d.maxGroups)
}

// unitColumn writes the unit u as an integer or a text by which the executor tells persons apart: equal units give
// equal columns. The two zeros of a DOUBLE are one unit.
func unitColumn(t lower.Type) (string, store.ScanType) {
	switch t.Kind {
	case lower.Int, lower.Bool:
		return "CAST(u AS BIGINT)", store.ScanInt64
	case lower.Double:
		return "CAST(u + CAST(0 AS DOUBLE) AS VARCHAR)", store.ScanText
	}
	return "CAST(u AS VARCHAR)", store.ScanText
}
