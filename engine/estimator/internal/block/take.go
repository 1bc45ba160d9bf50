package block

import "sync"

// window says which entries of a coordinate are inside an interval: those with v − from < size as unsigned numbers, where v is
// x − centre, or its absolute value.
type window struct {
	j            int
	centre, from int64
	size         uint64
}

// take takes the values of the persons inside the intervals of some coordinates out of the block.
func (s *search) take(coordinates []int) {
	windows := make([]window, len(coordinates))
	for k, j := range coordinates {
		w := &windows[k]
		from, to := s.bounds(&s.at[j])
		w.j, w.from, w.size = j, from, uint64(to)-uint64(from)
		if s.centre != nil {
			w.centre = s.centre[j]
		}
		s.at[j].taken, s.at[j].values = true, nil
	}
	rs := runs(s.b)
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own := make([][]int64, len(windows))
		for k, ok := next(); ok; k, ok = next() {
			s.inside(own, rs[k].rows(s.b.Dim), windows)
		}
		mu.Lock()
		defer mu.Unlock()
		for k, values := range own {
			a := &s.at[windows[k].j]
			a.values = append(a.values, values...)
		}
	})
}

// inside appends the values, or distances, of the vectors x that are inside the windows.
func (s *search) inside(found [][]int64, x []int64, windows []window) {
	distance := int64(0)
	if s.centre != nil {
		distance = -1
	}
	for ; len(x) > 0; x = x[s.b.Dim:] {
		row := x[:s.b.Dim]
		for k := range windows {
			w := &windows[k]
			v := row[w.j] - w.centre
			sign := v >> 63 & distance
			if v = v ^ sign - sign; uint64(v-w.from) < w.size {
				found[k] = append(found[k], v)
			}
		}
	}
}
