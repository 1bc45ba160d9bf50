package exec

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator"
	"scrim/functions"
	"scrim/planner/plan"
)

// answer is one released answer, as it is kept: everything in it may be shown to its principal.
type answer struct {
	Groups []answerGroup
}

// answerGroup is one released group.
type answerGroup struct {
	Number    int        // the public group number
	Key       []keyValue // the parts of a privately selected key
	Other     bool       // it is that of all keys that were not selected
	Estimates []estimator.Estimate
}

// answerSize is about what the vectors of an answer of so many groups take. Scalars are counted
// with the rows.
func answerSize(r *plan.Release, groups int) int64 {
	numbers := int64(0)
	for _, a := range r.Aggregates {
		if a.Vector != nil {
			numbers += int64(a.Vector.Dim)
		}
	}
	return int64(groups) * numbers * plan.AnswerBytes
}

func (a *answer) encode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(a)
	return b.Bytes(), err
}

// decodeAnswer reads a kept answer. One that cannot be read counts as not kept: the statement then
// pays for a new one.
func decodeAnswer(b []byte) (*answer, bool) {
	a := new(answer)
	return a, gob.NewDecoder(bytes.NewReader(b)).Decode(a) == nil
}

// rows turns a released answer into the rows of the node's schema. It is post-processing.
func (a *answer) rows(r *plan.Release) ([]sql.Row, error) {
	rows := make([]sql.Row, 0, len(a.Groups))
	for _, g := range a.ordered(r) {
		row, err := g.row(r)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// row is the row of a group.
func (g *answerGroup) row(r *plan.Release) (sql.Row, error) {
	keys, err := g.keys(r)
	if err != nil {
		return nil, err
	}
	row := make(sql.Row, len(r.Output))
	for i, o := range r.Output {
		switch {
		case o.Key >= 0:
			row[i] = keys[o.Key]
		case o.Aggregate >= 0:
			row[i] = g.value(r, o)
		}
	}
	return row, nil
}

// value is the SQL value of an output of an aggregate: NULL where too few persons contribute.
func (g *answerGroup) value(r *plan.Release, o plan.Output) any {
	est := g.Estimates[o.Aggregate]
	if est.Status == estimator.TooFew && o.ErrorBar != functions.Info {
		return nil
	}
	if o.ErrorBar == functions.Law {
		if l, ok := r.Law(o, est, g.Number); ok {
			return l.Encode()
		}
		return nil
	}
	return r.Aggregates[o.Aggregate].Value(o, est)
}

// ordered returns the groups in the order of the keys as the statement has them: GROUP BY b, a is
// answered as GROUP BY a, b.
func (a *answer) ordered(r *plan.Release) []answerGroup {
	if slices.IsSorted(r.Written) {
		return a.Groups
	}
	groups := slices.Clone(a.Groups)
	slices.SortStableFunc(groups, func(g, h answerGroup) int {
		for _, k := range r.Written {
			if c := g.compare(&h, r, k); c != 0 {
				return c
			}
		}
		return 0
	})
	return groups
}

// compare compares two groups by key k.
func (g *answerGroup) compare(h *answerGroup, r *plan.Release, k int) int {
	switch {
	case r.Selection == nil:
		return g.place(r, k) - h.place(r, k)
	case g.Other || h.Other: // it is the last one
		return bit(g.Other) - bit(h.Other)
	}
	return compareKeys(g.Key[k:k+1], h.Key[k:k+1])
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// place is the place of a public group's key k in its domain.
func (g *answerGroup) place(r *plan.Release, k int) int {
	n := g.Number
	for i := len(r.Keys) - 1; i > k; i-- {
		n /= len(r.Keys[i].Domain)
	}
	return n % len(r.Keys[k].Domain)
}

// keys returns the group's key values. Public groups are numbered in mixed radix, the last key
// fastest.
func (g *answerGroup) keys(r *plan.Release) ([]any, error) {
	out := make([]any, len(r.Keys))
	if r.Selection == nil {
		n := g.Number
		for i := len(r.Keys) - 1; i >= 0; i-- {
			d := r.Keys[i].Domain
			out[i] = d[n%len(d)]
			n /= len(d)
		}
		return out, nil
	}
	if g.Other {
		return out, nil // all NULL
	}
	for i, k := range r.Keys {
		v, err := k.Decode(g.Key[i].raw())
		if err != nil {
			return nil, fmt.Errorf("exec: group key: %w", err)
		}
		out[i] = v
	}
	return out, nil
}

// withAnswers returns a release whose scans have the answers of earlier releases that they use as
// values: released ones, or NULL where there is none. used are these values as texts, in order.
func withAnswers(r *plan.Release, answers map[*plan.Release]*answer) (with *plan.Release, used []string, err error) {
	if len(r.Uses) == 0 {
		return r, nil, nil
	}
	values := map[string][]sql.Row{}
	for _, u := range r.Uses {
		a, ok := answers[u]
		if !ok {
			return nil, nil, fmt.Errorf("exec: a release comes before one that it uses")
		}
		rows, err := a.rows(u)
		if err != nil {
			return nil, nil, err
		}
		if len(u.Keys) == 0 && len(rows) != 1 {
			return nil, nil, fmt.Errorf("exec: a release that is used as a value has %d rows", len(rows))
		}
		values[u.Asked] = rows
	}
	out := *r
	out.Scans = slices.Clone(r.Scans)
	for i := range out.Scans {
		args := slices.Clone(out.Scans[i].Args)
		for k, x := range args {
			a, ok := x.(plan.AnswerArg)
			if !ok {
				continue
			}
			if rows := values[a.Asked]; a.Each {
				args[k] = listOf(rows, a.Output)
			} else {
				args[k] = valueOf(rows[0][a.Output])
			}
			used = append(used, fmt.Sprintf("%T %[1]v", args[k]))
		}
		out.Scans[i].Args = args
	}
	return &out, used, nil
}

// valueOf is a released value as the store takes it: decimal numbers and moments as texts.
func valueOf(v any) any {
	switch v := v.(type) {
	case nil, int64, float64:
		return v
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999999")
	}
	return fmt.Sprint(v)
}

// listOf is a column of released rows as the store takes it: a JSON list of texts and nulls.
func listOf(rows []sql.Row, column int) string {
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		if v := valueOf(row[column]); v == nil {
			b.WriteString("null")
		} else {
			b.WriteString(strconv.Quote(fmt.Sprint(v)))
		}
	}
	return "[" + b.String() + "]"
}
