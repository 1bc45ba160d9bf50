package exec

import (
	"fmt"
	"slices"

	"scrim/planner/plan"
)

// withAnswers returns a release whose scans have the answers of earlier releases that they use as
// values: released numbers, or NULL where there is none.
func withAnswers(r *plan.Release, answers map[*plan.Release]*answer) (*plan.Release, error) {
	if len(r.Uses) == 0 {
		return r, nil
	}
	values := map[string][]any{}
	for _, u := range r.Uses {
		a, ok := answers[u]
		if !ok {
			return nil, fmt.Errorf("exec: a release comes before one that it uses")
		}
		rows, err := a.rows(u)
		if err != nil {
			return nil, err
		}
		if len(rows) != 1 {
			return nil, fmt.Errorf("exec: a release that is used as a value has %d rows", len(rows))
		}
		values[u.Asked] = rows[0]
	}
	out := *r
	out.Scans = slices.Clone(r.Scans)
	for i := range out.Scans {
		args := slices.Clone(out.Scans[i].Args)
		for k, x := range args {
			if a, ok := x.(plan.AnswerArg); ok {
				args[k] = numberOf(values[a.Asked][a.Output])
			}
		}
		out.Scans[i].Args = args
	}
	return &out, nil
}

// numberOf is a released number as the store takes it: decimal numbers as texts.
func numberOf(v any) any {
	switch v := v.(type) {
	case nil, int64, float64:
		return v
	}
	return fmt.Sprint(v)
}
