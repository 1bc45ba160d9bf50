package privacy

import (
	"encoding/binary"
	"math"

	"scrim/accounting/internal/codec"
	"scrim/accounting/internal/invalid"
)

// EventKind is a kind of mechanism, as far as its privacy loss goes. The numbers are part of the
// file format.
type EventKind uint8

// The kinds. What each says of Rho and Epsilon is for one run and for adding or removing one unit,
// or for whatever neighbours the charge is stated for.
const (
	// Rho: ρ-zCDP and nothing more is known; with Epsilon, the run is (ε, 0)-DP as well
	ZCDP EventKind = iota + 1
	// Rho: Gaussian noise on a statistic of ℓ2 sensitivity σ·√2ρ
	// that was not discretised or was by post-processing, as rounding is
	Gaussian
	DiscreteGaussian // Rho: discrete Gaussian noise [CKS20], the same
	// Epsilon: Laplace noise of scale Δ₁/ε, one number or a vector of ℓ1 sensitivity Δ₁
	Laplace
	// Epsilon: discrete Laplace noise of scale Δ₁/ε; Steps: Δ₁, in steps of the lattice, or less
	DiscreteLaplace
	// Epsilon: a choice whose law is ε-bounded-range, such as the exponential mechanism [CR21]
	Exponential
	// Epsilon: any (ε, 0)-DP mechanism: randomised response is the worst
	RandomizedResponse
	// DeltaEvent alone: what noise passes a threshold although nobody but the unit is there
	Threshold
	// Rho: Gaussian noise and choices of a bounded range, which share ρ in whatever way, for each
	// pair of neighbours in another one
	NoiseAndChoices
)

// kinds gives the words that the ledger shows, and what an event of the kind has.
var kinds = [...]struct {
	name         string
	rho, epsilon bool
}{
	ZCDP:               {"zcdp", true, false},
	Gaussian:           {"gaussian", true, false},
	DiscreteGaussian:   {"discrete-gaussian", true, false},
	Laplace:            {"laplace", false, true},
	DiscreteLaplace:    {"discrete-laplace", false, true},
	Exponential:        {"exponential", false, true},
	RandomizedResponse: {"randomized-response", false, true},
	Threshold:          {"threshold", false, false},
	NoiseAndChoices:    {"noise-and-choices", true, false},
}

// String returns the word that the ledger shows.
func (k EventKind) String() string {
	if int(k) < len(kinds) && kinds[k].name != "" {
		return kinds[k].name
	}
	return "unknown"
}

// Event is Count runs of one mechanism, one after the other, with parameters that are fixed before
// the first. The parameters are those of one run, exact: no conversion between kinds has rounded
// them.
type Event struct {
	Kind       EventKind
	Rho        Rho     // see the kinds; 0 where the kind has none
	Epsilon    Pure    // see the kinds; 0 where the kind has none
	Steps      uint64  // DiscreteLaplace: Δ₁ in steps of the lattice, at least 1; 0 for the others
	DeltaEvent float64 // slack of one run, as in Loss
	DeltaTV    float64
	Count      uint32 // of runs, at least 1
}

// Check refuses an event that is none.
func (e Event) Check() error {
	if e.Kind.String() == "unknown" {
		return invalid.New("event of unknown kind %d", e.Kind)
	}
	k := kinds[e.Kind]
	switch {
	case e.Count == 0:
		return invalid.New("%s event: want a count of at least 1", k.name)
	case (e.Rho > 0) != k.rho:
		return invalid.New("%s event: rho does not suit the kind, have %v", k.name, e.Rho.Float())
	case (e.Epsilon > 0) != k.epsilon && e.Kind != ZCDP:
		return invalid.New("%s event: epsilon does not suit the kind, have %v", k.name, e.Epsilon.Float())
	case (e.Steps > 0) != (e.Kind == DiscreteLaplace):
		return invalid.New("%s event: steps do not suit the kind, have %d", k.name, e.Steps)
	case e.Epsilon > MaxPure:
		return invalid.New("%s event: want an epsilon of at most %v, have %v", k.name, MaxPure.Float(), e.Epsilon.Float())
	case e.Kind == Threshold && !(e.DeltaEvent > 0):
		return invalid.New("threshold event: want a delta above 0, have %v", e.DeltaEvent)
	}
	return Loss{Rho: max(e.Rho, 1), DeltaEvent: e.DeltaEvent, DeltaTV: e.DeltaTV}.Check()
}

// Loss returns what the event is charged as: the loss of all its runs.
func (e Event) Loss() Loss {
	one := Loss{DeltaEvent: e.DeltaEvent, DeltaTV: e.DeltaTV, Rho: e.Rho}
	switch eps := float64(e.Epsilon.Epsilon()); e.Kind {
	case Exponential:
		one.Rho = BoundedRangeLoss(eps).Rho
	case Laplace, DiscreteLaplace, RandomizedResponse:
		one.Rho = PureLoss(eps).Rho
	}
	if one.DeltaEvent == 0 && one.DeltaTV == 0 {
		one.Pure = e.Epsilon
	}
	return one.Times(int(e.Count))
}

// EventsOf returns what is known of a loss whose mechanisms are not: one event of it, none of no
// loss.
func EventsOf(l Loss) []Event {
	switch {
	case l == Loss{}:
		return nil
	case l.Rho > 0:
		return []Event{{Kind: ZCDP, Rho: l.Rho, Epsilon: l.Pure, DeltaEvent: l.DeltaEvent, DeltaTV: l.DeltaTV, Count: 1}}
	case l.DeltaEvent > 0:
		return []Event{{Kind: Threshold, DeltaEvent: l.DeltaEvent, DeltaTV: l.DeltaTV, Count: 1}}
	}
	// no kind is total-variation slack alone; 2^-40 is nothing
	return []Event{{Kind: ZCDP, Rho: 1, DeltaTV: l.DeltaTV, Count: 1}}
}

// AppendEvent adds an event to a list: to the count of one that is the same, where there is one.
func AppendEvent(list []Event, e Event) []Event {
	for i := range list {
		same := list[i]
		same.Count = e.Count
		if same == e && list[i].Count <= math.MaxUint32-e.Count {
			list[i].Count += e.Count
			return list
		}
	}
	return append(list, e)
}

// append encodes the event: kind u8, then uvarints ρ, ε, steps and count, then the two δ as f64.
func (e Event) append(b []byte) []byte {
	b = append(b, byte(e.Kind))
	for _, v := range [...]uint64{uint64(e.Rho), uint64(e.Epsilon), e.Steps, uint64(e.Count)} {
		b = binary.AppendUvarint(b, v)
	}
	return codec.AppendFloat(codec.AppendFloat(b, e.DeltaEvent), e.DeltaTV)
}

// AppendEvents encodes a list: its length as uvarint, then each.
func AppendEvents(b []byte, events []Event) []byte {
	b = binary.AppendUvarint(b, uint64(len(events)))
	for _, e := range events {
		b = e.append(b)
	}
	return b
}

// event is Event.append's inverse. It refuses what is no event.
func ReadEvent(d *codec.Decoder) Event {
	e := Event{
		Kind: EventKind(d.Byte()), Rho: Rho(d.Uvarint()), Epsilon: Pure(d.Uvarint()), Steps: d.Uvarint(),
	}
	count := d.Uvarint()
	e.Count, e.DeltaEvent, e.DeltaTV = uint32(count), d.Float(), d.Float()
	d.Bad = d.Bad || count > math.MaxUint32 || e.Check() != nil
	return e
}

// encodedEvent is the encoding of an event, which may be none.
func SkipEvent(d *codec.Decoder) []byte {
	from := d.At()
	d.Take(1)
	for range 4 {
		d.Uvarint()
	}
	d.Take(8 + 8)
	return d.Since(from)
}

// events is appendEvents' inverse.
func ReadEvents(d *codec.Decoder) []Event {
	var list []Event
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		list = append(list, ReadEvent(d))
	}
	return list
}
