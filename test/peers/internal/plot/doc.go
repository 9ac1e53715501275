// Package plot draws lines into an SVG whose axes are both logarithmic, so that time which
// grows with the work, and no faster, is a line that rises like the dashed ones.
//
// The same figures give the same bytes.
package plot
