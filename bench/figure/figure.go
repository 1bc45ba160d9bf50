// Package figure draws curves with error bars as PNG files.
package figure

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Figure is a plot of curves.
type Figure struct {
	Title, XLabel, YLabel string
	LogX, LogY            bool
	Dates                 bool // X is in seconds since 1970, over a year or so
	Whole                 bool // X are few whole numbers, which are all named
	Wide                  bool
	Curves                []Curve
}

// Curve is a line through points. Curves of one colour belong together; dashes tell them apart.
type Curve struct {
	Name         string
	Colour, Dash int
	Points       []Point
	Loose        bool // points without the line
	Bare         bool // the line without points
}

// Point is a value with a bar of length Err, which may be NaN, to both sides; where Up is not 0, of
// that length upwards.
type Point struct{ X, Y, Err, Up float64 }

// Colours is the number of different colours.
const Colours = 10

// colours are, first, those of Okabe and Ito, which most people can tell apart; shapes help the
// rest.
var colours = [Colours]color.RGBA{
	{0, 0, 0, 255}, {213, 94, 0, 255}, {0, 114, 178, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {120, 120, 120, 255}, {148, 60, 40, 255}, {90, 60, 150, 255},
}

var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}

var dashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}, {1, 3}, {10, 4}}

// WritePNG draws the figure. On a logarithmic axis points that are not positive are left out.
func (f Figure) WritePNG(w io.Writer) error {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.XLabel, f.YLabel
	p.Add(plotter.NewGrid())
	for _, c := range f.Curves {
		if err := f.add(p, c); err != nil {
			return fmt.Errorf("figure: %s: %w", c.Name, err)
		}
	}
	f.axes(p)
	// The legend stands to the right of the plot: curves may be anywhere in it.
	width, height := 9*vg.Inch, 5.2*vg.Inch
	if f.Wide {
		width = 15 * vg.Inch
	}
	img := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(110), vgimg.UseBackgroundColor(color.White))
	page := draw.New(img)
	legend := p.Legend
	p.Legend = plot.NewLegend()
	legend.Top, legend.Left, legend.TextStyle.Font.Size, legend.Padding = true, true, vg.Points(9), vg.Points(2)
	room := legend.Rectangle(page).Size().X + vg.Points(14)
	p.Draw(draw.Crop(page, vg.Points(6), -room, vg.Points(6), -vg.Points(4)))
	legend.Draw(draw.Crop(page, width-room+vg.Points(6), 0, 0, -vg.Points(24)))
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

// add draws a curve with its error bars.
func (f Figure) add(p *plot.Plot, c Curve) error {
	var xys plotter.XYs
	var errs plotter.YErrors
	long := false // some bar
	for _, pt := range c.Points {
		if f.LogX && !(pt.X > 0) || f.LogY && !(pt.Y > 0) || math.IsInf(pt.Y, 0) {
			continue
		}
		xys = append(xys, plotter.XY{X: pt.X, Y: pt.Y})
		e := struct{ Low, High float64 }{pt.Err, pt.Err}
		if pt.Up != 0 {
			e.High = pt.Up
		}
		if math.IsNaN(pt.Err) {
			e.Low, e.High = 0, 0
		}
		long = long || e.Low > 0 || e.High > 0
		if f.LogY {
			e.Low = min(e.Low, pt.Y/2)
		}
		errs = append(errs, e)
	}
	if len(xys) == 0 {
		return nil
	}
	line, glyphs, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{xys, errs})
	if err != nil {
		return err
	}
	col := colours[c.Colour%Colours]
	line.Color, line.Width, line.Dashes = col, vg.Points(1.2), dashes[c.Dash%len(dashes)]
	glyphs.Color, glyphs.Shape, glyphs.Radius = col, shapes[c.Colour%len(shapes)], vg.Points(2.6)
	bars.Color, bars.CapWidth = col, vg.Points(3)
	switch {
	case c.Loose && long:
		p.Add(bars, glyphs)
		p.Legend.Add(c.Name, glyphs)
	case c.Loose:
		p.Add(glyphs)
		p.Legend.Add(c.Name, glyphs)
	case c.Bare:
		p.Add(line)
		p.Legend.Add(c.Name, line)
	default:
		p.Add(bars, line, glyphs)
		p.Legend.Add(c.Name, line, glyphs)
	}
	return nil
}

// axes sets logarithmic scales, with ticks at the curves' own positions on x.
func (f Figure) axes(p *plot.Plot) {
	if f.Whole {
		p.X.Tick.Marker = f.positions()
	}
	if f.Dates {
		p.X.Tick.Marker = months{}
	}
	if f.LogX {
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = decades{}
		if at := f.positions(); len(at) <= most {
			p.X.Tick.Marker = at
		}
		p.X.Min, p.X.Max = p.X.Min/1.08, p.X.Max*1.08
	}
	if f.LogY {
		p.Y.Scale = plot.LogScale{}
		p.Y.Tick.Marker = decades{}
		p.Y.Min, p.Y.Max = p.Y.Min/1.15, p.Y.Max*1.15
	}
}

// most is the number of labels that an axis has room for.
const most = 24

// positions are ticks at the points' own x.
func (f Figure) positions() plot.ConstantTicks {
	seen := map[float64]bool{}
	var out plot.ConstantTicks
	for _, c := range f.Curves {
		for _, pt := range c.Points {
			if (pt.X > 0 || !f.LogX) && !seen[pt.X] {
				seen[pt.X] = true
				out = append(out, plot.Tick{Value: pt.X, Label: strconv.FormatFloat(pt.X, 'g', 6, 64)})
			}
		}
	}
	return out
}

// months are ticks at the first day of each month.
type months struct{}

// Ticks implements plot.Ticker.
func (months) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	first := time.Unix(int64(lo), 0).UTC()
	for at := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC); float64(at.Unix()) <= hi; at = at.AddDate(0, 1, 0) {
		if x := float64(at.Unix()); x >= lo {
			out = append(out, plot.Tick{Value: x, Label: at.Format("Jan")})
		}
	}
	return out
}

// decades are ticks at 1, 2 and 5 times powers of ten, with the rest unlabelled.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	few := hi/lo > 1e4
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || !few && (m == 2 || m == 5) || hi/lo < 10 {
				t.Label = label(v)
			}
			out = append(out, t)
		}
	}
	return out
}

// label writes a tick in full up to a million, so that 20000 is not 2e+04.
func label(v float64) string {
	if v >= 1e6 || v < 1e-4 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
