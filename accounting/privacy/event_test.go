package privacy

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"scrim/accounting/internal/codec"
)

func TestEventsReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 300 {
		var events []Event
		for range r.IntN(5) {
			e := randomEvent(r, -20)
			e.DeltaEvent, e.DeltaTV = r.Float64(), math.Exp2(-r.Float64()*900)
			events = append(events, e)
		}
		b := AppendEvents(nil, events)
		d := codec.NewDecoder(b)
		if got := ReadEvents(d); !reflect.DeepEqual(got, events) || d.Bad || d.Left() {
			t.Fatalf("%+v reads back as %+v", events, got)
		}
		for cut := range b { // what is cut off does not decode
			if d := codec.NewDecoder(b[:cut]); ReadEvents(d) != nil && !d.Bad {
				t.Fatalf("%+v cut to %d of %d bytes decodes", events, cut, len(b))
			}
		}
	}
}

func TestEventChecks(t *testing.T) {
	good := Event{Kind: DiscreteLaplace, Epsilon: 1, Steps: 1, Count: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, e := range map[string]Event{
		"zero":                  {},
		"unknown kind":          {Kind: 99, Rho: 1, Count: 1},
		"no count":              {Kind: Gaussian, Rho: 1},
		"Gaussian without rho":  {Kind: Gaussian, Count: 1},
		"Gaussian with epsilon": {Kind: Gaussian, Rho: 1, Epsilon: 1, Count: 1},
		"Laplace with rho":      {Kind: Laplace, Rho: 1, Epsilon: 1, Count: 1},
		"Laplace without":       {Kind: Laplace, Count: 1},
		"Laplace with steps":    {Kind: Laplace, Epsilon: 1, Steps: 1, Count: 1},
		"lattice without steps": {Kind: DiscreteLaplace, Epsilon: 1, Count: 1},
		"threshold without":     {Kind: Threshold, Count: 1},
		"threshold of NaN":      {Kind: Threshold, DeltaEvent: math.NaN(), Count: 1},
		"slack above 1":         {Kind: Gaussian, Rho: 1, DeltaTV: 1.5, Count: 1},
		"rho above the largest": {Kind: Gaussian, Rho: MaxRho + 1, Count: 1},
		"epsilon above":         {Kind: Laplace, Epsilon: MaxPure + 1, Count: 1},
	} {
		if e.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
		if d := codec.NewDecoder(e.append(nil)); e.Check() != nil {
			if ReadEvent(d); !d.Bad {
				t.Errorf("%s: decodes", name)
			}
		}
	}
}

// TestEventLoss: what an event is charged as bounds its curve at every order.
func TestEventLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 300 {
		e := randomEvent(r, -8)
		l, c := e.Loss(), e.Curve()
		for i, beta := range curveOrders[:len(curveOrders)-1] {
			if d := c.other[i].floatUp() + c.rho.Float()*(1+beta); d > l.Rho.FloatUp()*(1+beta)*(1+1e-9)+1e-12 {
				t.Errorf("%+v: divergence %v at order %v, above that of rho %v", e, d, 1+beta, l.Rho.Float())
			}
		}
		if e.Epsilon > 0 && l.Pure != e.Epsilon*Pure(e.Count) {
			t.Errorf("%+v: pure epsilon %v", e, l.Pure.Float())
		}
	}
}

func TestEventsOfLoss(t *testing.T) {
	for _, l := range []Loss{
		{}, {Rho: 5}, {Rho: RhoOf(0.1), Pure: PureOf(0.4)}, {DeltaEvent: 1e-9}, {DeltaTV: 1e-30}, {Rho: 7, DeltaEvent: 1e-9, DeltaTV: 1e-30},
	} {
		var sum Loss
		for _, e := range EventsOf(l) {
			if err := e.Check(); err != nil {
				t.Errorf("%+v: %v", l, err)
			}
			sum = sum.Add(e.Loss())
		}
		if l.Rho == 0 && l.DeltaTV > 0 {
			l.Rho = 1
		}
		if sum != l {
			t.Errorf("events of %+v have loss %+v", l, sum)
		}
	}
}

// TestAppendEvent: a list with like events joined has the same curve, and no event twice.
func TestAppendEvent(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	var apart, joined []Event
	for range 40 {
		e := Event{Kind: Exponential, Epsilon: Pure(1 + r.IntN(3)), Count: 1 + r.Uint32N(5)}
		if r.IntN(2) == 0 {
			e = Event{Kind: DiscreteGaussian, Rho: Rho(1 + r.IntN(3)), Count: 1 + r.Uint32N(5)}
		}
		apart, joined = append(apart, e), AppendEvent(joined, e)
	}
	var a, b Loss
	for _, e := range apart {
		a = a.Add(e.Loss())
	}
	for _, e := range joined {
		b = b.Add(e.Loss())
	}
	if len(joined) != 6 || a != b {
		t.Errorf("%d events, loss %+v, apart %+v", len(joined), b, a)
	}
	full := []Event{{Kind: Gaussian, Rho: 1, Count: math.MaxUint32}}
	if got := AppendEvent(full, Event{Kind: Gaussian, Rho: 1, Count: 1}); len(got) != 2 {
		t.Errorf("a count ran over: %+v", got)
	}
}
