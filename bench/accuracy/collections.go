package accuracy

import (
	"fmt"

	"scrim/engine/estimator"
)

// The settings are those of [HLY21, section 6.2] and of [JKMW19], and settings of our own for what
// no paper has figures of. A person's value is exchanged for another, and losses are ε: the
// neighbours and the measure of the local model.

func collections() []Experiment {
	return []Experiment{hlyLocalDimension(), hlyLocalEpsilon(), hlyLocalRadius(), joseph(), otherCollections()}
}

const (
	sphere       = "ldp-scm3"
	gaussOption  = "ldp-scm3:option=gauss"
	shuffled     = "shuf-scm3"
	knownVar     = "known-var"
	unknownVar   = "unk-var"
	usersFloor   = "known-var:told=1"
	budgetFloor  = "known-var:told=1,split=budget"
	localNotes   = "N(mu, I), n = 100 000, every coordinate of mu is R/(4√d), spreads are declared to be from 0.1 to R/√d, δ = 1e-9 where there is one. "
	floorsNotes  = "`known-var` and `unk-var` divide the persons over the coordinates and take a quarter of them for each of what they have to find: the published numbers for that are over all that there are. With told=1 they know the mean, which is a floor of their error. "
	shuffleNotes = "`shuf-scm3` draws the noise of a batch at once, not device by device: the law is the same. It has a dash where 100 000 persons are too few for it: a coordinate is a batch of its own."
)

// localLine are the methods of [HLY21, Fig. 10 to 12] with the product's others.
var localLine = []string{"non-private", shuffled, sphere, gaussOption, knownVar, unknownVar, usersFloor}

func hlyLocal(name, title, claim string, p Panel, s []Shape) Experiment {
	e := Experiment{Name: name, Title: title, Claim: claim, Trials: 40, Relations: replaceOne, Epsilon: true, Costly: true, Most: map[string]int{shuffled: 6, gaussOption: 20},
		Notes: localNotes + floorsNotes + shuffleNotes, Panels: []Panel{p}, Shapes: s}
	for _, at := range p.Points {
		e.Versus = append(e.Versus, Versus{"Shifted-CM better than KnownVar", p.Name, at, sphere, []string{knownVar}, 1, ""},
			Versus{"KnownVar better than UnkVar", p.Name, at, knownVar, []string{unknownVar}, 1, ""},
			Versus{"sphere better than gauss", p.Name, at, sphere, []string{gaussOption}, 1, ""},
			Versus{"gauss better than KnownVar's floor", p.Name, at, gaussOption, []string{usersFloor}, 1, ""},
			Versus{"shuffled better than local", p.Name, at, shuffled, []string{sphere}, 1, ""})
	}
	return e
}

// reach adds figures that are to be reached within a share, by the point's position.
func (e Experiment) reach(method string, within float64, figures map[float64]float64) Experiment {
	p := e.Panels[0]
	for _, at := range p.Points {
		if x := figures[at.X]; x > 0 {
			e.Goals = append(e.Goals, Goal{p.Name, at, estimator.ReplaceOne, method, x, 0, within})
		}
	}
	return e
}

func hlyLocalDimension() Experiment {
	p := Panel{Name: "hly-fig10", Title: "N(mu, I), n = 100 000, ε = 1, R = 20√d", XLabel: "d", LogX: true, LogY: true, Methods: append(localLine[:len(localLine):len(localLine)], budgetFloor),
		Points: over("gaussian:n=100000,mu=5,r=20,d=%v", []float64{2, 4, 8, 16, 32}, 1),
		Quoted: []Quoted{quote("code: Shifted-CM", "2 1 0.0194; 8 1 0.0960; 32 1 0.325"), quote("code: KnownVar", "2 1 0.120; 8 1 0.641; 32 1 2.27"), quote("code: UnkVar", "2 1 0.230; 8 1 1.13; 32 1 56.2")}}
	e := hlyLocal("hly-fig10", "[HLY21] Fig. 10: local model, error against d, N(mu, I), n = 100 000, ε = 1, R = 20√d",
		"Shifted-CM is better than KnownVar, and KnownVar than UnkVar, in every dimension; all grow with d.", p,
		[]Shape{{p.Name, sphere, Grows, 0}, {p.Name, gaussOption, Grows, 0}, {p.Name, knownVar, Grows, 0}})
	e.Notes += " The quoted code spends ρ = ε²/2 in place of (ε, δ), all persons take part in every one of its ten rounds, and its KnownVar has noise without any δ."
	e = e.reach(sphere, 0.25, map[float64]float64{2: .038, 4: .059, 8: .128, 16: .245, 32: .536})
	e = e.reach(gaussOption, 0.25, map[float64]float64{2: .157, 4: .303, 8: .545, 16: 1.06, 32: 2.24})
	e = e.reach(shuffled, 0.25, map[float64]float64{8: .0124})
	e = e.reach(usersFloor, 0.25, map[float64]float64{8: 2.53})
	e = e.reach(budgetFloor, 0.25, map[float64]float64{8: 18})
	for _, at := range p.Points {
		e.Versus = append(e.Versus, Versus{"dividing persons better than dividing ε", p.Name, at, usersFloor, []string{budgetFloor}, 1, ""})
	}
	return e
}

func hlyLocalEpsilon() Experiment {
	p := Panel{Name: "hly-fig11", Title: "N(mu, I), n = 100 000, d = 8, R = 20√d", XLabel: "ε", LogX: true, LogY: true, Methods: localLine,
		Points: overRho("gaussian:n=100000,d=8,mu=5,r=20", 0.5, 1, 2, 4),
		Quoted: []Quoted{quote("code: Shifted-CM", "0.5 0.174; 1 0.0960; 2 0.0472"), quote("code: KnownVar", "0.5 0.993; 1 0.641; 2 0.243"), quote("code: UnkVar", "0.5 12.1; 1 1.13; 2 0.508")}}
	e := hlyLocal("hly-fig11", "[HLY21] Fig. 11: local model, error against ε, N(mu, I), n = 100 000, d = 8, R = 20√d", "The order is the same at every ε; all fall with ε.", p,
		[]Shape{{p.Name, sphere, Falls, 0}, {p.Name, gaussOption, Falls, 0}, {p.Name, knownVar, Falls, 0}})
	e = e.reach(sphere, 0.25, map[float64]float64{0.5: .255, 1: .128, 2: .074, 4: .065})
	return e.reach(gaussOption, 0.25, map[float64]float64{0.5: 1.15, 1: .545, 2: .291, 4: .160})
}

func hlyLocalRadius() Experiment {
	p := Panel{Name: "hly-fig12", Title: "N(mu, I), n = 100 000, d = 8, ε = 1", XLabel: "R/√d", LogX: true, LogY: true, Methods: localLine}
	for _, r := range []float64{5, 20, 50, 100} {
		p.Points = append(p.Points, Point{X: r, Data: fmt.Sprintf("gaussian:n=100000,d=8,mu=%v,r=%v", r/4, r), Rho: 1})
	}
	e := hlyLocal("hly-fig12", "[HLY21] Fig. 12: local model, error against R, N(mu, I), n = 100 000, d = 8, ε = 1", "Shifted-CM is nearly flat in R: R is in a logarithm only.", p,
		[]Shape{{p.Name, sphere, Flat, 0.15}, {p.Name, gaussOption, Flat, 0.15}})
	e.Trials, e.Most[gaussOption] = 100, 40
	e = e.reach(sphere, 0.25, map[float64]float64{5: .123, 20: .128, 100: .132})
	return e.reach(gaussOption, 0.25, map[float64]float64{5: .547, 20: .545, 100: .600})
}

// joseph has the protocols of [JKMW19] with both kinds of decoders, over n and over ε.
func joseph() Experiment {
	e := Experiment{Name: "joseph", Title: "[JKMW19]: mean of Gaussian numbers in the local model", Trials: 200, Relations: replaceOne, Epsilon: true, Costly: true,
		Claim: "With probability 1 − β the error is of the order of σ/ε·√(log(1/β)/n) for a known spread in two rounds, and √√(log n) times that in one; for an unknown spread √(log n) times it in two rounds, and " +
			"√log(σ_max/σ_min + 1)·log^¾(n) times it in one. KnownVar and UnkVar of [GRS19] have √(log(n/β)·log(1/δ)) times it.",
		Notes: "mu is uniform in [0, 1000σ], anew in every trial. UV are told that the spread is from σ/4 to 8σ. Closed forms are the forecasts that the product gives for free. " +
			"decoder=paper is what [JKMW19] prints: ESTMEAN needs 1681 reports a level at ε = 1, ESTVAR 13 600, and with fewer they miss or refuse."}
	methods := []string{"non-private", "ldp-kv2", "ldp-kv2:decoder=paper", "ldp-kv1", "ldp-uv2", "ldp-uv2:mode=laplace", "ldp-uv2:decoder=paper", "ldp-uv1", knownVar, unknownVar}
	e.Most = map[string]int{methods[2]: 50, methods[5]: 100, methods[6]: 50, knownVar: 50, unknownVar: 50}
	const within = 0.15
	e.Panels = []Panel{
		{Name: "joseph-n", Title: "N(mu, σ²), ε = 1", XLabel: "n", LogX: true, LogY: true, Methods: methods, Within: within, Points: over("anywhere:n=%v", []float64{20000, 100000, 200000}, 1)},
		{Name: "joseph-eps", Title: "N(mu, σ²), n = 100 000", XLabel: "ε", LogX: true, LogY: true, Methods: methods, Within: within, Points: overRho("anywhere:n=100000", 0.5, 1, 2, 4)},
		{Name: "joseph-skewed", Title: "exponential numbers, n = 100 000, ε = 1", Methods: []string{"non-private", "ldp-kv2", "ldp-kv1", "ldp-uv2", "ldp-uv1"},
			Points: []Point{{Label: "exponential", Data: "anywhere:n=100000,law=exponential", Rho: 1}}},
	}
	e.Versus = append(e.Versus, Versus{"skewed data: the truncated mean better than likelihood", "joseph-skewed", e.Panels[2].Points[0], "ldp-uv2", []string{"ldp-uv1"}, 1, ""})
	for _, p := range e.Panels[:2] {
		for _, at := range p.Points {
			e.Versus = append(e.Versus, Versus{"better than KnownVar", p.Name, at, "ldp-kv2", []string{knownVar}, 1, ""},
				Versus{"better than UnkVar", p.Name, at, "ldp-uv2", []string{unknownVar}, 1, ""})
		}
	}
	return e
}

// otherCollections are the protocols without a figure of a paper.
func otherCollections() Experiment {
	e := Experiment{Name: "collections", Title: "Bounded numbers, ranges and quantiles in the local and the shuffle model", Trials: 100, Relations: replaceOne, Epsilon: true, Costly: true,
		Notes: "Beta(2, 4) numbers in [0, 1], ε = 1, δ = 1e-9 for the shuffle model. Errors are to the sample's own value: what randomisation adds. " +
			"Ranges are the shares below 15 points that no node of a tree ends at, quantiles are those of 0.1, 0.25, 0.5, 0.75 and 0.9 by their rank in the sample; both as a root mean square. Devices of sums are real ones, message by message; those of trees and vectors draw a batch's noise at once."}
	e.Most = map[string]int{"shuf-hier": 15, "shuf-hier:ask=quantile": 15, "shuf-vec": 40}
	points := func(spec string, sizes ...float64) []Point { return over(spec, sizes, 1) }
	e.Panels = []Panel{
		{Name: "collections-mean", Title: "Means", XLabel: "n", LogX: true, LogY: true, Metric: L2Sample, Within: 0.15, Methods: []string{"ldp-bit", "shuf-sum"}, Points: points("unit:n=%v", 1000, 4000)},
		{Name: "collections-vector", Title: "Means of vectors, d = 4", XLabel: "n", LogX: true, LogY: true, Metric: L2Sample, Within: 0.15, Methods: []string{"shuf-vec"}, Points: points("unit:d=4,n=%v", 10000, 100000)},
		{Name: "collections-range", Title: "Ranges", XLabel: "n", LogX: true, LogY: true, Metric: L2Sample, Within: 0.20,
			Methods: []string{"ldp-hier", "ldp-hier:levels=3", "ldp-haar", "shuf-hier"}, Points: points("unit:n=%v", 20000, 100000)},
		{Name: "collections-quantile", Title: "Quantiles", XLabel: "n", LogX: true, LogY: true, Metric: L2Sample,
			Methods: []string{"ldp-hier:ask=quantile", "ldp-haar:ask=quantile", "shuf-hier:ask=quantile"}, Points: points("unit:n=%v", 20000, 100000),
			Quoted: []Quoted{quote("designed: ldp-hier", "100000 1 0.002–0.016")}},
	}
	return e
}
