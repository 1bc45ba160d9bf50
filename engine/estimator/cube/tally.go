package cube

import "math"

// rowBits is the resolution of a person's vector of several rows: steps of 2^-12 rows.
const rowBits = 12

// mostSteps bounds the steps of one person in all cells together, so that the tables of 2^31
// persons stay within 63 bits. Vectors of numbers that are not under 0 are within it, but for those
// over very many cells.
const mostSteps = 1 << 32

// Entry is the number of rows that a person has in one cell, or what else is added up by cell, in
// multiples of one row that are not under 0 unless Params.Signed says so: what is under 0 then
// counts as 0. It is finite.
type Entry struct {
	Values []int // one for each dimension of the cube
	Rows   float64
}

// Tally adds one person to the tables: all rows of the person, each cell once.
//
// Where Params.Rows is 0, that is one Unit in the first cell with rows. Else the vector of the
// person's rows is multiplied by a factor of at most 1, rounded to the lattice, and its cost Σ over
// cells a, b of y_a·y_b·K[S] is compared with that of Rows rows in one cell, Rows²·K[all]: what
// decides is the lattice vector itself, with all that floats may be off added to its cost. So what
// the release costs does not depend on how the factor is found. Numbers of rows that are multiples
// of 2^-12 are not rounded where the vector is not shortened.
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
		if steps != 0 {
			c.Add(t, person[i].Values, steps)
		}
	}
}

// Length is what a person's vector costs, as the number of rows in one cell that cost the same. It
// is a function of the person's rows alone. Along dimensions of ranges cells differ, and it is that
// of the cheapest one, so that no row is shorter than 1.
func (c *Cube) Length(person []Entry) float64 {
	cost, _ := c.length2(person, c.rows(person))
	return math.Sqrt(max(0, cost) / c.cheapest)
}

// rows are a person's entries as they count.
func (c *Cube) rows(person []Entry) []float64 {
	rows := make([]float64, len(person))
	for i, e := range person {
		if rows[i] = e.Rows; !c.p.Signed {
			rows[i] = max(0, e.Rows)
		}
	}
	return rows
}

// shorten returns a person's steps by entry.
func (c *Cube) shorten(person []Entry) []int64 {
	rows, steps := c.rows(person), make([]int64, len(person))
	cost, _ := c.length2(person, rows)
	limit := float64(c.p.Rows) * float64(c.p.Rows) * c.k[c.p.all()]
	factor, total := 1.0, 0.0
	for _, x := range rows {
		total += math.Abs(x) * (1 << rowBits)
	}
	if cost > limit {
		factor = math.Sqrt(limit / cost)
	}
	if total*factor > mostSteps {
		factor = mostSteps / total
	}
	lattice := make([]float64, len(person))
	for {
		total = 0
		for i, x := range rows {
			lattice[i] = math.RoundToEven(x * factor * (1 << rowBits))
			steps[i] = int64(lattice[i])
			total += math.Abs(lattice[i])
		}
		cost, slack := c.length2(person, lattice)
		if total <= mostSteps && cost+slack <= limit*(1<<(2*rowBits)) {
			return steps
		}
		factor *= 1 - 0x1p-10
	}
}

// length2 is the cost of a vector of numbers by entry, and by how much at most it is off for the
// rounding of its terms: those of pairs of entries are no larger than K[all] each, those of tables
// together no larger than the sum of the sizes of their factors.
func (c *Cube) length2(person []Entry, y []float64) (cost, slack float64) {
	total, m := 0.0, float64(len(y))
	for _, x := range y {
		total += math.Abs(x)
	}
	if m*m > float64(c.Cells())*max(1, c.long) {
		cost = c.byTables(person, y)
	} else {
		cost = c.byPairs(person, y)
	}
	return cost, (m + 64 + c.long + float64(len(c.squares))) * 0x1p-50 * total * total * c.size
}

// byPairs is Σ y_a·y_b·K[S], in time in proportion to the square of the number of entries.
func (c *Cube) byPairs(person []Entry, y []float64) float64 {
	cost := 0.0
	for i, x := range y {
		row := 0.0
		for j, z := range y {
			if z != 0 {
				row += z * c.kernel(person[i].Values, person[j].Values)
			}
		}
		cost += x * row
	}
	return cost
}

// kernel is what a pair of cells has of the cost, K[S]; with dimensions of ranges R it is
//
//	Σ over Q ⊆ R of K_Q[S]·Π over i in Q of G_i[a_i, b_i]
//
// K_Q being K of the w_B of which Q is all that B has of R.
func (c *Cube) kernel(a, b []int) float64 {
	s := c.agree(a, b)
	if c.within == nil {
		return c.k[s]
	}
	sum := 0.0
	for q, k := range c.within {
		if k == nil {
			continue
		}
		x := k[s]
		for i := range Set(q).Dims() {
			r := c.ranges[i]
			x *= r.g[a[i]*r.n+b[i]]
		}
		sum += x
	}
	return sum
}

// byTables is Σ_S c_S·‖M_S y‖², in time in proportion to the cells of all sets, times the values of
// dimensions of ranges.
func (c *Cube) byTables(person []Entry, y []float64) float64 {
	cost := 0.0
	for _, s := range c.sets {
		table := make([]float64, c.Size(s))
		for i, x := range y {
			table[c.cell(s, person[i].Values)] += x
		}
		with, square := table, 0.0
		for i := range s.Dims() {
			if r := c.ranges[i]; r != nil {
				with = append([]float64(nil), with...)
				times(c.axis(s, i), r.g, with)
			}
		}
		for j, x := range table {
			square += x * with[j]
		}
		cost += c.squares[s] * square
	}
	return cost
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
