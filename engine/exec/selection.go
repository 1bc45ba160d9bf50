package exec

import (
	"context"
	"errors"
	"slices"
	"strings"

	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/partition"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/planner/plan"
)

// selection is what the key selection of a release leaves in the store: a temporary table with the
// rows of the first scan, which is counted and then read again, and one with the keys that were
// selected and the numbers of their groups, with which every scan is joined. The keys of the data
// stay in the store but for one at a time: how many there are is private, those that are kept are
// released.
type selection struct {
	release *plan.Release
	rows    string // table of the first scan's rows
	kept    string // table of keys and numbers
	keys    [][]keyValue
}

// mostSelected bounds the groups that are answered. It acts on released keys.
const mostSelected = 1 << 20

// selects counts the persons of each key, decides on each, and keeps those that are shown, in the
// order of the keys.
func (x *Executor) selects(ctx context.Context, snap store.Snapshot, r *plan.Release, secrets secrets, noiser noise.Noiser) (*selection, error) {
	s, scan := &selection{release: r}, r.Scans[0]
	var err error
	if scan.Held != (r.Selection.Most() > 1) {
		return nil, errors.New("exec: the first scan of a key selection tells how many keys a person holds where it may be several, and only there")
	}
	columns := columnNames(len(scan.Types))
	if scan.Held {
		columns = append(columns, heldColumn)
	}
	if s.rows, err = snap.Materialise(ctx, scan.SQL, secrets.fill(scan.Args), columns); err != nil {
		return nil, err
	}
	n := len(r.Keys)
	types := append(slices.Clone(scan.Types[:n]), store.ScanInt64)
	d := decisions{selection: r.Selection, noiser: noiser, keys: n}
	err = snap.ScanInOrder(ctx, s.countSQL(), nil, append(slices.Clone(types), store.ScanInt64), d.take)
	if err == nil {
		err = d.decide()
	}
	if s.keys = d.kept; err != nil || len(s.keys) == 0 && !r.Other {
		return s, err
	}
	slices.SortFunc(s.keys, compareKeys)
	s.kept, err = snap.Keep(ctx, append(columnNames(n), "g"), types, s.numbered())
	return s, err
}

// heldColumn names the column of the first scan's table that plan.Scan.Held adds.
const heldColumn = "held"

// countSQL counts the persons of each key of the first scan, which returns every person of every
// group, once or with all rows: those who hold one key apart from those who hold two, and so on.
// The keys come in their order, so that the noise is drawn in it.
func (s *selection) countSQL() string {
	n, scan := len(s.release.Keys), s.release.Scans[0]
	keys := strings.Join(columnNames(n), ", ")
	order := strings.Join(columnNames(n), " NULLS FIRST, ") + " NULLS FIRST"
	from, count, held := s.rows, "count(*)", "CAST(1 AS BIGINT)"
	if scan.Held {
		held = heldColumn
	}
	switch unit := plan.SelectedKey(n); {
	case scan.Kept:
		count = "count(*) FILTER (WHERE " + plan.SelectedKey(n+1) + " >= 1)"
	case scan.Rows:
		from = "(SELECT DISTINCT " + keys + ", " + unit + " FROM " + s.rows + " WHERE " + unit + " IS NOT NULL)"
	}
	return "SELECT " + keys + ", " + held + " AS h, " + count + " FROM " + from + " GROUP BY " + keys + ", h ORDER BY " + order
}

// decisions adds up the weights of the persons of each key, and decides on a key when the next one
// begins.
type decisions struct {
	selection *partition.Selection
	noiser    noise.Noiser
	keys      int // parts of a key
	key       []keyValue
	weight    int64 // of key
	kept      [][]keyValue
}

// take takes in rows of countSQL: a key, how many keys some of its persons hold, and their number.
func (d *decisions) take(ch store.Chunk) error {
	held, persons := ch.Columns[d.keys].Ints, ch.Columns[d.keys+1].Ints
	for i := range ch.Len {
		if key := keyOf(ch, d.keys, i); d.key == nil || compareKeys(key, d.key) != 0 {
			if err := d.decide(); err != nil {
				return err
			}
			d.key = key
		}
		d.weight += d.selection.Weight(held[i]) * persons[i]
	}
	return nil
}

// decide decides on the key that is complete, if anybody has it.
func (d *decisions) decide() error {
	if d.weight > 0 && d.selection.Keep(d.noiser, d.weight) {
		if d.kept = append(d.kept, d.key); len(d.kept) > mostSelected {
			return &Limit{"selected keys", int64(len(d.kept)), mostSelected}
		}
	}
	d.weight = 0
	return nil
}

// numbered are the rows of the table of keys.
func (s *selection) numbered() [][]any {
	out := make([][]any, len(s.keys))
	for g, key := range s.keys {
		for _, k := range key {
			out[g] = append(out[g], k.raw())
		}
		out[g] = append(out[g], int64(g))
	}
	return out
}

// scanSQL is scan i with the group's number in the place of the keys, without the rows of keys that
// were not selected unless they are a group, and whether it takes the scan's arguments.
func (s *selection) scanSQL(i int) (sql string, args bool) {
	n, scan := len(s.release.Keys), s.release.Scans[i]
	if s.release.Other {
		return "WITH " + plan.SelectedKeys + " AS (SELECT * FROM " + s.kept + ") " + scan.SQL, true
	}
	from := s.rows
	if i > 0 {
		from, args = "("+scan.SQL+")", true
	}
	all := columnNames(len(scan.Types))
	items, same := []string{"q.g"}, []string(nil)
	for k, name := range all {
		if k < n {
			same = append(same, "t."+name+" IS NOT DISTINCT FROM q."+name)
		} else {
			items = append(items, "t."+name)
		}
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM " + from + " AS t(" + strings.Join(all, ", ") + ") JOIN " + s.kept + " AS q ON " + strings.Join(same, " AND "), args
}

func columnNames(n int) []string {
	return lists.Make(n, func(i int) string { return plan.SelectedKey(i) })
}
