package dashboard

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"scrim/internal/lists"
)

// Chart is a drawing for the template chart.svg: all positions are in its own units, which the page
// scales to its width.
type Chart struct {
	Wide                     bool
	Width, Height            float64
	Left, Right, Top, Bottom float64 // of the plot
	Label                    string  // what it shows, in words
	XTicks, YTicks           []Tick
	Area, Line, Projection   string // paths
	Limit                    *Tick
	Now                      *Dot
	End                      *Dot // where the projection reaches the limit
	Bars                     []Bar
}

// Tick is a position on an axis, or a line across the plot, with its label.
type Tick struct {
	At    float64
	Label string
	Edge  string // start, middle or end: where the label stands to the position
}

// Dot is a marked point.
type Dot struct{ X, Y float64 }

// Bar is one part of a stack.
type Bar struct {
	X, Y, Width, Height float64
	Class, Title        string
}

// sized is an empty chart: a narrow one is legible at the width of a telephone.
func sized(wide bool) *Chart {
	c := &Chart{Wide: wide, Width: 440, Height: 160, Left: 44, Top: 18}
	if wide {
		c.Width, c.Height = 920, 300
	}
	c.Right, c.Bottom = c.Width-14, c.Height-28
	return c
}

// scale maps [0, top] to the plot's height.
func (c *Chart) y(v, top float64) float64 {
	return round(c.Bottom - math.Min(1.02, v/top)*(c.Bottom-c.Top))
}

// burnChart draws the burn-down.
func burnChart(b *Burn, wide bool) *Chart {
	c := sized(wide)
	top := b.Measure.Limit * 1.12
	if most := highest(b.Points); most > b.Measure.Limit && !math.IsInf(most, 0) {
		top = most * 1.12
	}
	span := b.To.Sub(b.From).Seconds()
	x := func(t time.Time) float64 {
		part := math.Max(0, math.Min(1, t.Sub(b.From).Seconds()/span))
		return round(c.Left + part*(c.Right-c.Left))
	}
	y := func(v float64) float64 { return c.y(v, top) }
	c.Label = b.Summary()
	c.YTicks = amountTicks(top, y)
	c.XTicks = timeTicks(b.From, b.To, x, c)
	c.Limit = &Tick{At: y(b.Measure.Limit), Label: "limit " + number(b.Measure.Limit)}
	c.Line = path(b.Points, x, y)
	if len(b.Points) > 0 {
		c.Area = fmt.Sprintf("%sL%s %sL%s %sZ", c.Line, coordinate(x(b.Now)), coordinate(c.Bottom), coordinate(x(b.Points[0].At)), coordinate(c.Bottom))
	}
	c.Now = &Dot{x(b.Now), y(b.Spent)}
	if len(b.Projected) > 0 {
		c.Projection = path(b.Projected, x, y)
	}
	if !b.Exhausted.IsZero() {
		c.End = &Dot{x(b.Exhausted), y(b.Measure.Limit)}
	}
	return c
}

func highest(points []Point) float64 {
	var most float64
	for _, p := range points {
		most = math.Max(most, p.Amount)
	}
	return most
}

// path is the line through points.
func path(points []Point, x func(time.Time) float64, y func(float64) float64) string {
	var s strings.Builder
	for i, p := range points {
		s.WriteByte("ML"[min(i, 1)])
		s.WriteString(coordinate(x(p.At)) + " " + coordinate(y(p.Amount)))
	}
	return s.String()
}

func round(v float64) float64     { return math.Round(v*10) / 10 }
func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// amountTicks are about four round numbers from 0 to top.
func amountTicks(top float64, y func(float64) float64) []Tick {
	step := niceStep(top / 4)
	var list []Tick
	for i := 0; float64(i)*step <= top*0.97; i++ {
		v := float64(i) * step
		list = append(list, Tick{At: y(v), Label: number(v)})
	}
	return list
}

// niceStep is the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least v.
func niceStep(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	if f, ok := lists.Find([]float64{1, 2, 2.5, 5}, func(f float64) bool { return f*power >= v*0.999 }); ok {
		return f * power
	}
	return 10 * power
}

// timeTicks label a handful of moments: hours within two days, days within two months, then months.
func timeTicks(from, to time.Time, x func(time.Time) float64, c *Chart) []Tick {
	most := 5
	if c.Wide {
		most = 10
	}
	span := to.Sub(from)
	var list []Tick
	add := func(t time.Time, layout string) {
		list = append(list, Tick{At: x(t), Label: t.Format(layout), Edge: "middle"})
	}
	switch {
	case span <= 48*time.Hour:
		step := stepOf(span, most, time.Hour, 2*time.Hour, 3*time.Hour, 6*time.Hour, 12*time.Hour)
		for t := from; !t.After(to); t = t.Add(step) {
			add(t, "15:04")
		}
	case span <= 70*dayLength:
		step := stepOf(span, most, dayLength, 2*dayLength, 5*dayLength, 7*dayLength, 14*dayLength)
		for t := from; !t.After(to); t = t.Add(step) {
			add(t, "2 Jan")
		}
	default:
		months := int(math.Ceil(span.Hours() / 24 / 30.44 / float64(most)))
		for t := time.Date(from.Year(), from.Month()+1, 1, 0, 0, 0, 0, time.UTC); !t.After(to); t = t.AddDate(0, months, 0) {
			add(t, "Jan 2006")
		}
	}
	return inside(list, c)
}

// stepOf is the first step that makes at most so many, or the last one.
func stepOf(span time.Duration, most int, steps ...time.Duration) time.Duration {
	if s, ok := lists.Find(steps, func(s time.Duration) bool { return span/s <= time.Duration(most) }); ok {
		return s
	}
	return steps[len(steps)-1]
}

// inside moves the labels at the ends inwards.
func inside(list []Tick, c *Chart) []Tick {
	for i := range list {
		switch t := &list[i]; {
		case t.At < c.Left+16:
			t.Edge = "start"
		case t.At > c.Right-16:
			t.Edge = "end"
		}
	}
	return list
}

// hoursChart draws the statements of each hour as stacked bars.
func hoursChart(hours []Hour, wide bool) *Chart {
	c := sized(wide)
	c.Height -= 40
	c.Bottom -= 40
	most := 4
	for _, h := range hours {
		most = max(most, h.Answered+h.Refused+h.Failed)
	}
	top := float64(most) * 1.1
	y := func(v float64) float64 { return c.y(v, top) }
	c.YTicks = countTicks(top, y)
	slot := (c.Right - c.Left) / float64(len(hours))
	var answered, refused, failed int
	for i, h := range hours {
		c.stack(c.Left+slot*float64(i), slot, h, y)
		answered, refused, failed = answered+h.Answered, refused+h.Refused, failed+h.Failed
		if n := len(hours) / 4; !c.Wide && i%n == 0 || c.Wide && i%(n/2) == 0 {
			c.XTicks = append(c.XTicks, Tick{At: round(c.Left + slot*float64(i)), Label: h.Start.Format("15:04"), Edge: "start"})
		}
	}
	c.Label = fmt.Sprintf("Statements an hour over the last %d hours: %d answered, %d refused, %d failed in all. The table below has each hour.",
		len(hours), answered, refused, failed)
	return c
}

// countTicks are whole numbers.
func countTicks(top float64, y func(float64) float64) []Tick {
	step := math.Max(1, math.Ceil(niceStep(top/4)))
	var list []Tick
	for v := 0.0; v <= top; v += step {
		list = append(list, Tick{At: y(v), Label: number(v)})
	}
	return list
}

// stack draws the parts of one hour, one above the other.
func (c *Chart) stack(x, slot float64, h Hour, y func(float64) float64) {
	below := 0
	for _, part := range []struct {
		n           int
		class, word string
	}{{h.Answered, "answered", "answered"}, {h.Refused, "refused", "refused"}, {h.Failed, "failed", "failed"}} {
		if part.n == 0 {
			continue
		}
		low, high := y(float64(below)), y(float64(below+part.n))
		c.Bars = append(c.Bars, Bar{
			X: round(x + slot*0.14), Width: round(slot * 0.72), Y: high, Height: math.Max(1, round(low-high)),
			Class: part.class, Title: fmt.Sprintf("%s UTC: %d %s", h.Start.Format("15:04"), part.n, part.word),
		})
		below += part.n
	}
}
