package local

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/test/stattest"
)

// rotated is a collection of vectors: Gaussian ones, of covariance I, whose mean has half of the
// declared norm, in equal parts on all coordinates. Reports are drawn as the protocol's description
// has them, with randomisers that are made once a cell.
type rotated struct {
	d      int
	n      uint64
	eps    exact.Epsilon
	radius float64 // of the mean, declared
	option string
	signs  []byte
}

// typical is the setting of the published figures: the mean's norm is bounded by 20√d.
func typical(d int, n uint64, eps exact.Epsilon) rotated {
	return rotated{d: d, n: n, eps: eps, radius: 20 * math.Sqrt(float64(d)), signs: make([]byte, 32)}
}

func (v rotated) declaration() collect.Declaration {
	d := collect.Declaration{Epsilon: v.eps, Expected: v.n, Dimension: v.d, Centre: v.radius, Option: v.option}
	d.SigmaMin, d.SigmaMax = 0.1, v.radius/math.Sqrt(float64(v.d))
	if v.option == "gauss" {
		d.Delta = 1e-9
	}
	return d
}

// mean is a quarter of the declared bound.
func (v rotated) mean() []float64 {
	m := make([]float64, v.d)
	for j := range m {
		m[j] = v.radius / 4 / math.Sqrt(float64(v.d))
	}
	return m
}

func (v rotated) params(t testing.TB, round int, pub collect.Published) *collect.Params {
	t.Helper()
	g, err := collect.Plan("survey.vectors", "11111111-2222-4333-8444-555555555555", collect.LDPSCM3, v.declaration())
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Params(round, "", pub, nil, v.signs)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// crowd draws contributors and their reports.
type crowd struct {
	rotated
	values *rand.Rand
	coins  *exact.Rand
}

func (v rotated) crowd(t testing.TB, name string) crowd {
	v.signs = make([]byte, 32)
	r := rand.New(stattest.Source(t, name))
	binary.BigEndian.PutUint64(v.signs, r.Uint64()|1)
	return crowd{v, r, exact.New(stattest.Source(t, name+" coins"))}
}

// draw returns one contributor's vector.
func (c crowd) draw() []float64 {
	x := c.mean()
	for j := range x {
		x[j] += c.values.NormFloat64()
	}
	return x
}

// report fills the quotas of a round. vector draws a contributor's rotated vector.
func (c crowd) report(t testing.TB, p *collect.Params, vector func() []float64) *Tally {
	t.Helper()
	tally := NewTally(p)
	for _, cell := range p.Cells {
		send := c.sender(t, p, cell)
		for range cell.Quota {
			if err := tally.Add(cell.Cell, send(vector()), 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	return tally
}

// sender returns the randomiser of a cell, of rotated vectors.
func (c crowd) sender(t testing.TB, p *collect.Params, cell collect.Cell) func([]float64) []byte {
	t.Helper()
	switch cell.Randomiser {
	case collect.KRR:
		k, err := exact.NewKaryResponse(c.eps, cell.Domain)
		fatal(t, err)
		return func(x []float64) []byte {
			return binary.BigEndian.AppendUint16(nil, uint16(k.Randomize(c.coins, node(p, cell, x))))
		}
	case collect.OUE:
		u, err := exact.NewUnaryEncoding(c.eps, cell.Domain)
		fatal(t, err)
		report := make([]byte, u.Size())
		return func(x []float64) []byte {
			u.RandomizeTo(report, c.coins, node(p, cell, x))
			return report
		}
	case collect.DGAUSS:
		return c.gauss(p)
	}
	b, err := exact.NewBinaryResponse(c.eps)
	fatal(t, err)
	s, g := geometry.NewSphere(p.Fingerprint()), make([]float64, cell.Domain)
	report := make([]byte, seedBytes+1)
	return func(x []float64) []byte {
		seed := geometry.NewSeed(c.coins.Uint64(), c.coins.Uint64())
		s.GaussTo(g, seed)
		length, along := 0.0, 0.0
		for j := range x {
			y := x[j] - p.Published.Centre[j]
			length, along = length+y*y, along+y*g[j]
		}
		straight := c.values.Float64() < 0.5+0.5*min(1, math.Sqrt(length)/p.Published.Clip)
		copy(report, seed[:])
		report[seedBytes] = 0
		if b.Randomize(c.coins, straight == (along >= 0)) {
			report[seedBytes] = 1
		}
		return report
	}
}

// gauss is the randomiser of the Gaussian option, with rounded float noise: it has more than 10^5
// steps of deviation.
func (c crowd) gauss(p *collect.Params) func([]float64) []byte {
	step := p.Published.Clip / (65536 * math.Sqrt(float64(p.Derived.Padded)))
	sigma := math.Sqrt(2*65536*65536*float64(p.Derived.Padded)/p.Derived.Rho) * step
	return func(x []float64) []byte {
		y := append([]float64(nil), x...)
		geometry.Shift(y, p.Published.Centre)
		geometry.Clip(y, p.Published.Clip)
		var report []byte
		for _, v := range y {
			report = binary.BigEndian.AppendUint32(report, uint32(int32(math.Round((v+sigma*c.values.NormFloat64())/step))))
		}
		return report
	}
}

// node is where a rotated vector is at the level of a cell of round 1 or 2.
func node(p *collect.Params, cell collect.Cell, x []float64) uint64 {
	d := &p.Derived
	if p.Round == 1 {
		leaves := float64(uint64(1) << (2 * d.BoxLevels))
		leaf := min(max(math.Floor((x[cell.Coordinate]+d.Box)/(2*d.Box)*leaves), 0), leaves-1)
		return uint64(leaf) >> (2 * (d.BoxLevels - cell.Level))
	}
	length, centre := 0.0, 0.0
	for j := range x {
		y := x[j] - p.Published.Centre[j]
		length, centre = length+y*y, centre+p.Published.Centre[j]*p.Published.Centre[j]
	}
	first := 2 * d.Box / float64(uint64(1)<<(2*d.BoxLevels)) * math.Sqrt(float64(len(x)))
	growth := math.Pow((d.Ball+math.Sqrt(centre))/first, 1.0/63)
	bucket := uint64(0)
	if length = math.Sqrt(length); length > first {
		bucket = uint64(min(63, math.Ceil(math.Log(length/first)/math.Log(growth))))
	}
	return bucket >> (2 * (3 - cell.Level))
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run simulates the three rounds and returns the last round's parameters and its estimate.
func (c crowd) run(t testing.TB) (*collect.Params, Estimate) {
	t.Helper()
	rotation := geometry.NewRotation(c.d, c.signs)
	vector := func() []float64 { return rotation.Apply(c.draw()) }
	var pub collect.Published
	for round := 1; ; round++ {
		p := c.params(t, round, pub)
		tally := c.report(t, p, vector)
		if round == 3 {
			e, err := Decode(p, tally)
			fatal(t, err)
			return p, e
		}
		var err error
		pub, _, err = Publish(p, tally)
		fatal(t, err)
	}
}
