package exec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/plan"
)

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
