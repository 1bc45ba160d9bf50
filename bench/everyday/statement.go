package everyday

import (
	"fmt"
	"slices"
	"strings"
)

// kind is what an aggregate is of.
type kind int

const (
	rowCount kind = iota // COUNT(*)
	valueCount
	personCount // COUNT(DISTINCT unit)
	sum         // of values that are not negative
	mean        // AVG, over rows
	median      // over persons, where each has one row
	deviation   // STDDEV_SAMP
	call        // any other, written whole: CORR(x, y)
	values      // DP_COUNT(DISTINCT x, options)
)

// Aggregate is one column of answers.
type Aggregate struct {
	kind kind
	arg  string // expression, empty for COUNT(*); of call the whole of it; of values options, too
}

// String is the aggregate as it is asked.
func (a Aggregate) String() string {
	switch a.kind {
	case rowCount:
		return "COUNT(*)"
	case valueCount:
		return "COUNT(" + a.arg + ")"
	case personCount:
		return "COUNT(DISTINCT " + a.arg + ")"
	case sum:
		return "SUM(" + a.arg + ")"
	case mean:
		return "AVG(" + a.arg + ")"
	case median:
		return "DP_MEDIAN(" + a.arg + ")"
	case call:
		return a.arg
	case values:
		return "DP_COUNT(DISTINCT " + a.arg + ")"
	}
	return "STDDEV_SAMP(" + a.arg + ")"
}

// raw is the aggregate as its exact value is asked for, where it is asked whole.
func (a Aggregate) raw() string {
	if a.kind == values {
		of, _, _ := strings.Cut(a.arg, ", '")
		return "COUNT(DISTINCT " + of + ")"
	}
	return a.arg
}

// whole says whether the exact value is asked for as a whole.
func (a Aggregate) whole() bool { return a.kind == call || a.kind == values }

// summed says whether persons have a number and a sum of values of the argument.
func (a Aggregate) summed() bool { return a.arg != "" && a.kind != personCount && !a.whole() }

// additive says whether the aggregate is a sum over persons, or a quotient of two.
func (a Aggregate) additive() bool { return a.kind <= mean }

// Statement is a question.
type Statement struct {
	Name       string
	Table      string
	From       string // what follows FROM; "": the table
	Keys       []string
	Rollup     bool
	Aggregates []Aggregate
	Way        string // dp_group_by; "": what the server chooses
}

// ways says whether the groups can be answered as one vector and each by itself.
func (s Statement) ways() bool {
	return s.grouped() && !s.Rollup && !slices.ContainsFunc(s.Aggregates, func(a Aggregate) bool { return !a.additive() })
}

// grouped says whether the answer has keys.
func (s Statement) grouped() bool { return len(s.Keys) > 0 }

func (s Statement) from() string {
	if s.From != "" {
		return s.From
	}
	return s.Table
}

func (s Statement) groupBy() string {
	if !s.grouped() {
		return ""
	}
	text := " GROUP BY " + strings.Join(s.Keys, ", ")
	if s.Rollup {
		text += " WITH ROLLUP"
	}
	return text
}

// Text is the statement as an analyst writes it.
func (s Statement) Text() string {
	list := slices.Clone(s.Keys)
	for _, a := range s.Aggregates {
		list = append(list, a.String())
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + s.from() + s.groupBy()
}

// levels are those at which intervals are asked for.
var levels = []float64{0.5, 0.9, 0.95, 0.99}

// usual is the place among levels of the one that tells wild answers.
const usual = 2

// asked is the statement with the standard errors and intervals of its answers, at a loss.
func (s Statement) asked(epsilon float64) string {
	list := slices.Clone(s.Keys)
	for i, a := range s.Aggregates {
		name := fmt.Sprintf("a%d", i)
		list = append(list, a.String()+" AS "+name, "DP_STDERR("+name+")")
		for _, l := range levels {
			list = append(list, fmt.Sprintf("DP_LOW(%s, %g)", name, l), fmt.Sprintf("DP_HIGH(%s, %g)", name, l))
		}
	}
	hints := fmt.Sprintf("SET_VAR(dp_epsilon=%.9f)", epsilon)
	if s.Way != "" {
		hints += " SET_VAR(dp_group_by='" + s.Way + "')"
	}
	return fmt.Sprintf("SELECT /*+ %s */ %s FROM %s%s", hints, strings.Join(list, ", "), s.from(), s.groupBy())
}

// width is the number of columns that an aggregate takes in the answer.
const width = 2 + 2*4
