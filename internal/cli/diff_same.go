package cli

// shareSame pairs the documents that both sides have, byte for byte: they are rendered
// once, and need no comparison.
func shareSame(from, to *treeSide) {
	waiting := make(map[string][]*unit, len(from.units))
	for i := range from.units {
		u := &from.units[i]
		if u.document != nil {
			text := string(u.document.Text)
			waiting[text] = append(waiting[text], u)
		}
	}
	for i := range to.units {
		u := &to.units[i]
		if u.document == nil {
			continue
		}
		twins := waiting[string(u.document.Text)]
		if len(twins) == 0 {
			continue
		}
		u.twin, u.same, twins[0].same = twins[0], true, true
		waiting[string(u.document.Text)] = twins[1:]
	}
}
