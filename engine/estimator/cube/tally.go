package cube

import "math"

// rowBits is the resolution of a person's vector of several rows: steps of 2^-12 rows.
const rowBits = 12

// Entry is the number of rows that a person has in one cell.
type Entry struct {
	Values []int // one for each dimension of the cube
	Rows   int64 // numbers under 0 count as 0
}

// Tally adds one person to the tables: all rows of the person, each cell once.
//
// Where Params.Rows is 0, that is one Unit in the first cell with rows. Else the vector of the
// person's rows is multiplied by a factor of at most 1, cut to the lattice, and its cost Σ over
// cells a, b of y_a·y_b·K[S] is compared with that of Rows rows in one cell, Rows²·K[all]: what
// decides is the lattice vector itself, with all that floats may be off added to its cost. So what
// the release costs does not depend on how the factor is found.
//
// Tables hold fewer than 2^50 rows: no person has more steps than 2^12 times the person's rows, and
// no sum passes 63 bits. It takes time in proportion to the square of the number of cells.
func (c *Cube) Tally(t Tables, person []Entry) {
	if c.p.Rows == 0 {
		for _, e := range person {
			if e.Rows > 0 {
				c.Add(t, e.Values, 1)
				return
			}
		}
		return
	}
	for i, steps := range c.shorten(person) {
		if steps > 0 {
			c.Add(t, person[i].Values, steps)
		}
	}
}

// shorten returns a person's steps by entry.
func (c *Cube) shorten(person []Entry) []int64 {
	rows, steps := make([]float64, len(person)), make([]int64, len(person))
	for i, e := range person {
		rows[i] = float64(max(0, e.Rows))
	}
	cost, _ := c.length2(person, rows)
	limit := float64(c.p.Rows) * float64(c.p.Rows) * c.k[c.p.all()]
	factor := 1.0
	if cost > limit {
		factor = math.Sqrt(limit / cost)
	}
	lattice := make([]float64, len(person))
	for {
		for i, x := range rows {
			lattice[i] = math.Floor(min(x*factor*(1<<rowBits), 1<<52))
			steps[i] = int64(lattice[i])
		}
		cost, slack := c.length2(person, lattice)
		if cost+slack <= limit*(1<<(2*rowBits)) {
			return steps
		}
		factor *= 1 - 0x1p-10
	}
}

// length2 is the cost of a vector of numbers by entry, none under 0, and by how much at most it is
// off for the rounding of its m² terms, of which none is larger than K[all].
func (c *Cube) length2(person []Entry, y []float64) (cost, slack float64) {
	total := 0.0
	for i, x := range y {
		row := 0.0
		for j, z := range y {
			if z > 0 {
				row += z * c.k[c.agree(person[i].Values, person[j].Values)]
			}
		}
		cost += x * row
		total += x
	}
	m := float64(len(y))
	return cost, (m + 64) * 0x1p-50 * total * total * c.k[c.p.all()]
}

// agree is the set of dimensions in which two cells agree.
func (c *Cube) agree(a, b []int) Set {
	s := Set(0)
	for i := range c.p.all().Dims() {
		if a[i] == b[i] {
			s |= 1 << i
		}
	}
	return s
}
