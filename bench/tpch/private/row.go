package private

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"scrim/test/testenv/tpch"
)

// Row is what became of one query.
type Row struct {
	Query   tpch.Query
	Refusal string // why it was refused; "": it was answered
	Exact   bool   // the answer touches no person, and is exact

	Keys     int       // rows of the exact answer
	Answered []int     // of each run: those of them that had an answer
	Beyond   []int     // of each run: rows whose keys the exact answer has not
	Errors   []float64 // over the exact value, of each value of each run; 1 where there was no answer
	Covered  int       // intervals at 95 % that hold the exact value
	Ends     int       // intervals

	Private times // as an analyst
	Plain   times // the same text, as an administrator who may see rows
	Persons times // the exact query that adds up per customer first

	truth map[string][]float64 // by key: the values
}

// learn notes the exact answer.
func (r *Row) learn(names []string, rows [][]*string) {
	r.truth = map[string][]float64{}
	for _, row := range rows {
		r.truth[r.key(names, row)] = r.numbers(names, row, "")
	}
	r.Keys = len(r.truth)
}

// key joins the texts of the columns that are no values.
func (r *Row) key(names []string, row []*string) string {
	var b strings.Builder
	for i, n := range names {
		if r.isValue(n) || row[i] == nil {
			continue
		}
		b.WriteString(*row[i])
		b.WriteString("\x1f")
	}
	return b.String()
}

func (r *Row) isValue(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, lowEnd), highEnd)
	return slices.Contains(r.Query.Values, name)
}

// numbers reads the values of a row, or the ends with a suffix; NaN for what is not there.
func (r *Row) numbers(names []string, row []*string, suffix string) []float64 {
	out := make([]float64, len(r.Query.Values))
	for i, v := range r.Query.Values {
		out[i] = math.NaN()
		if at := slices.Index(names, v+suffix); at >= 0 && row[at] != nil {
			if x, err := strconv.ParseFloat(*row[at], 64); err == nil {
				out[i] = x
			}
		}
	}
	return out
}

// judge compares a private answer with the exact one.
func (r *Row) judge(names []string, rows [][]*string) {
	answered, beyond := 0, 0
	seen := map[string]bool{}
	for _, row := range rows {
		key := r.key(names, row)
		truth, known := r.truth[key]
		if !known {
			beyond++
			continue
		}
		seen[key] = true
		got, low, high := r.numbers(names, row, ""), r.numbers(names, row, lowEnd), r.numbers(names, row, highEnd)
		some := len(truth) == 0
		for i, x := range truth {
			some = some || !math.IsNaN(got[i])
			r.miss(got[i], x)
			if !math.IsNaN(low[i]) && !math.IsNaN(high[i]) && !math.IsNaN(x) {
				r.Ends++
				if low[i] <= x && x <= high[i] {
					r.Covered++
				}
			}
		}
		if some {
			answered++
		}
	}
	for key, truth := range r.truth {
		if !seen[key] {
			for _, x := range truth {
				r.miss(math.NaN(), x)
			}
		}
	}
	r.Answered, r.Beyond = append(r.Answered, answered), append(r.Beyond, beyond)
}

// miss notes the error of one value. One that is exactly zero has no relative error.
func (r *Row) miss(got, truth float64) {
	switch {
	case math.IsNaN(truth) || truth == 0:
	case math.IsNaN(got):
		r.Errors = append(r.Errors, 1)
	default:
		r.Errors = append(r.Errors, math.Abs(got-truth)/math.Abs(truth))
	}
}

// refuse notes why there is no answer.
func (r *Row) refuse(err error) { r.Refusal = reason(err) }

// reason is why a statement is refused, without the example that follows.
func reason(err error) string {
	text := err.Error()
	if _, after, found := strings.Cut(text, "): "); found {
		text = after
	}
	if before, _, found := strings.Cut(text, ". "); found {
		text = before + "."
	}
	return text
}
