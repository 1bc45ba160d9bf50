package release

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
)

// scanSpec says which rows a scan reads and how it returns them.
type scanSpec struct {
	// argument is the aggregate whose present rows alone count, -1 for all rows.
	argument int
	// rows makes it one scan row a row, at most maxRows of a person in a group.
	rows    bool
	maxRows int64
	// kept marks the groups of a unit that the key selection counts, in the scan of all groups.
	kept bool
	// pairs makes it one scan row for each pair of a person and a value, or of two owners, in a
	// group.
	pairs bool
	// selects makes it the scan that the keys are selected by, which no aggregate reads.
	selects bool
}

// Scans plans the scans of an aggregation: one for all aggregates that share a pass, and further
// ones for quantiles, which have no column that says whether a person is present, for vectors,
// whose rows are present or absent as a whole, and for what is answered in all groups at once,
// which names the unit.
func (s *Builder) Scans(d *Aggregation) error {
	d.specs = nil
	d.Blocks = d.Relation.Blocks()
	if d.Other {
		d.specs = append(d.specs, scanSpec{argument: -1, selects: true})
	}
	common := len(d.specs)
	d.specs = append(d.specs, scanSpec{argument: -1})
	for i, a := range d.Aggregates {
		a.Scan = common
		if !a.GroupVector && a.Vector == nil && !a.ByRow && !a.Paired() && !(slices.Contains(a.Kinds, estimator.Median) && a.Value.Nullable) {
			continue
		}
		if b := s.sameVectors(d.Aggregates[:i], a); b != nil {
			a.Scan = b.Scan
			continue
		}
		a.Scan = len(d.specs)
		d.specs = append(d.specs, scanSpec{argument: i, rows: a.ByRow, maxRows: a.MaxRows, pairs: a.Paired()})
	}
	alone := len(d.Aggregates) > 0
	for _, a := range d.Aggregates {
		alone = alone && a.Scan != common
	}
	if d.Other {
		// The first scan is the key selection's.
	} else if alone && !d.Public && d.Aggregates[0].GroupVector {
		// What is answered in all groups at once reads every group of every person: it can serve
		// the key selection as well.
		d.specs[d.Aggregates[0].Scan].kept = true
		alone = d.Aggregates[0].Scan == 1
	} else if !d.Public {
		alone = false
	}
	if alone {
		// Nobody reads the common scan: drop it.
		d.specs = slices.Delete(d.specs, common, common+1)
		for _, a := range d.Aggregates {
			a.Scan--
		}
	}
	for i := range d.specs {
		sc, err := s.scanOf(d, i)
		if err != nil {
			return err
		}
		d.Scans = append(d.Scans, rel.Renumbered(sc))
	}
	return nil
}

// scanOf generates one scan of the relation: the same tree gives the same text and values.
//
//	SELECT <group>, <columns> FROM (
//	  SELECT <group>, u, <grid indexes of the arguments> FROM <relation> WHERE u IS NOT NULL
//	) GROUP BY <group>, u
//
// and, where a person may be in more groups than the loss allows for, only that many of them,
// chosen by a hash of the person, the group and a secret that the executor draws for each
// execution. The choice depends on nothing but that person's rows and the secret.
func (s *Builder) scanOf(d *Aggregation, at int) (plan.Scan, error) {
	sc, err := s.writeScan(d, at)
	if err == nil {
		err = s.CheckWidth(sc.SQL)
	}
	return sc, err
}

// writeScan is scanOf, however many columns of a table the scan reads.
func (s *Builder) writeScan(d *Aggregation, at int) (plan.Scan, error) {
	s.Resume(d.Mark)
	spec := d.specs[at]
	in, err := s.materialise(d, d.Relation, spec)
	if err != nil {
		return plan.Scan{}, err
	}
	if spec.argument >= 0 {
		switch a := d.Aggregates[spec.argument]; {
		case a.Vector != nil:
			return s.vectorScan(d, at, in)
		case a.GroupVector:
			sc := s.groupScan(d, a, in, spec.kept)
			return sc, s.CheckSums(len(slices.Compact(slices.Sorted(slices.Values(a.Columns)))))
		case spec.pairs && a.Call.Distinct:
			return s.distinctScan(d, a, in), nil
		case spec.pairs:
			return s.ownersScan(d, a, in), nil
		}
	}
	g := in.groupColumns
	out := append([]string(nil), g...)
	types := append([]store.ScanType(nil), in.groupTypes...)
	var from string
	grouped := !d.Relation.Unique && !spec.rows
	var cols []string
	if spec.rows {
		cols = []string{in.index[d.Aggregates[spec.argument]] + " AS a0"}
		d.Aggregates[spec.argument].Columns = []int{len(g)}
	} else {
		if grouped {
			if sc, ok := s.addedScan(d, at, in); ok {
				return sc, nil
			}
			d.rank(at, in)
		}
		cols = d.dataColumns(at, len(g), func(a *aggregate.Aggregate, k estimator.Kind) string { return in.column(a, k, grouped) })
		if err := s.CheckSums(len(cols)); grouped && err != nil {
			return plan.Scan{}, err
		}
	}
	for i := range cols {
		out = append(out, "a"+strconv.Itoa(i))
		types = append(types, store.ScanInt64)
	}
	switch {
	case spec.rows:
		from = s.sampled(d, in, spec)
	case grouped && !d.Bounded:
		from = "SELECT " + sqltext.List(append(append([]string(nil), g...), cols...)) + " FROM (" + in.sql + ") AS r GROUP BY " + sqltext.List(append([]string{"u"}, g...))
		return plan.Scan{SQL: from, Args: s.Args(), Types: types}, nil
	case grouped:
		inner := "SELECT " + sqltext.List(append(append([]string{"u"}, g...), cols...)) + " FROM (" + in.sql + ") AS r GROUP BY " + sqltext.List(append([]string{"u"}, g...))
		choice, held := s.choice("u", g), at == 0 && d.counts()
		if held {
			out = append(out, d.held("u", choice))
		}
		from = "SELECT " + sqltext.List(out) + " FROM (" + inner + ") AS p QUALIFY row_number() OVER (PARTITION BY u ORDER BY " + choice + ") <= " + strconv.Itoa(d.MaxGroups)
		return plan.Scan{SQL: from, Args: s.Args(), Types: types, Held: held}, nil
	default:
		from = "SELECT " + sqltext.List(append(append([]string(nil), g...), cols...)) + " FROM (" + in.sql + ") AS r"
	}
	return plan.Scan{SQL: from, Args: s.Args(), Types: types}, nil
}

// choice orders the groups of a person by a keyed hash; the group itself breaks ties.
func (s *Builder) choice(u string, g []string) string {
	secret := s.Bind(plan.SecretArg{Index: 0})
	return "hash(" + sqltext.List(append([]string{u, "CAST(" + secret + " AS BIGINT)"}, g...)) + "), " + sqltext.List(g)
}

// counts reports whether the first scan tells in how many groups a person counts for the key
// selection (plan.Scan.Held).
func (d *Aggregation) counts() bool { return !d.Public && d.MaxGroups > 1 }

// held writes that number of a person: of its groups, which the scan orders by choice, as many as
// the loss allows for. The frame is the whole of them, in the order that the choice takes already:
// the store sorts once.
func (d *Aggregation) held(u, choice string) string {
	return "least(count(*) OVER (PARTITION BY " + u + " ORDER BY " + choice + " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), " + strconv.Itoa(d.MaxGroups) + ") AS held"
}

// sampled returns one row a row, at most maxRows of a person in a group: rows are numbered among
// their equals, so that the keyed hash orders every row of the person apart.
func (s *Builder) sampled(d *Aggregation, in *flat, spec scanSpec) string {
	x := in.index[d.Aggregates[spec.argument]]
	g := in.groupColumns
	part := sqltext.List(append([]string{"u"}, g...))
	rows := "SELECT " + part + ", " + x + " AS a0, row_number() OVER (PARTITION BY " + part + ", " + x + ") AS j FROM (" + in.sql + ") AS r"
	secret := s.Bind(plan.SecretArg{Index: 1})
	kept := "SELECT " + part + ", a0 FROM (" + rows + ") AS j QUALIFY row_number() OVER (PARTITION BY " + part +
		" ORDER BY hash(u, CAST(" + secret + " AS BIGINT), a0, j), a0) <= " + strconv.FormatInt(spec.maxRows, 10)
	if d.Bounded {
		return "SELECT " + sqltext.List(append(append([]string(nil), g...), "a0")) + " FROM (" + kept + ") AS p QUALIFY dense_rank() OVER (PARTITION BY u ORDER BY " + s.choice("u", g) + ") <= " + strconv.Itoa(d.MaxGroups)
	}
	return "SELECT " + sqltext.List(append(append([]string(nil), g...), "a0")) + " FROM (" + kept + ") AS p"
}

// flat is the input of a scan: the group, the unit u and the grid index of each argument.
type flat struct {
	sql          string
	groupColumns []string
	groupTypes   []store.ScanType
	index        map[*aggregate.Aggregate]string // "" where rows are counted
	other        map[*aggregate.Aggregate]string // of the second argument, "" where there is none
	whole        map[*aggregate.Aggregate]bool   // whose argument is NULL on no row
	// columns of the one aggregate of vectors of a scan
	vector []string
	// the unit u as a column that a scan can return, and its type
	unit     string
	unitType store.ScanType
}

// materialise writes the innermost SELECT of a scan.
func (s *Builder) materialise(d *Aggregation, r *rel.Relation, spec scanSpec) (*flat, error) {
	f := &flat{index: map[*aggregate.Aggregate]string{}, other: map[*aggregate.Aggregate]string{}, whole: map[*aggregate.Aggregate]bool{}}
	var items, keys []string
	number := ""
	for i, k := range d.Keys {
		if k.Image != nil {
			var at string
			var err error
			if r, at, err = s.keys.Mapping(r, k); err != nil {
				return nil, err
			}
			if number == "" {
				number = at
			} else {
				number = fmt.Sprintf("(%s * %d + %s)", number, len(k.Image.Values), at)
			}
		}
		if d.Public {
			continue
		}
		x, err := s.Lower(k.Expr, r.Resolve)
		if err != nil {
			return nil, err
		}
		text, t, ok := keyColumn(x)
		if !ok {
			return nil, rule.Deny(rule.GroupKey, refuse.GroupKeys, "Group by a column or expression with a plain value.",
				"The group key %s has a type that cannot be a key.", k.Name)
		}
		name := "k" + strconv.Itoa(i)
		items, keys = append(items, text+" AS "+name), append(keys, text)
		f.groupColumns = append(f.groupColumns, name)
		f.groupTypes = append(f.groupTypes, t)
	}
	if d.Public && len(d.Keys) > 0 {
		items = append(items, "CAST("+number+" AS BIGINT) AS g")
		f.groupColumns, f.groupTypes = []string{"g"}, []store.ScanType{store.ScanInt64}
	}
	var where []string
	for i, o := range r.Owners() {
		name := "u"
		if i > 0 {
			name = "v"
		}
		items = append(items, o.Expr.SQL+" AS "+name)
		if !o.Present {
			where = append(where, o.Expr.SQL+" IS NOT NULL")
		}
	}
	f.unit, f.unitType = unitColumn(r.UnitExpr().Type)
	if spec.selects {
		where = append(where, hasKey(keys))
	}
	seen := map[string]string{}
	for _, a := range d.read(indexOfSpec(d, spec)) {
		if a.Arg == nil {
			continue
		}
		if a.Vector != nil {
			if a != d.Aggregates[spec.argument] {
				continue
			}
			columns, present, err := s.vectorColumns(r, a)
			if err != nil {
				return nil, err
			}
			for j, c := range columns {
				f.vector = append(f.vector, "x"+strconv.Itoa(j))
				items = append(items, c+" AS x"+strconv.Itoa(j))
			}
			where = append(where, present...)
			continue
		}
		x, err := s.Lower(a.Arg, r.Resolve)
		if err != nil {
			return nil, err
		}
		if a.Call.Distinct {
			text, err := distinctValue(a, x)
			if err != nil {
				return nil, err
			}
			items = append(items, text+" AS x0")
			where = append(where, x.SQL+" IS NOT NULL")
			continue
		}
		x = a.Number(x)
		if f.whole[a] = !x.Nullable; f.whole[a] && a.Call.Function.Counts {
			continue
		}
		text := "CASE WHEN " + x.SQL + " IS NOT NULL THEN 1 END"
		if !a.Call.Function.Counts {
			if text = a.Grid.Open(x); spec.rows {
				text = a.Grid.Index(x)
			}
		}
		column := func(text string) string {
			name, ok := seen[text]
			if !ok {
				name = "x" + strconv.Itoa(len(seen))
				seen[text] = name
				items = append(items, text+" AS "+name)
			}
			return name
		}
		if o := a.Other; o != nil {
			y, err := s.Lower(o.Arg, r.Resolve)
			if err != nil {
				return nil, err
			}
			// a row without one of the two has neither
			first, second := a.Grid.Index(x), o.Grid.Index(y)
			text = "CASE WHEN " + second + " IS NOT NULL THEN " + first + " END"
			f.other[a] = column("CASE WHEN " + first + " IS NOT NULL THEN " + second + " END")
			f.whole[a] = false
		}
		f.index[a] = column(text)
		// Totals of pairs leave NULLs out by themselves. A condition on columns of several tables
		// would lead the store to join these by it, before it joins them by their keys.
		if spec.argument >= 0 && d.Aggregates[spec.argument] == a && !spec.pairs {
			where = append(where, x.SQL+" IS NOT NULL")
		}
	}
	f.sql = "SELECT " + sqltext.List(items) + s.Clause(r.With(where...))
	if d.Other && !spec.selects {
		f.numberSelected()
	}
	return f, nil
}

// read lists the aggregates that read a scan; of one that answers all groups at once, those that it
// stands for.
func (d *Aggregation) read(scan int) []*aggregate.Aggregate {
	var out []*aggregate.Aggregate
	for _, a := range d.Aggregates {
		switch {
		case a.Scan != scan:
		case a.GroupVector, a.Sums != nil:
			out = append(out, a.Parts...)
		default:
			out = append(out, a)
		}
	}
	return out
}

// indexOfSpec returns the position of a specification; they differ in their argument.
func indexOfSpec(d *Aggregation, spec scanSpec) int {
	return slices.Index(d.specs, spec)
}

// Under dp_keys = 'keep' the rows whose key is not selected are one group more:
//
//	SET dp_keys = 'keep'; SELECT city, COUNT(*), SUM(amount) FROM orders GROUP BY city
//
// answers the selected cities, and a row whose city is NULL with all other orders. Rows whose keys
// are all NULL are in that row, too, and are not counted for the selection: so a row of NULL keys
// has one meaning.
//
// The keys are selected by a scan of their own, as without the parameter. Then the scans of the
// aggregates have the number of the group in the place of the keys, before rows are added up by
// person: a person's rows in several keys that were not selected are one entry of one group.
//
// Privacy. The selected keys are released, with the loss and δ of the selection. Given them, which
// group a row is in is a function of the row: the aggregates are those of a query over so many
// public groups and one more. In that query a person is in PerUnit groups at most, as the scans
// choose among the numbered groups, the row of others counting as one, by that person's rows and a
// secret. So its loss is that of any set of public groups, for each set of selected keys, under
// both relations (neighbours.go), and the two compose adaptively. docs/proofs/keys.md has the
// argument.

// hasKey is true of the rows that have some key.
func hasKey(keys []string) string {
	some := lists.Map(keys, func(k string) string { return k + " IS NOT NULL" })
	return "(" + strings.Join(some, " OR ") + ")"
}

// numberSelected puts the number of the group in the place of the keys of each row: that of its
// keys in plan.SelectedKeys, else the number behind them.
func (f *flat) numberSelected() {
	same := make([]string, len(f.groupColumns))
	for i, k := range f.groupColumns {
		same[i] = "t." + k + " IS NOT DISTINCT FROM s." + plan.SelectedKey(i)
	}
	f.sql = "SELECT coalesce(s.g, (SELECT count(*) FROM " + plan.SelectedKeys + ")) AS g, t.* EXCLUDE (" + sqltext.List(f.groupColumns) +
		") FROM (" + f.sql + ") AS t LEFT JOIN " + plan.SelectedKeys + " AS s ON " + strings.Join(same, " AND ")
	f.groupColumns, f.groupTypes = []string{"g"}, []store.ScanType{store.ScanInt64}
}
