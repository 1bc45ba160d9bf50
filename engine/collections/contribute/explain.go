package contribute

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
)

// Explain says in plain words, and in numbers, what a report of a cell of verified parameters tells
// of a value: what is sent, with which probabilities, and what that means for the person.
func Explain(p *Params, cell uint32) (string, error) {
	c, ok := p.Cell(cell)
	if !ok {
		return "", fmt.Errorf("contribute: round %d of %.130q has no cell %d", p.Round, p.Collection, cell)
	}
	cost, err := CostOf(p)
	if err != nil {
		return "", err
	}
	info, _ := p.Protocol.Info()
	parts := []string{title(p, info, c), sent(p, c)}
	if info.Model == collect.Shuffle {
		parts = append(parts, shuffled(p, cost))
	} else {
		parts = append(parts, odds(p, cost))
	}
	null := "What counts for no value at all"
	parts = append(parts, fmt.Sprintf("%s (NULL) is %s: nobody can see who gave none.", null, numbers(p.Null())))
	return strings.Join(parts, "\n\n") + "\n", nil
}

func title(p *Params, info collect.Info, c collect.Cell) string {
	s := fmt.Sprintf("%s asks for %s: %s, round %d of %d", p.Collection, info.For, p.Protocol, p.Round, info.Rounds)
	if p.Stratum != "" {
		s += fmt.Sprintf(", stratum %q", p.Stratum)
	}
	return s + fmt.Sprintf(", cell %d of %d.\nFingerprint %x.", c.Cell, len(p.Cells), p.Fingerprint())
}

// odds says what ε means.
func odds(p *Params, cost Loss) string {
	eps := float64(cost.Epsilon) / epsilonUnit
	more := ""
	if declared := Epsilon(p.Declaration.Epsilon); cost.Epsilon > declared {
		more = fmt.Sprintf(", which is more than the epsilon of %v that the collection is declared with", declared)
	}
	s := fmt.Sprintf("It costs %v%s. Whatever the report says, it is at most %s times as likely for your value as for any other value. "+
		"Somebody who thought two values equally likely before is at most %s sure of one of them afterwards.",
		cost, more, significant(math.Exp(eps)), percent(1/(1+math.Exp(-eps))))
	if cost.Delta.Cmp(Delta{}) > 0 {
		s += fmt.Sprintf(" This fails with a probability of at most %v.", cost.Delta)
	}
	return s + " It holds against everybody, the server and the network included."
}

// shuffled says what (ε, δ) means where the shuffler is trusted.
func shuffled(p *Params, cost Loss) string {
	b := p.Batch
	eps := float64(cost.Epsilon) / epsilonUnit
	trust := "The shuffler and the server are said to be run by separate operators."
	if p.Declaration.Trust == "same_operator" {
		trust = "ONE operator runs the shuffler and the server: you trust this operator with your value."
	}
	return fmt.Sprintf("It costs %v. The server sees the messages of at least %d people, mixed; whatever it sees is at most %s times as likely for your value as "+
		"for any other, except with a probability of at most %v. Somebody who thought two values equally likely before is at most %s sure afterwards.\n"+
		"This holds if the shuffler mixes and does not collude with the server, and if at least %d of the people follow the protocol. "+
		"If the two collude, your value is NOT protected. %s",
		cost, b.Min, significant(math.Exp(eps)), cost.Delta, percent(1/(1+math.Exp(-eps))), b.Honest, trust)
}

// sent says what is sent.
func sent(p *Params, c collect.Cell) string {
	if c.Randomiser == collect.Bundle {
		return bundled(p)
	}
	bytes := collect.HeaderSize + c.PayloadSize()
	return fmt.Sprintf("What is sent, %d bytes: %s", bytes, payload(p, c))
}

func payload(p *Params, c collect.Cell) string {
	keep := float64(c.Keep) / (1 << 62)
	switch c.Randomiser {
	case collect.BitMean:
		lo, hi := window(p)
		return fmt.Sprintf("one bit. It is 1 with a probability that grows evenly from %s, for a value of %s or less, to %s, for %s or more.",
			percent(1-keep), significant(lo), percent(keep), significant(hi))
	case collect.BRR:
		return fmt.Sprintf("one bit: %s. It is the true one with a probability of %s, and the other one with %s.", side(p, c), percent(keep), percent(1-keep))
	case collect.KRR:
		return fmt.Sprintf("one of %d numbers: %s. It is the true one with a probability of %s, and each other one with %s.",
			c.Domain, where(p, c), percent(keep), percent((1-keep)/float64(c.Domain-1)))
	case collect.OUE:
		return fmt.Sprintf("%d bits, one for each answer to: %s. The bit of the true answer is 1 with a probability of 50.0 %%, each other one with %s.",
			c.Domain, where(p, c), percent(keep))
	case collect.HRR:
		return fmt.Sprintf("a random number below %d, and one bit of a fixed pattern that the number and the value pick (%s). "+
			"The bit is the true one with a probability of %s.", c.Domain, where(p, c), percent(keep))
	case collect.DLAP:
		return laplace(p, c)
	case collect.Sphere:
		return fmt.Sprintf("a random direction, drawn without regard to the value, and one bit: on which side of it the value lies, seen from the published centre; "+
			"values nearer to the centre toss a coin more often. The bit is the true one with a probability of %s.", percent(keep))
	}
	return gauss(p, c)
}

// window returns which values map to the ends of a one-bit mean.
func window(p *Params) (lo, hi float64) {
	d := &p.Declaration
	if p.Protocol == collect.LDPBit {
		return d.Lo, d.Hi
	}
	t, w := p.Published.Centre[0], p.Published.Width
	return d.Lo + (t-w)*d.SigmaMin, d.Lo + (t+w)*d.SigmaMin
}

// unit returns what positions of KV and UV are measured in.
func unit(p *Params) float64 {
	if s := p.Declaration.Sigma; s != 0 {
		return s
	}
	return p.Declaration.SigmaMin
}

// side says what a bit of binary randomised response means.
func side(p *Params, c collect.Cell) string {
	d := &p.Declaration
	if p.Protocol == collect.LDPKV2 {
		return "whether the value is at least " + significant(d.Lo+p.Published.Centre[0]*d.Sigma)
	}
	return fmt.Sprintf("whether the value lies in an even stretch, where stretches of %s follow one another from %s on", significant(4*d.Sigma), significant(d.Lo+float64(c.Offset)*d.Sigma))
}

// where says what the answers of a k-ary response or a unary code are.
func where(p *Params, c collect.Cell) string {
	d := &p.Declaration
	switch p.Protocol {
	case collect.LDPHier:
		return fmt.Sprintf("in which of %d equal parts of %s to %s the value lies", c.Domain, significant(d.Lo), significant(d.Hi))
	case collect.LDPHaar:
		return fmt.Sprintf("in which half of which of %d equal parts of %s to %s the value lies", c.Domain, significant(d.Lo), significant(d.Hi))
	case collect.LDPSCM3:
		if p.Round == 1 {
			return fmt.Sprintf("in which of %d equal parts coordinate %d of the vector lies, after a public rotation", c.Domain, c.Coordinate)
		}
		return fmt.Sprintf("in which of %d public ranges the vector's distance from the published centre lies", c.Domain)
	}
	width := math.Ldexp(unit(p), c.Level)
	return fmt.Sprintf("the stretch of %s that the value lies in, counted from %s in turns of 4", significant(width), significant(d.Lo))
}

func laplace(p *Params, c collect.Cell) string {
	lo, hi := window(p)
	scale := (hi - lo) / p.Declaration.Epsilon.Float()
	return fmt.Sprintf("one number: where the value lies between %s and %s, plus random noise. In the value's units the noise is beyond %s in either direction "+
		"with a probability of 50.0 %%, and beyond %s with 5.0 %%.", significant(lo), significant(hi), significant(scale*math.Ln2), significant(scale*math.Log(20)))
}

func gauss(p *Params, c collect.Cell) string {
	sigma := math.Sqrt(float64(p.GaussVariance())) * p.Published.Clip / (collect.GridRoot * math.Sqrt(float64(c.Domain)))
	return fmt.Sprintf("%d numbers: the vector as seen from the published centre, after a public rotation and shortened to a length of %s, plus random noise "+
		"with a standard deviation of %s on each.", c.Domain, significant(p.Published.Clip), significant(sigma))
}

// bundled says what a bundle is.
func bundled(p *Params) string {
	b := p.Batch
	if p.Tree() {
		return fmt.Sprintf("What is sent, to the shuffler: up to %d sealed messages of 64 bytes, always padded to the same length. %d of them say where the value lies; "+
			"the others are noise: each place is named by a noise message with a probability of %s.", p.Messages(), b.Levels, percent(float64(b.Flip)/(1<<32)))
	}
	return fmt.Sprintf("What is sent, to the shuffler: %d sealed messages of 64 bytes, each one of %d random shares. Any %d shares of a number tell nothing about it; "+
		"all together add up to the value plus this device's part of the noise.", p.Messages(), b.Shares, b.Shares-1)
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

func significant(x float64) string { return fmt.Sprintf("%.4g", x) }

func numbers(v Value) string {
	if len(v) == 1 {
		return significant(v[0])
	}
	if slices.ContainsFunc(v, func(x float64) bool { return x != v[0] }) {
		return fmt.Sprintf("the vector %.4g", []float64(v))
	}
	return fmt.Sprintf("a vector of %d times %s", len(v), significant(v[0]))
}

// Consent is what a person agrees to where a collection protects less than its model could.
type Consent string

// TrustedOperator agrees to a collection of the shuffle model of which one operator runs shuffler
// and server, "trust": "same_operator": whoever has both can read the value, so that it is
// protected against others only.
const TrustedOperator Consent = "trusted operator"

// Trusting tells whether parameters ask their contributors to trust one operator with their values.
func Trusting(p *Params) bool { return p.Declaration.Trust == "same_operator" }

// agreed refuses parameters whose person has not agreed to what they leave unprotected.
func agreed(p *Params, to []Consent) error {
	if !Trusting(p) || slices.Contains(to, TrustedOperator) {
		return nil
	}
	return refuse.New(refuse.CollectionParameter, "ONE operator runs the shuffler and the server of %.130q, and can read your value.", p.Collection).
		With("Nothing was made or sent. If you trust this operator with your value, agree: scrim randomize --accept-trusted-operator, in Go contribute.TrustedOperator.")
}

// Protected says in a few words against whom the report's value is protected.
func (r *Record) Protected() string {
	switch {
	case r.Trusted:
		return "others, NOT the operator"
	case r.Model() == collect.Shuffle:
		return "server or shuffler alone"
	}
	return "everybody"
}
