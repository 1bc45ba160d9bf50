package exec

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/planner/plan"
)

func TestPairs(t *testing.T) {
	s, _ := fixture(t)
	// Person 5 of group 0 has every coordinate; the others a few, some twice, some out of range.
	write(t, s, `CREATE TABLE d.baskets AS SELECT CAST(i % 2 AS BIGINT) AS g, CAST(hash(i) % 300 AS BIGINT) AS u, CASE WHEN i % 17 = 0 THEN NULL
		WHEN i % 13 = 0 THEN -1 WHEN i % 19 = 0 THEN 200000 ELSE CAST(hash(i // 2) % 200000 AS BIGINT) END AS k FROM range(20000) r(i)
		UNION ALL SELECT 0, 5, i FROM range(200000) r(i) UNION ALL SELECT 1, NULL, 3 UNION ALL SELECT 2, 7, 9 UNION ALL SELECT 2, 7, 4 UNION ALL SELECT 2, 7, 9`)
	a := plan.Aggregate{Columns: []int{2}, Vector: &plan.Vector{Form: plan.Pairs, Dim: 200000}}
	in, err := taken(t, s, 4, plan.Scan{SQL: "SELECT g, u, k FROM d.baskets ORDER BY hash(u, k)", Types: intPair, Rows: true}, a)
	if err != nil {
		t.Fatal(err)
	}
	owned := make([]map[int64][]int32, 4)
	snap, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	err = snap.ScanInOrder(context.Background(), "SELECT DISTINCT g, u, k FROM d.baskets WHERE u IS NOT NULL AND k BETWEEN 0 AND 199999 ORDER BY k", nil, intPair, func(c store.Chunk) error {
		for i, g := range c.Columns[0].Ints {
			if owned[g] == nil {
				owned[g] = map[int64][]int32{}
			}
			owned[g][c.Columns[1].Ints[i]] = append(owned[g][c.Columns[1].Ints[i]], int32(c.Columns[2].Ints[i]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for g := range owned {
		var want []string
		for _, k := range owned[g] {
			want = append(want, fmt.Sprint(1, ":", k))
		}
		same(t, fmt.Sprint("group ", g), written(t, inputOf(t, in, a, g).Vectors), want)
	}
	if n := len(inputOf(t, in, a, 0).Vectors.Chunks); n < 2 {
		t.Errorf("got %d chunks of 209000 pairs", n)
	}
}

// TestPairsThatComeAgain: a person's repeated rows take no memory that other persons' rows would
// need, in one group or in many, and at any time about twice the distinct pairs are held.
func TestPairsThatComeAgain(t *testing.T) {
	s, _ := fixture(t)
	// 3,000,000 rows, which would take 48 MB of the 8 MiB: 1000 pairs of person 1, 300 persons with
	// 100 each between them.
	write(t, s, `CREATE TABLE d.again AS SELECT CAST(i % 2 AS BIGINT) AS g, CAST(CASE WHEN i % 100 = 0 THEN 2 + i // 100 % 300 ELSE 1 END AS BIGINT) AS u,
		CAST(CASE WHEN i % 100 = 0 THEN i // 30000 ELSE hash(i) % 1000 END AS BIGINT) AS k FROM range(3000000) r(i)`)
	a := plan.Aggregate{Columns: []int{2}, Vector: &plan.Vector{Form: plan.Pairs, Dim: 1000}}
	in, err := taken(t, s, 2, plan.Scan{SQL: "SELECT g, u, k FROM d.again", Types: intPair, Rows: true}, a)
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(b *estimator.Block) (n int) {
		for _, c := range b.Chunks {
			n += len(c.Index)
		}
		return n
	}
	if n := numbers(inputOf(t, in, a, 0).Vectors); n != 1000+300*100 {
		t.Errorf("got %d pairs of group 0", n)
	}
	if n := numbers(inputOf(t, in, a, 1).Vectors); n != 1000 {
		t.Errorf("got %d pairs of group 1", n)
	}
}

// TestPairSet compares with a map, and follows what is held.
func TestPairSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, distinct := range []uint64{1, 63, 64, 65, 5000, 1 << 40} {
		memory, set, want := spillArea(t), pairSet{}, map[uint64]bool{}
		for range 200_000 {
			k := rng.Uint64N(distinct)
			want[k] = true
			if err := set.add(k, memory); err != nil {
				t.Fatal(err)
			}
			held := len(set.known)
			for _, r := range set.fresh {
				held += cap(r)
			}
			if held > 4*max(len(want), 2*firstPairs) {
				t.Fatalf("%d pairs of %d: %d are held", len(want), distinct, held)
			}
		}
		if got, err := set.sorted(memory); err != nil || !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("of %d: got %d pairs, want %d in order", distinct, len(got), len(want))
		}
	}
}

func TestSortKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2047, 2048, 30000} {
		for _, width := range []int{1, 11, 12, 33, 63} {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = rng.Uint64() >> (64 - width)
			}
			want := slices.Sorted(slices.Values(keys))
			if sortKeys(keys, make([]uint64, n)); !slices.Equal(keys, want) {
				t.Errorf("%d keys of %d bits are not sorted", n, width)
			}
		}
	}
}
