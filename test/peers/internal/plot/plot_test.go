package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"kudevops.io/appsvc/test/peers/internal/plot"
)

func chart(lines ...plot.Line) plot.Chart {
	return plot.Chart{Title: "time & work", XLabel: "objects", YLabel: "seconds", Lines: lines}
}

func TestWriteSVG(t *testing.T) {
	t.Parallel()
	c := chart(
		plot.Line{Name: "build <x>", Points: []plot.Point{{X: 100, Y: 0.01}, {X: 1000, Y: 0.1}, {X: 10_000, Y: 1}}},
		plot.Line{Name: "none"},
	)
	var first, second bytes.Buffer
	if err := plot.WriteSVG(&first, c); err != nil {
		t.Fatal(err)
	}
	if err := plot.WriteSVG(&second, c); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Error("the same chart gave two pictures")
	}
	decoder := xml.NewDecoder(bytes.NewReader(first.Bytes()))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
	}
	for _, want := range []struct{ reason, text string }{
		{"the axes begin and end with the points, a decade has the same length everywhere", `points="80.0,400.0 380.0,235.0 680.0,70.0"`},
		{"names are text, not markup", "build &lt;x&gt;"},
		{"decades are named on the x axis", ">10,000<"},
		{"and on the y axis", ">0.01<"},
		{"a line without points is in the legend all the same", ">none<"},
		{"growth with the work is a dashed line through the corners", `x1="80.0" y1="400.0" x2="680.0" y2="70.0"`},
	} {
		if !strings.Contains(first.String(), want.text) {
			t.Errorf("no %q (%s) in:\n%s", want.text, want.reason, first.String())
		}
	}
}

func TestWriteSVGFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reason string
		point  []plot.Point
		want   string
	}{
		{name: "no points", reason: "nothing was measured", want: "without points"},
		{name: "zero", reason: "it has no logarithm", point: []plot.Point{{X: 1, Y: 0}}, want: `line "a": (1, 0)`},
		{name: "negative", reason: "it has none either", point: []plot.Point{{X: -1, Y: 1}}, want: `line "a": (-1, 1)`},
		{name: "no number", reason: "a picture with NaN in it shows nothing", point: []plot.Point{{X: 1, Y: math.NaN()}}, want: `line "a"`},
		{name: "infinite", reason: "no axis holds it", point: []plot.Point{{X: 1, Y: math.Inf(1)}}, want: `line "a"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := plot.WriteSVG(&out, chart(plot.Line{Name: "a", Points: tt.point}))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q (%s)", err, tt.want, tt.reason)
			}
			if out.Len() > 0 {
				t.Errorf("half a picture was written: %s", out.String())
			}
		})
	}
}

func TestOnePoint(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := plot.WriteSVG(&out, chart(plot.Line{Name: "a", Points: []plot.Point{{X: 3, Y: 1}}})); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "NaN") {
		t.Errorf("an axis without length:\n%s", out.String())
	}
}
