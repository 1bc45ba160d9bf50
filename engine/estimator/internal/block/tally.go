package block

// tally is the part of the views that one core has counted.
type tally struct {
	places
	counts [][buckets + 1]uint16 // of a few runs, last beyond the buckets; those of values that are kept start at keptBit
	runs   int
	totals [][buckets + 1]uint32
	far    [][]int64
	near   [][]int64
	list   []int32 // room for the coordinates of one vector
}

// places are where the buckets of the scopes lie, by themselves since they are read for each value.
type places struct {
	centres, origins []int64
	widths           []uint8
}

// keptBit marks the counts of values that are kept.
const (
	keptBit   = 1 << 15
	tallyRuns = (keptBit - 1) / runPersons // no count passes keptBit−1 in as many runs
)

// newTally has room for the values of about as many persons.
func newTally(views []view, persons float64) *tally {
	dim := len(views)
	t := &tally{
		places: places{make([]int64, dim), make([]int64, dim), make([]uint8, dim)},
		counts: make([][buckets + 1]uint16, dim), totals: make([][buckets + 1]uint32, dim),
		far: make([][]int64, dim), near: make([][]int64, dim), list: make([]int32, dim),
	}
	for j := range views {
		s := &views[j].scope
		t.centres[j], t.origins[j], t.widths[j] = s.centre, s.origin, uint8(s.width)
		t.near[j] = make([]int64, 0, int(persons*s.share*1.1))
		for k, kept := range s.kept {
			if kept {
				t.counts[j][k] = keptBit
			}
		}
		t.counts[j][buckets] = keptBit
	}
	return t
}

// makeRoom makes room for the counts of one more run.
func (t *tally) makeRoom() {
	if t.runs++; t.runs > tallyRuns {
		t.flush()
		t.runs = 1
	}
}

// flush moves the counts to the totals.
func (t *tally) flush() {
	for j := range t.counts {
		counts, totals := &t.counts[j], &t.totals[j]
		for k, c := range counts {
			totals[k] += uint32(c &^ keptBit)
			counts[k] = c & keptBit
		}
	}
}

// addValues counts the vectors in x. Which values are kept is as good as random, so it does not branch on that but
// lists a vector's coordinates to keep, and keeps them after.
func (t *tally) addValues(x []int64) {
	for dim := len(t.origins); len(x) > 0; x = x[dim:] {
		row, n := x[:dim], 0
		origins, widths := t.origins[:len(row)], t.widths[:len(row)]
		counts, list := t.counts[:len(row)], t.list[:len(row)]
		for j, v := range row {
			k := min(uint64(v-origins[j])>>(widths[j]&63), buckets)
			c := counts[j][k] + 1
			counts[j][k] = c
			list[n] = int32(j)
			n += int(c / keptBit)
		}
		for _, j := range list[:n] {
			t.keep(int(j), row[j])
		}
	}
}

// addDistances counts the distances of the vectors in x from the centre.
func (t *tally) addDistances(x []int64) {
	for dim := len(t.origins); len(x) > 0; x = x[dim:] {
		row, n := x[:dim], 0
		centres, origins, widths := t.centres[:len(row)], t.origins[:len(row)], t.widths[:len(row)]
		counts, list := t.counts[:len(row)], t.list[:len(row)]
		for j, v := range row {
			k := min(uint64(distance(v, centres[j])-origins[j])>>(widths[j]&63), buckets)
			c := counts[j][k] + 1
			counts[j][k] = c
			list[n] = int32(j)
			n += int(c / keptBit)
		}
		for _, j := range list[:n] {
			t.keep(int(j), distance(row[j], centres[j]))
		}
	}
}

// keep keeps a value.
func (t *tally) keep(j int, v int64) {
	if uint64(v-t.origins[j])>>t.widths[j] < buckets {
		t.near[j] = append(t.near[j], v)
	} else {
		t.far[j] = append(t.far[j], v)
	}
}

// distance returns |v − centre|, without a branch.
func distance(v, centre int64) int64 {
	v -= centre
	sign := v >> 63
	return v ^ sign - sign
}

// addTo adds the counts to the views: those of bucket k to less[k+1].
func (t *tally) addTo(views []view) {
	t.flush()
	for j := range views {
		v := &views[j]
		for k, c := range t.totals[j][:buckets] {
			v.less[k+1] += int64(c)
		}
		v.far, v.near = append(v.far, t.far[j]...), append(v.near, t.near[j])
	}
}
