package functions

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator/errorbar"
)

// Interval is an end of an interval of an expression of answers, as the grammar writes
//
//	DP_LOW(100 * SUM(x) / SUM(SUM(x)) OVER (), 0.9)
//
// out:
//
//	dp_interval('DP_LOW number law * sum /', 0.9, 100, DP_LAW(SUM(x)), JSON_ARRAYAGG(DP_LAW(SUM(x))) OVER ())
//
// The first argument names the function and then says what is computed, operands before operators;
// each of Operands takes the next argument. It reads released values with their laws and nothing
// else, so it is post-processing, as the expression itself is.
type Interval struct {
	maker
	last atomic.Pointer[summed]
}

// Names of the functions that the grammar writes.
const (
	LawName      = "dp_law"
	IntervalName = "dp_interval"
)

// Operands of an interval's expression.
const (
	NumberOperand = "number" // public
	LawOperand    = "law"    // the law of an answer
	SumOperand    = "sum"    // laws of answers that are added up, as an array
)

// Rising are the functions of one argument that do not fall, by their names in SQL; some have the
// number of digits as a second one.
var Rising = map[string]func(x, digits float64) float64{
	"round":    func(x, d float64) float64 { return math.Round(x*math.Pow(10, d)) / math.Pow(10, d) },
	"truncate": func(x, d float64) float64 { return math.Trunc(x*math.Pow(10, d)) / math.Pow(10, d) },
	"floor":    func(x, _ float64) float64 { return math.Floor(x) },
	"ceil":     func(x, _ float64) float64 { return math.Ceil(x) },
	"ceiling":  func(x, _ float64) float64 { return math.Ceil(x) },
	"sqrt":     func(x, _ float64) float64 { return math.Sqrt(x) },
	"exp":      func(x, _ float64) float64 { return math.Exp(x) },
	"ln":       func(x, _ float64) float64 { return math.Log(x) },
	"log10":    func(x, _ float64) float64 { return math.Log10(x) },
	"log2":     func(x, _ float64) float64 { return math.Log2(x) },
}

// intervalScalar is the function that the grammar writes: it is in no list.
var intervalScalar = &Scalar{Name: strings.ToUpper(IntervalName), Signature: "DP_LOW(SUM(x) / COUNT(*))", MinArgs: 3, MaxArgs: MaxVector,
	build: func(f *Scalar, args []sql.Expression) sql.Expression { return &Interval{maker: maker{f, args}} }}

// Type implements sql.Expression.
func (i *Interval) Type(*sql.Context) sql.Type { return types.Float64 }

// WithChildren implements sql.Expression.
func (i *Interval) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	m, err := i.with(i, children)
	return &Interval{maker: m}, err
}

// Eval implements sql.Expression: NULL where a value is, or the end is not known or has no bound.
func (i *Interval) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	values := make([]any, len(i.args))
	for k, e := range i.args {
		var err error
		if values[k], err = e.Eval(ctx, row); err != nil || values[k] == nil {
			return nil, err
		}
	}
	program := strings.Fields(fmt.Sprint(values[0]))
	f, _ := ErrorBarByName(program[0])
	level, err := f.ParseLevel(fmt.Sprint(values[1]))
	if err != nil {
		return nil, err
	}
	j := &errorbar.Joint{Risk: 1 - level}
	lo, hi, err := i.ends(ctx, j, program[1:], values[2:])
	if j.Events > 1 && err == nil {
		j = &errorbar.Joint{Risk: (1 - level) / float64(j.Events)}
		lo, hi, err = i.ends(ctx, j, program[1:], values[2:])
	}
	if f.ErrorBar == High {
		lo = hi
	}
	if err != nil || math.IsNaN(lo) || math.IsInf(lo, 0) {
		return nil, err
	}
	return lo, nil
}

// ends computes both ends.
func (i *Interval) ends(ctx *sql.Context, j *errorbar.Joint, program []string, values []any) (lo, hi float64, err error) {
	var stack []errorbar.Form
	for _, op := range program {
		n := len(stack)
		switch op {
		case NumberOperand, LawOperand, SumOperand:
			f, err := i.operand(ctx, j, op, values[0])
			if err != nil {
				return 0, 0, err
			}
			stack, values = append(stack, f), values[1:]
		case "neg":
			stack[n-1] = stack[n-1].Times(-1)
		case "+":
			stack = append(stack[:n-2], errorbar.Sum(stack[n-2], stack[n-1]))
		case "-":
			stack = append(stack[:n-2], errorbar.Sum(stack[n-2], stack[n-1].Times(-1)))
		case "*":
			stack = append(stack[:n-2], j.Product(stack[n-2], stack[n-1]))
		case "/":
			stack = append(stack[:n-2], j.Quotient(stack[n-2], stack[n-1]))
		default:
			digits := stack[n-1].Value
			stack = append(stack[:n-2], j.Map(stack[n-2], func(x float64) float64 { return Rising[op](x, digits) }))
		}
	}
	if v := stack[0].Value; math.IsNaN(v) || math.IsInf(v, 0) {
		return math.NaN(), math.NaN(), nil
	}
	lo, hi = j.Ends(stack[0])
	return lo, hi, nil
}

// summed is the sum of an array of laws at a risk, which the rows of a window have in common.
type summed struct {
	first  *any
	risk   float64
	form   errorbar.Form
	events int
}

// operand is the form of an argument.
func (i *Interval) operand(ctx *sql.Context, j *errorbar.Joint, kind string, v any) (errorbar.Form, error) {
	if kind == NumberOperand {
		v, _, err := types.Float64.Convert(ctx, v)
		x, ok := v.(float64)
		if !ok {
			x = math.NaN()
		}
		return errorbar.Number(x), err
	}
	list := []any{v}
	if w, ok := v.(sql.JSONWrapper); ok && kind == SumOperand {
		x, err := w.ToInterface(ctx)
		if err != nil {
			return errorbar.Form{}, err
		}
		if list, ok = x.([]any); !ok || len(list) == 0 {
			return errorbar.Number(math.NaN()), nil
		}
	}
	s := i.last.Load()
	if s == nil || s.first != &list[0] || s.risk != j.Risk {
		own, forms := errorbar.Joint{Risk: j.Risk}, []errorbar.Form(nil)
		for _, x := range list { // NULLs are left out
			if text, ok, err := sql.Unwrap[string](ctx, x); err != nil {
				return errorbar.Form{}, err
			} else if ok {
				l, err := errorbar.DecodeLaw(text)
				if err != nil {
					return errorbar.Form{}, err
				}
				forms = append(forms, own.Of(l))
			}
		}
		s = &summed{&list[0], j.Risk, errorbar.Sum(forms...), own.Events}
		if kind == SumOperand {
			i.last.Store(s)
		}
	}
	j.Events += s.events
	return s.form, nil
}
