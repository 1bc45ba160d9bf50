package accuracy

import (
	"fmt"
	"math"
	"strings"
)

// The settings are those of [HLY21, section 6.1] and of the authors' published code. Columns quoted
// as "code" were measured with that code, or a faster version of it with the same law; the paper
// itself prints plots only.

// lineUp are the methods of [HLY21, Fig. 1 and 2] with the product's others. COINPRESS is told that
// Σ is at most I.
var lineUp = []string{"non-private", "auto", "clipped", "shifted", "shifted-rotated", "plan",
	"coinpress:t=1,sigma=1", "coinpress:t=2,sigma=1", "coinpress:t=4,sigma=1", "coinpress:t=10,sigma=1"}

func huangLiangYi() []Experiment {
	return []Experiment{hlyDimension(), hlyRho(), hlyKappa(), hlyCovariance(), hlyRadius(), hlyDigits(), hlyQuantile()}
}

func hlyDimension() Experiment {
	e := Experiment{Name: "hly-fig1", Title: "[HLY21] Fig. 1: error against d, N(mu, I), n = 4000, ρ = 0.5, R = 50√d", Trials: 100, Relations: replaceOne,
		Claim: "Shifted-CM is at least as good as COINPRESS with the best number of rounds, and is not affected by mu; clipping without the shift is."}
	quotes := map[float64][]Quoted{
		0: {quote("code: Shifted-CM", "16 0.5 0.0657; 64 0.5 0.136; 256 0.5 0.315; 1024 0.5 0.861"),
			quote("code: COINPRESS t=10", "16 0.5 0.0645; 64 0.5 0.135; 256 0.5 0.303; 1024 0.5 0.822")},
		5: {quote("code: Shifted-CM", "16 0.5 0.0623; 64 0.5 0.137; 256 0.5 0.320; 1024 0.5 0.864"),
			quote("code: COINPRESS t=10", "16 0.5 0.0609; 64 0.5 0.134; 256 0.5 0.307; 1024 0.5 0.812")},
		10: {quote("code: Shifted-CM", "16 0.5 0.0697; 64 0.5 0.135; 256 0.5 0.314; 1024 0.5 0.861"),
			quote("code: COINPRESS t=10", "16 0.5 0.0682; 64 0.5 0.137; 256 0.5 0.303; 1024 0.5 0.809")},
	}
	for _, mu := range []float64{0, 5, 10} {
		e.Panels = append(e.Panels, Panel{Name: "hly-fig1-mu" + number(mu), Title: "mu = " + number(mu), XLabel: "d", LogX: true, LogY: true,
			Points: over(fmt.Sprintf("gaussian:n=4000,mu=%g,r=50,d=%%v", mu), []float64{16, 64, 256, 1024}, 0.5), Methods: lineUp, Quoted: quotes[mu]})
	}
	return e
}

func hlyRho() Experiment {
	e := Experiment{Name: "hly-fig2", Title: "[HLY21] Fig. 2: error against ρ, N(mu, I), n = 4000, d = 128, R = 50√d", Trials: 100, Relations: replaceOne,
		Claim: "As Fig. 1, at every ρ = ε²/2, ε = 0.1, 0.3, 0.5, 0.7, 1."}
	quotes := map[float64][]Quoted{
		0: {quote("code: Shifted-CM", "0.005 1.76; 0.045 0.362; 0.125 0.259; 0.5 0.200"),
			quote("code: COINPRESS t=10", "0.005 1.09; 0.045 0.364; 0.125 0.251; 0.5 0.200")},
		10: {quote("code: Shifted-CM", "0.005 2.07; 0.045 0.364; 0.125 0.263; 0.5 0.201"),
			quote("code: COINPRESS t=10", "0.005 1.09; 0.045 0.355; 0.125 0.256; 0.5 0.201")},
	}
	for _, mu := range []float64{0, 5, 10} {
		e.Panels = append(e.Panels, Panel{Name: "hly-fig2-mu" + number(mu), Title: "mu = " + number(mu), XLabel: "ρ", LogX: true, LogY: true,
			Points: overRho(fmt.Sprintf("gaussian:n=4000,d=128,r=50,mu=%g", mu), 0.005, 0.045, 0.125, 0.245, 0.5), Methods: lineUp, Quoted: quotes[mu]})
	}
	return e
}

func hlyKappa() Experiment {
	e := Experiment{Name: "hly-fig3", Title: "[HLY21] Fig. 3: error against d, N(0, Σ(κ)), n = 4000, ρ = 0.5, R = 100√d", Trials: 50, Relations: replaceOne,
		Claim: "Where Σ is not I, Shifted-CM is significantly better than COINPRESS and close to the non-private mean.",
		Notes: "The paper has 100 trials. COINPRESS runs twice: with Σ = I assumed, as in the paper, and told the true bound κ."}
	methods := []string{"non-private", "auto", "shifted", "shifted-rotated", "plan", "coinpress:t=2,sigma=1", "coinpress:t=4,sigma=1", "coinpress:t=10,sigma=1", "coinpress:t=4", "coinpress:t=10"}
	for _, kappa := range []float64{10, 100, 1000} {
		e.Panels = append(e.Panels, kappaPanel("hly-fig3", kappa, []float64{16, 64, 256, 1024}, methods))
	}
	return e
}

func hlyCovariance() Experiment {
	e := Experiment{Name: "hly-fig4", Title: "[HLY21] Fig. 4: COINPRESS with an estimated covariance, N(0, Σ(κ)), n = 4000, ρ = 0.5, R = 100√d", Trials: 30, Relations: replaceOne,
		Claim: "Estimating Σ first helps COINPRESS in low dimensions; the gain vanishes as d grows.",
		Notes: "30 trials and d up to 256 instead of 100 and 1024: the covariance costs n·d² a round. " +
			"It is told that spreads are at most 10, as in the published code, or √κ where that is more. " +
			"It refuses where the noise would be larger than the covariance, which is where the paper sees the gain vanish."}
	for _, kappa := range []float64{10, 100, 1000} {
		methods := []string{"non-private", "auto", "shifted", "plan"}
		for _, t := range []int{1, 2, 3, 5} {
			methods = append(methods, fmt.Sprintf("covariance:tcov=%d,sigma-max=%.3g", t, max(10, math.Sqrt(kappa))))
		}
		e.Panels = append(e.Panels, kappaPanel("hly-fig4", kappa, []float64{4, 16, 32, 64, 256}, methods))
	}
	return e
}

func kappaPanel(figure string, kappa float64, dims []float64, methods []string) Panel {
	return Panel{Name: figure + "-kappa" + number(kappa), Title: "κ = " + number(kappa), XLabel: "d", LogX: true, LogY: true,
		Points: over(fmt.Sprintf("gaussian-kappa:n=4000,r=100,kappa=%g,d=%%v", kappa), dims, 0.5), Methods: methods}
}

func hlyRadius() Experiment {
	e := Experiment{Name: "hly-fig6", Title: "[HLY21] Fig. 6: error against R, N(mu, Σ(10)), n = 4000, d = 128, ρ = 0.5", Trials: 100, Relations: replaceOne,
		Claim: "Neither mu nor R affects Shifted-CM; COINPRESS depends on the number of rounds."}
	for _, mu := range []float64{0, 5, 10} {
		points := over(fmt.Sprintf("gaussian-kappa:n=4000,d=128,kappa=10,mu=%g,r=%%v", mu), []float64{20, 65, 110, 155, 200}, 0.5)
		for i := range points {
			points[i].X = math.Round(points[i].X * math.Sqrt(128)) // R = r√d
		}
		e.Panels = append(e.Panels, Panel{Name: "hly-fig6-mu" + number(mu), Title: "mu = " + number(mu), XLabel: "R", LogY: true, Points: points,
			Methods: []string{"non-private", "auto", "shifted", "shifted-rotated", "plan", "coinpress:t=2,sigma=1", "coinpress:t=4,sigma=1", "coinpress:t=10,sigma=1", "coinpress:t=4"}})
	}
	return e
}

func hlyDigits() Experiment {
	e := Experiment{Name: "hly-fig7", Title: "[HLY21] Fig. 7: error against ρ on the MNIST training images of a digit, d = 784, R = 50√d", Trials: 50, Relations: replaceOne,
		Claim: "Shifted-CM outperforms COINPRESS at every ρ, because the data are not Gaussian with Σ = I.",
		Notes: "Error to the mean of the images: the non-private error is 0. Pixels/255 on a grid of 2^-20; the paper has 100 trials."}
	quotes := map[int][]Quoted{
		0: {quote("code: Shifted-CM", "0.1 0.269; 0.4 0.135; 1.6 0.0680"), quote("code: COINPRESS t=10", "0.1 0.750; 0.4 0.369; 1.6 0.185")},
		1: {quote("code: Shifted-CM", "0.1 0.171; 0.4 0.0879; 1.6 0.0484"), quote("code: COINPRESS t=10", "0.1 0.660; 0.4 0.326; 1.6 0.163")},
		2: {quote("code: Shifted-CM", "0.1 0.267; 0.4 0.135; 1.6 0.0670"), quote("code: COINPRESS t=10", "0.1 0.754; 0.4 0.372; 1.6 0.183")},
	}
	for digit := range 3 {
		e.Panels = append(e.Panels, Panel{Name: fmt.Sprintf("hly-fig7-digit%d", digit), Title: fmt.Sprintf("digit %d", digit), XLabel: "ρ", LogX: true, LogY: true, Metric: L2Sample,
			Points: overRho(fmt.Sprintf("mnist:digit=%d", digit), 0.1, 0.2, 0.4, 0.8, 1.6), Quoted: quotes[digit],
			Methods: []string{"auto", "clipped", "shifted", "shifted-rotated", "plan", "coinpress:t=2,sigma=1", "coinpress:t=4,sigma=1", "coinpress:t=10,sigma=1"}})
	}
	return e
}

func hlyQuantile() Experiment {
	e := Experiment{Name: "hly-fig9", Title: "[HLY21] Fig. 9: clipping at fixed quantiles of the norms, x_i in every coordinate, n = 500", Trials: 30, Relations: replaceOne,
		Claim: "The best clipping radius depends on d and ρ; the (n − √(2d/ρ))-th norm is the best or near it everywhere, no fixed quantile is.",
		Notes: "fixed-clip takes exact quantiles of the norms and noises the sum only, as the paper's experiment does. The paper's text has x_i = i, its code i²: both are here. " +
			"`clipped` is the product's, which has to search for the radius privately."}
	for _, power := range []float64{1, 2} {
		for _, rho := range []float64{0.1, 0.5} {
			spec := fmt.Sprintf("ladder:n=500,power=%g,d=%%v", power)
			e.Panels = append(e.Panels, Panel{Name: fmt.Sprintf("hly-fig9-power%g-rho%s", power, strings.ReplaceAll(number(rho), ".", "")),
				Title: fmt.Sprintf("x_i = i^%g, ρ = %g", power, rho), XLabel: "d", LogX: true, LogY: true, Metric: L2Sample,
				Points:  over(spec, []float64{128, 512, 2048, 8192, 32768}, rho),
				Methods: []string{"fixed-clip", "fixed-clip:quantile=0.95", "fixed-clip:quantile=0.85", "fixed-clip:quantile=0.75", "fixed-clip:quantile=0.5", "clipped"}})
		}
	}
	return e
}
