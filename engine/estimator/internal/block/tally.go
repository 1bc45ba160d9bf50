package block

// tally is the part of the views that one core has counted.
type tally struct {
	places []place
	counts [][buckets]uint32 // those of buckets that are kept start at keptBit
	far    [][]int64
	near   [][]int64
}

// place is where a scope's buckets lie, by itself since it is read for each value.
type place struct {
	centre, origin int64
	width          uint
}

// keptBit marks the counts of buckets whose values are kept; a core counts fewer than 2^31 persons.
const keptBit = 1 << 31

// newTally has room for the values of about as many persons.
func newTally(views []view, persons float64) *tally {
	dim := len(views)
	t := &tally{make([]place, dim), make([][buckets]uint32, dim), make([][]int64, dim), make([][]int64, dim)}
	for j := range views {
		s := &views[j].scope
		t.places[j] = place{s.centre, s.origin, s.width}
		t.near[j] = make([]int64, 0, int(persons*s.share*1.1))
		for k, kept := range s.kept {
			if kept {
				t.counts[j][k] = keptBit
			}
		}
	}
	return t
}

// values counts the vectors in x.
func (t *tally) values(x []int64) {
	for dim := len(t.places); len(x) > 0; x = x[dim:] {
		row := x[:dim]
		places, counts := t.places[:len(row)], t.counts[:len(row)]
		for j, v := range row {
			p := &places[j]
			k := uint64(v-p.origin) >> (p.width & 63)
			if k >= buckets {
				t.far[j] = append(t.far[j], v)
				continue
			}
			c := counts[j][k] + 1
			counts[j][k] = c
			if c >= keptBit {
				t.near[j] = append(t.near[j], v)
			}
		}
	}
}

// distances counts the distances of the vectors in x from the centre.
func (t *tally) distances(x []int64) {
	for dim := len(t.places); len(x) > 0; x = x[dim:] {
		row := x[:dim]
		places, counts := t.places[:len(row)], t.counts[:len(row)]
		for j, v := range row {
			p := &places[j]
			v -= p.centre
			sign := v >> 63
			v = v ^ sign - sign
			k := uint64(v-p.origin) >> (p.width & 63)
			if k >= buckets {
				t.far[j] = append(t.far[j], v)
				continue
			}
			c := counts[j][k] + 1
			counts[j][k] = c
			if c >= keptBit {
				t.near[j] = append(t.near[j], v)
			}
		}
	}
}

// addTo adds the counts to the views: those of bucket k to less[k+1].
func (t *tally) addTo(views []view) {
	for j := range views {
		v := &views[j]
		for k, c := range t.counts[j] {
			v.less[k+1] += int64(c &^ keptBit)
		}
		v.far, v.near = append(v.far, t.far[j]...), append(v.near, t.near[j])
	}
}
