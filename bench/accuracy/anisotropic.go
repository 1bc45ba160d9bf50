package accuracy

// anisotropicLine are the methods on falling spreads. Only those that say so are told them.
var anisotropicLine = []string{"non-private", "friendly", "friendly:declare=0", "auto", "shifted", "plan", "plan:declare=1", "coinpress:t=4"}

func anisotropic() []Experiment {
	e := Experiment{Name: "anisotropic", Title: "[DJY24]: falling spreads in many dimensions", Trials: 20, Relations: both,
		Claim: "With known spreads the error is that of sampling plus Σ_j σ_j/(nε), whatever the dimension, from log(1/δ)/ε persons on; with unknown ones the largest, about ε²n² of them, can be learnt. " +
			"Every method that needs a centre needs √d persons.",
		Notes: "δ = 1e-6 for `friendly`. N(10, diag(σ²)), the mean's norm declared as at most 50√d to `coinpress` and `plan:declare=1`. `friendly`, `plan:declare=1` and `coinpress` are told the spreads, " +
			"`friendly:declare=0` their largest and smallest. 20 trials."}
	panel := func(name, title, x string, points []Point) {
		e.Panels = append(e.Panels, Panel{Name: name, Title: title, XLabel: x, LogX: x != "a", LogY: true, Points: points, Methods: anisotropicLine})
	}
	panel("anisotropic-d", "σ_j = 0.9^j, n = 2000, ρ = 0.5", "d", over("anisotropic:n=2000,d=%v", []float64{64, 256, 1024, 4096}, 0.5))
	panel("anisotropic-n", "σ_j = 1/j, d = 1024, ρ = 0.5", "n", over("anisotropic:n=%v,d=1024,ratio=1,a=1", []float64{250, 500, 1000, 2000, 4000}, 0.5))
	panel("anisotropic-a", "σ_j = j^(−a), n = 1000, d = 1024, ρ = 0.5", "a", over("anisotropic:n=1000,d=1024,ratio=1,a=%v", []float64{0.5, 0.75, 1, 1.5, 2}, 0.5))
	panel("anisotropic-rho", "σ_j = 0.9^j, n = 2000, d = 1024", "ρ", overRho("anisotropic:n=2000,d=1024", 0.05, 0.125, 0.5, 1))
	return []Experiment{e}
}
