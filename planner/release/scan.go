package release

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/lower"
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
func (s *Builder) Scans(d *Aggregation, input sql.Node) error {
	d.specs, d.input = nil, input
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
		sc, err := s.scanOf(d, i, input)
		if err != nil {
			return err
		}
		d.Scans = append(d.Scans, rel.Renumbered(sc))
	}
	return nil
}

// scanOf generates one scan from the bound tree: the same tree gives the same text and values.
//
//	SELECT <group>, <columns> FROM (
//	  SELECT <group>, u, <grid indexes of the arguments> FROM <relation> WHERE u IS NOT NULL
//	) GROUP BY <group>, u
//
// and, where a person may be in more groups than the loss allows for, only that many of them,
// chosen by a hash of the person, the group and a secret that the executor draws for each
// execution. The choice depends on nothing but that person's rows and the secret.
func (s *Builder) scanOf(d *Aggregation, at int, input sql.Node) (plan.Scan, error) {
	sc, err := s.writeScan(d, at, input)
	if err == nil {
		err = s.CheckWidth(sc.SQL)
	}
	return sc, err
}

// writeScan is scanOf, however many columns of a table the scan reads.
func (s *Builder) writeScan(d *Aggregation, at int, input sql.Node) (plan.Scan, error) {
	s.Begin()
	spec := d.specs[at]
	r, err := s.Rows(input)
	if err != nil {
		return plan.Scan{}, err
	}
	d.readsOf(r, at)
	in, err := s.materialise(d, r, spec)
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
		case a.GroupVector:
			out = append(out, a.Parts...)
		default:
			out = append(out, a)
		}
	}
	return out
}

// indexOfSpec returns the position of a specification; they differ in their argument.
func indexOfSpec(d *Aggregation, spec scanSpec) int {
	for i, x := range d.specs {
		if x == spec {
			return i
		}
	}
	return -1
}

// keyColumn writes a private key as one of the types that a scan can return.
func keyColumn(x lower.Expr) (string, store.ScanType, bool) {
	switch x.Type.Kind {
	case lower.Int, lower.Bool:
		return "CAST(" + x.SQL + " AS BIGINT)", store.ScanInt64, true
	case lower.Double:
		return x.SQL, store.ScanFloat64, true
	case lower.String, lower.UInt, lower.Decimal, lower.Date, lower.Datetime:
		return "CAST(" + x.SQL + " AS VARCHAR)", store.ScanText, true
	}
	return "", 0, false
}

// dataColumns lists the columns of the aggregates of a scan behind the leading ones, each once, as
// text writes them.
func (d *Aggregation) dataColumns(at, leading int, text func(*aggregate.Aggregate, estimator.Kind) string) []string {
	var cols []string
	seen := map[string]int{}
	for _, a := range d.Aggregates {
		if a.Scan != at {
			continue
		}
		a.Columns = nil
		for _, k := range a.Kinds {
			text := text(a, k)
			n, ok := seen[text]
			if !ok {
				n = len(cols)
				seen[text] = n
				cols = append(cols, text+" AS a"+strconv.Itoa(n))
			}
			a.Columns = append(a.Columns, leading+n)
		}
	}
	if len(cols) == 0 {
		cols = []string{"CAST(1 AS BIGINT) AS a0"}
	}
	return cols
}

// column writes one per-person column of an aggregate. An index is NULL only where its argument is,
// so where that is on no row, all rows count.
func (f *flat) column(a *aggregate.Aggregate, k estimator.Kind, grouped bool) string {
	if k == estimator.Rows && f.whole[a] {
		return columnOf(k, "", "", grouped)
	}
	x, y := f.index[a], f.other[a]
	switch k {
	case estimator.OtherSum:
		return columnOf(estimator.Sum, y, y, grouped)
	case estimator.OtherSquaresHi:
		return columnOf(estimator.SumSquaresHi, y, y, grouped)
	case estimator.OtherSquaresLo:
		return columnOf(estimator.SumSquaresLo, y, y, grouped)
	case estimator.ProductsHi:
		return columnOf(estimator.SumSquaresHi, x, y, grouped)
	case estimator.ProductsLo:
		return columnOf(estimator.SumSquaresLo, x, y, grouped)
	}
	return columnOf(k, x, x, grouped)
}

// rank adds to a flat input the columns that medians come from: of each index of which a person's
// median is read, its rank among those of the person in the group, NULL last, and how many there
// are. The store's own median keeps all of a person's indexes in memory, which no bound of its own
// is on, and one person may have every row; ranks are found by a sort, which spills.
func (d *Aggregation) rank(at int, f *flat) {
	var ranks []string
	part := "PARTITION BY " + sqltext.List(append([]string{"u"}, f.groupColumns...))
	for _, a := range d.Aggregates {
		x := f.index[a]
		if a.Scan != at || !slices.Contains(a.Kinds, estimator.Median) || slices.Contains(ranks, x) {
			continue
		}
		ranks = append(ranks, x)
		f.sql = "SELECT *, row_number() OVER (" + part + " ORDER BY " + x + " NULLS LAST) AS " + rankOf(x) +
			", count(" + x + ") OVER (" + part + ") AS " + presentOf(x) + " FROM (" + f.sql + ") AS w"
	}
}

// rankOf and presentOf name the columns that rank adds for an index.
func rankOf(x string) string    { return "rank_" + x }
func presentOf(x string) string { return "present_" + x }

// columnOf writes one per-person column: over the rows of a (group, person), or of the one row that
// a person has. x is the grid index, "" where rows are counted; squares are products with y, which
// is x but for those of two arguments. All are total: an index has at most 63 bits, so a sum of
// 2^40 of them has 103; one to be squared has 43, so a sum of squares has 126. Sums and medians are
// clamped to ±MaxUnits here, which is a function of one person.
func columnOf(k estimator.Kind, x, y string, grouped bool) string {
	const two64, two63, two62, two126 = "18446744073709551616", "9223372036854775808", "4611686018427387904", "85070591730234615865843651857942052864"
	square := func() string {
		if grouped {
			return "coalesce(sum(CAST(" + x + " AS HUGEINT) * " + y + "), 0)"
		}
		return "coalesce(CAST(" + x + " AS HUGEINT) * " + y + ", 0)"
	}
	if x != y { // of either sign: 2^126 more is not negative, and its low half is the same
		product := square
		square = func() string { return "(" + product() + " + " + two126 + ")" }
	}
	switch k {
	case estimator.Rows:
		switch {
		case grouped && x == "":
			return "count(*)"
		case grouped:
			return "count(" + x + ")"
		case x == "":
			return "CAST(1 AS BIGINT)"
		}
		return "CAST(CASE WHEN " + x + " IS NULL THEN 0 ELSE 1 END AS BIGINT)"
	case estimator.Sum:
		if grouped {
			return clamped("sum(" + x + ")")
		}
		return clamped(x)
	case estimator.Least, estimator.Greatest:
		switch {
		case !grouped:
			return clamped(x)
		case k == estimator.Least:
			return clamped("min(" + x + ")")
		}
		return clamped("max(" + x + ")")
	case estimator.SumSquaresHi:
		high := square() + " // " + two64
		if x != y {
			high += " - " + two62
		}
		return "CAST(" + high + " AS BIGINT)"
	case estimator.SumSquaresLo:
		q := square() + " % " + two64
		return "CAST(CASE WHEN " + q + " >= " + two63 + " THEN " + q + " - " + two64 + " ELSE " + q + " END AS BIGINT)"
	case estimator.Median:
		if grouped {
			return clamped("max(CASE WHEN " + rankOf(x) + " = (" + presentOf(x) + " + 1) // 2 THEN " + x + " END)")
		}
		return clamped(x)
	}
	panic(fmt.Sprintf("planner: column kind %d is not per person", k))
}

// clamped returns an integer as BIGINT within ±MaxUnits, 0 for NULL.
func clamped(x string) string {
	limit := strconv.FormatInt(estimator.MaxUnits, 10)
	return "CASE WHEN " + x + " BETWEEN -" + limit + " AND " + limit + " THEN TRY_CAST(" + x + " AS BIGINT) WHEN " +
		x + " < 0 THEN -" + limit + " WHEN " + x + " > 0 THEN " + limit + " ELSE 0 END"
}
