package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Chart is what is drawn.
type Chart struct {
	// Title stands above it, XLabel and YLabel at its axes.
	Title, XLabel, YLabel string
	// Lines are drawn in their order.
	Lines []Line
}

// Line is one line of a chart.
type Line struct {
	// Name stands in the legend.
	Name string
	// Points are sorted by X. Both of their values have to be above zero.
	Points []Point
}

// Point is one point of a line.
type Point struct{ X, Y float64 }

// The size of the picture and where the axes are, in pixels.
const (
	width, height           = 720, 460
	left, right, top, floor = 80, 680, 70, 400
)

// palette has a colour for each line that tells them apart in print too.
func palette() []string {
	return []string{"#0b6e4f", "#b3541e", "#30478f", "#7a2f6e", "#5c5c14"}
}

// WriteSVG writes the chart. A chart without a point, or with a value that has no
// logarithm, is an error.
func WriteSVG(w io.Writer, c Chart) error {
	x, y, err := axes(c.Lines)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(c.Title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%d" y="22" font-size="15">%s</text>`+"\n", left, escaped(c.Title))
	grid(&b, x, y)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+right)/2, floor+42, escaped(c.XLabel))
	fmt.Fprintf(&b, `<text transform="translate(22 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+floor)/2, escaped(c.YLabel))
	proportions(&b, x, y)
	for i, line := range c.Lines {
		draw(&b, line, i, x, y)
	}
	b.WriteString("</svg>\n")
	_, err = io.WriteString(w, b.String())
	return err
}

// axis is a scale of whole decades, and where they are in the picture.
type axis struct {
	low, high int // exponents of ten
	from, to  float64
}

// at is where a value is.
func (a axis) at(value float64) float64 {
	return a.from + (math.Log10(value)-float64(a.low))/float64(a.high-a.low)*(a.to-a.from)
}

// axes hold all points.
func axes(lines []Line) (x, y axis, err error) {
	var xs, ys []float64
	for _, line := range lines {
		for _, p := range line.Points {
			if !(p.X > 0 && p.Y > 0) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0) {
				return axis{}, axis{}, fmt.Errorf("line %q: (%v, %v) has no logarithm", line.Name, p.X, p.Y)
			}
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	if len(xs) == 0 {
		return axis{}, axis{}, errors.New("a plot without points")
	}
	return decades(xs, left, right), decades(ys, floor, top), nil
}

func decades(values []float64, from, to float64) axis {
	// Rounded, as the logarithm of 1000 is a little less than 3.
	const precision = 1e9
	log := func(v float64) float64 { return math.Round(math.Log10(v)*precision) / precision }
	low, high := int(math.Floor(log(slices.Min(values)))), int(math.Ceil(log(slices.Max(values))))
	if low == high {
		high++
	}
	return axis{low, high, from, to}
}

// grid draws a line for each decade, with its value.
func grid(b *strings.Builder, x, y axis) {
	b.WriteString(`<g stroke="#dddddd">` + "\n")
	for e := x.low; e <= x.high; e++ {
		at := x.at(math.Pow10(e))
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1[1]f" y2="%[3]d"/>`+"\n", at, top, floor)
	}
	for e := y.low; e <= y.high; e++ {
		at := y.at(math.Pow10(e))
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1[2]f"/>`+"\n", left, at, right)
	}
	b.WriteString("</g>\n")
	for e := x.low; e <= x.high; e++ {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x.at(math.Pow10(e)), floor+20, number(e))
	}
	for e := y.low; e <= y.high; e++ {
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left-8, y.at(math.Pow10(e))+4, number(e))
	}
}

// proportions draws the lines on which ten times the work takes ten times the time, one
// through each decade of the left and the lower edge.
func proportions(b *strings.Builder, x, y axis) {
	b.WriteString(`<g stroke="#bbbbbb" stroke-dasharray="2 4">` + "\n")
	for offset := y.low - x.high + 1; offset < y.high-x.low; offset++ {
		from, to := max(x.low, y.low-offset), min(x.high, y.high-offset)
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n",
			x.at(math.Pow10(from)), y.at(math.Pow10(from+offset)), x.at(math.Pow10(to)), y.at(math.Pow10(to+offset)))
	}
	b.WriteString("</g>\n")
}

// draw draws a line with its points and its place in the legend.
func draw(b *strings.Builder, line Line, index int, x, y axis) {
	colour := palette()[index%len(palette())]
	points := make([]string, len(line.Points))
	for i, p := range line.Points {
		points[i] = fmt.Sprintf("%.1f,%.1f", x.at(p.X), y.at(p.Y))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colour)
	for _, p := range line.Points {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", x.at(p.X), y.at(p.Y), colour)
	}
	const legendWidth = 200
	at := left + index*legendWidth
	fmt.Fprintf(b, `<circle cx="%d" cy="46" r="3.5" fill="%s"/><text x="%d" y="50">%s</text>`+"\n", at+4, colour, at+14, escaped(line.Name))
}

// number writes a power of ten.
func number(exponent int) string {
	if exponent < 0 {
		return fmt.Sprintf("%.*f", -exponent, math.Pow10(exponent))
	}
	digits := "1" + strings.Repeat("0", exponent)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

func escaped(text string) string {
	var b strings.Builder
	// A strings.Builder never fails.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
