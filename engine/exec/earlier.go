package exec

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/planner/plan"
)

// Earlier finds what an earlier answer of a principal tells about the error of an aggregate of the
// shape. It is kept with the answers, but without the versions of the data: the noise of a query
// tells about that of the next one when rows have been added, too.
func (x *Executor) Earlier(principal, shape string) (plan.Earlier, bool) {
	var e plan.Earlier
	b, ok := x.Account.Answer(earlierKey(principal, shape))
	if !ok || gob.NewDecoder(bytes.NewReader(b)).Decode(&e) != nil {
		return plan.Earlier{}, false
	}
	return e, true
}

// earlierKey names what is kept of one principal's answers of one shape.
func earlierKey(principal, shape string) []byte {
	h := sha256.Sum256(fmt.Appendf(nil, "earlier;%d:%s;%s", len(principal), principal, shape))
	return h[:]
}

// remember keeps what the answers of a release tell about their error, for targets of later ones.
// Everything in it is released.
func (e *execution) remember(r *plan.Release, a *answer) {
	for i, agg := range r.Aggregates {
		if agg.Groups != nil || agg.Parts != nil {
			continue // one estimate for several columns or groups has no loss of its own for each
		}
		l := agg.Estimator.Loss()
		told := plan.Earlier{Loss: l.Rho.Float()}
		if l.IsPure() && r.Loss.IsPure() {
			told.Loss = l.Pure.Float()
		}
		for _, g := range a.Groups {
			told.StdErr = math.Max(told.StdErr, worst(g.Estimates[i]))
		}
		if told.StdErr == 0 || math.IsNaN(told.StdErr) {
			continue
		}
		var b bytes.Buffer
		err := gob.NewEncoder(&b).Encode(told)
		if err == nil {
			err = e.x.Account.PutAnswer(earlierKey(e.principal, agg.Shape), b.Bytes())
		}
		if err != nil {
			e.x.Lost(err)
		}
	}
}

// worst is the largest standard error of an estimate's values, NaN where one is not known, 0 where
// there is no answer.
func worst(e estimator.Estimate) float64 {
	if e.Status != estimator.OK {
		return 0
	}
	if len(e.StdErr) == 0 {
		return math.NaN()
	}
	most := 0.0
	for _, x := range e.StdErr {
		most = math.Max(most, x)
	}
	return most
}
