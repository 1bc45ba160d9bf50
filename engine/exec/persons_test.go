package exec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/store"
)

// TestPersonScans runs the planned scans of means of sixteen columns over rows of which some have
// NULL, NaN, an infinity or a number beyond the grid, and compares each person's sums with sums
// that the store makes of grid indexes.
func TestPersonScans(t *testing.T) {
	s, _ := fixture(t)
	odd := "CASE hash(i * 16 + #) % 200 WHEN 0 THEN NULL WHEN 1 THEN 'nan' WHEN 2 THEN 'inf' WHEN 3 THEN '-inf' WHEN 4 THEN 1e300 WHEN 5 THEN -1e300 WHEN 6 THEN 0.5 / 1048576 ELSE CAST(hash(i + #) % 1000003 AS DOUBLE) / 7 - 70000 END"
	for typ, value := range map[string]string{"INTEGER": "CASE hash(i * 16 + #) % 200 WHEN 0 THEN NULL WHEN 1 THEN -2147483648 WHEN 2 THEN 2147483647 ELSE CAST(hash(i + #) % 1000003 AS BIGINT) - 70000 END", "DOUBLE": odd} {
		write(t, s, "CREATE OR REPLACE TABLE d.t AS SELECT CASE WHEN i % 9 > 0 THEN CAST(hash(i) % 100 AS BIGINT) - 50 END AS person"+eachColumn("CAST("+value+" AS "+typ+") AS c#")+" FROM range(3000) r(i)")
		snap, err := s.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		x := eachColumn("CASE WHEN x# BETWEEN -1073741824 AND 1073741824 THEN CAST(round_even(x# * 1048576, 0) AS HUGEINT) WHEN x# < 0 THEN -1125899906842624 ELSE 1125899906842624 END AS x#")
		query := "SELECT count(*)" + eachColumn("CAST(least(greatest(sum(x#), -1125899906842624), 1125899906842624) AS BIGINT)") + " FROM (SELECT person" + x +
			" FROM (SELECT person" + eachColumn("CAST(c# AS DOUBLE) AS x#") + " FROM d.t WHERE person IS NOT NULL) AS a WHERE true"
		for j := 1; j <= personsDim; j++ {
			query += fmt.Sprintf(" AND isfinite(x%d)", j)
		}
		var want []string
		types := make([]store.ScanType, 1+personsDim) // ScanInt64
		err = snap.Scan(context.Background(), query+") AS b GROUP BY person", nil, types, func(c store.Chunk) error {
			for i := range c.Len {
				var sums []int64
				for _, v := range c.Columns[1:] {
					sums = append(sums, v.Ints[i])
				}
				want = append(want, fmt.Sprint(c.Columns[0].Ints[i], ":", sums))
			}
			return nil
		})
		snap.Close()
		if err != nil || len(want) < 90 {
			t.Fatal(len(want), err)
		}
		scan, a := personScan(t, typ)
		scan.SQL = "SELECT CAST(0 AS BIGINT) AS g, unit, x0 FROM (" + scan.SQL + ") AS s"
		scan.Types, a.Columns = intVector, []int{2}
		in, err := taken(t, s, 1, scan, a)
		if err != nil {
			t.Fatal(err)
		}
		same(t, typ, written(t, inputOf(t, in, a, 0).Vectors), want)
	}
}

// TestUnits compares the numbers of units with a map's, over tables that grow, with units that are
// alike in many bits.
func TestUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var u units
	memory := spillArea(t)
	want := map[int64]int32{}
	for i := range 20_000 {
		unit := int64(r.IntN(5000)) << (8 * (i % 7))
		switch i {
		case 1:
			unit = math.MinInt64
		case 2:
			unit = math.MaxInt64
		case 3:
			unit = -1
		}
		n, ok := want[unit]
		if got := u.find(unit); ok && got != n || !ok && got != -1 {
			t.Fatalf("unit %d: got %d, want %d (%v)", unit, got, n, ok)
		}
		if !ok {
			n = int32(len(want))
			want[unit] = n
			if err := u.put(unit, n, memory); err != nil {
				t.Fatal(err)
			}
		}
	}
	for unit, n := range want {
		if got := u.find(unit); got != n {
			t.Errorf("unit %d: got %d, want %d", unit, got, n)
		}
	}
	if u.taken != len(want) || 4*u.taken > 3*len(u.slots) {
		t.Errorf("%d of %d places are taken by %d units", u.taken, len(u.slots), len(want))
	}
}

// TestNumbersOfUnits: units are numbered in their order in each group; NULL has no number.
func TestNumbersOfUnits(t *testing.T) {
	p := persons{memory: spillArea(t)}
	p.resize(3)
	rows := []struct {
		group int32
		unit  int64
		null  bool
		want  int32
	}{{2, 7, false, 0}, {2, 7, false, 0}, {0, 7, false, 0}, {2, -7, false, 1}, {2, 7, true, -1}, {2, 7, false, 0}, {0, 0, false, 1}, {0, 7, false, 0}}
	v := store.Vector{}
	var of []int32
	for _, r := range rows {
		v.Ints, v.Null, of = append(v.Ints, r.unit), append(v.Null, r.null), append(of, r.group)
	}
	for range 2 {
		got, err := p.number(&v, of)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			if got[i] != r.want {
				t.Errorf("row %d: got %d, want %d", i, got[i], r.want)
			}
		}
	}
	if p.counts[0] != 2 || p.counts[1] != 0 || p.counts[2] != 2 {
		t.Errorf("got %v persons", p.counts)
	}
}
