package block

// tally is the part of the views that one core has counted.
type tally struct {
	places
	counts [][buckets + 1]uint16 // of a few runs, last beyond the buckets; those of values that are kept start at keptBit
	runs   int
	totals [][buckets + 1]uint32
	far    [][]int64
	near   [][]int64
	list   [group]uint8 // room for the coordinates of one vector
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
		far: make([][]int64, dim), near: make([][]int64, dim),
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

// group is how many coordinates are counted at a time: their counts stay near the core.
const group = 128

// add counts the vectors in x: their values, or their distances from the centre.
func (t *tally) add(x []int64, distances bool) {
	for from := 0; from < len(t.origins); from += group {
		if to := min(from+group, len(t.origins)); distances {
			t.addDistances(x, from, to)
		} else {
			t.addValues(x, from, to)
		}
	}
}

// addValues counts some coordinates of the vectors in x. Which values are kept is as good as random, so it does not branch on that
// but lists a vector's coordinates to keep, and keeps them after.
func (t *tally) addValues(x []int64, from, to int) {
	for at := from; at < len(x); at += len(t.origins) {
		row, n := x[at:at+to-from], 0
		origins, widths := t.origins[from:][:len(row)], t.widths[from:][:len(row)]
		counts, list := t.counts[from:][:len(row)], t.list[:len(row)]
		for j, v := range row {
			k := min(uint64(v-origins[j])>>(widths[j]&63), buckets)
			c := counts[j][k] + 1
			counts[j][k] = c
			list[n] = uint8(j)
			n += int(c / keptBit)
		}
		for _, j := range list[:n] {
			t.keep(from+int(j), row[j])
		}
	}
}

// addDistances counts the distances of some coordinates of the vectors in x from the centre.
func (t *tally) addDistances(x []int64, from, to int) {
	for at := from; at < len(x); at += len(t.origins) {
		row, n := x[at:at+to-from], 0
		centres, origins, widths := t.centres[from:][:len(row)], t.origins[from:][:len(row)], t.widths[from:][:len(row)]
		counts, list := t.counts[from:][:len(row)], t.list[:len(row)]
		for j, v := range row {
			k := min(uint64(distance(v, centres[j])-origins[j])>>(widths[j]&63), buckets)
			c := counts[j][k] + 1
			counts[j][k] = c
			list[n] = uint8(j)
			n += int(c / keptBit)
		}
		for _, j := range list[:n] {
			t.keep(from+int(j), distance(row[j], centres[j]))
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
