package diff

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// MarkdownLimit is how many characters a comment may have on GitHub. It is taken as
// bytes here, of which there are never fewer.
const MarkdownLimit = 65536

// minMarkdownLimit leaves room for the summary and for what is said about the rest.
const minMarkdownLimit = 2048

// MarkdownOptions say how Markdown is written.
type MarkdownOptions struct {
	// Title stands above the counts; none when it is empty.
	Title string
	// Limit is how many bytes may be written: MarkdownLimit when it is 0, and never fewer
	// than 2,048.
	Limit int
}

// WriteMarkdown writes a report for a comment on a pull request: first a table of what
// happens to which objects, the gravest first, then the details of each, folded. A change
// that is the same in several objects, but for their names, is shown once.
//
// No more than Limit bytes are written. Details that do not fit are left out, those of
// the least grave changes first, and it is said how many; the table counts all objects.
func (r *Report) WriteMarkdown(w io.Writer, opts MarkdownOptions) error {
	limit := opts.Limit
	if limit == 0 {
		limit = MarkdownLimit
	}
	limit = max(limit, minMarkdownLimit)
	head := r.markdownHead(opts.Title, limit/2)
	text := head + fitBlocks(r.markdownBlocks(), limit-len(head)-maxFooter)
	_, err := io.WriteString(w, text)
	return err
}

// markdownHead is the title, the counts and the table, of no more than limit bytes.
func (r *Report) markdownHead(title string, limit int) string {
	n := r.Counts()
	var b strings.Builder
	if title != "" {
		b.WriteString("## " + escapeMarkdown(cutText(visible(title), maxInline/2)) + "\n\n")
	}
	b.WriteString("**" + n.summary() + "**\n")
	if apart := n.apart(); apart != "" {
		b.WriteString("\nApart from that: " + apart + ".\n")
	}
	if u := r.changes.Unmatched; len(u) > 0 {
		b.WriteString("\nIgnore rules that matched nothing: " + thousands(len(u)) + ".\n")
	}
	if n.Create+n.Update+n.Delete == 0 {
		return b.String()
	}
	b.WriteString("\n| What happens | Objects | Which |\n|---|---:|---|\n")
	left := limit - b.Len()
	for c := range consequence(consequences) {
		if objects := r.with(c); len(objects) > 0 {
			b.WriteString(c.row(objects, left/consequences))
		}
	}
	return b.String()
}

// row is a line of the table. It names as many objects as there is room for.
func (c consequence) row(objects []*ObjectChange, room int) string {
	what := c.words()
	if c <= consequenceRestarted {
		what = "**" + what + "**"
	}
	row := "| " + what + " | " + thousands(len(objects)) + " | "
	room -= len(row) + len("<br>and 1,000,000,000 more |\n")
	named := 0
	for _, o := range objects[:min(len(objects), maxNamed)] {
		cell := codeHTML(o.title())
		if words := strings.TrimPrefix(o.happens(), c.words()); words != "" {
			cell += ": " + escapeMarkdown(cutText(strings.TrimPrefix(words, ": "), maxInline))
		}
		if named > 0 {
			cell = "<br>" + cell
		}
		if room -= len(cell); room < 0 {
			break
		}
		row += cell
		named++
	}
	switch rest := len(objects) - named; {
	case named == 0:
		row += "too many or too long to name"
	case rest > 0:
		row += "<br>and " + thousands(rest) + " more"
	}
	return row + " |\n"
}

// block is what is folded: the details of an object, or of several with the same change.
type block struct {
	objects []*ObjectChange
	body    []string
}

func (r *Report) markdownBlocks() []*block {
	var blocks []*block
	same := make(map[string]*block)
	for i := range r.changes.Objects {
		o := &r.changes.Objects[i]
		if !o.Changed() && len(o.Adopted) == 0 && len(o.Kept) == 0 {
			continue // fields of others alone are counted
		}
		body := o.markdownBody()
		asIs, nameless := o.bodyKey(body), o.bodyKey(o.withoutNames(body))
		b := same[asIs]
		if b == nil {
			b = same[nameless]
		}
		if b == nil {
			b = &block{body: body}
			blocks = append(blocks, b)
		}
		b.objects = append(b.objects, o)
		same[asIs], same[nameless] = b, b
	}
	return blocks
}

// markdownBody is what stands in the fence.
func (o *ObjectChange) markdownBody() []string {
	var out []string
	switch {
	case o.Action == Create && o.After != nil:
		out = bodyLines(out, cutLines(lineDiff("", yamlLines(o.After), 0), maxObject))
	case o.Action == Delete && o.Before != nil:
		out = bodyLines(out, cutLines(lineDiff(yamlLines(o.Before), "", 0), maxObject))
	}
	for i := range o.Fields {
		f := &o.Fields[i]
		out = append(out, "@@ "+visible(f.Path.String())+" @@"+bracketed(f.remarks(o)))
		out = bodyLines(out, f.markdownValues())
	}
	for _, text := range o.apartLines() {
		out = append(out, "  "+text)
	}
	return out
}

// markdownValues are those of a text diff; what stands on one line is cut so that what
// differs is seen.
func (f *FieldChange) markdownValues() []line {
	if !oneLine(f.Before) || !oneLine(f.After) || f.Before == nil || f.After == nil {
		return cutLines(f.values(), maxBlock)
	}
	before, after := cutTexts(flowYAML(f.Before), flowYAML(f.After))
	return []line{{'-', before}, {'+', after}}
}

func bodyLines(out []string, all []line) []string {
	for _, l := range all {
		if l.mark == '@' {
			out = append(out, "@@ "+l.text+" @@")
		} else {
			out = append(out, strings.TrimRight(string(l.mark)+" "+l.text, " "))
		}
	}
	return out
}

// bodyKey is equal for what happens to objects of one kind alike.
func (o *ObjectChange) bodyKey(body []string) string {
	return strings.Join([]string{string(o.Action), string(o.Effect), o.Object.APIVersion, o.Object.Kind, strings.Join(body, "\n")}, "\x00")
}

// withoutNames gives the body with the object's own name and namespace left out where
// they stand as a word.
func (o *ObjectChange) withoutNames(body []string) []string {
	names := []string{o.Object.Name, o.Object.Namespace}
	if o.From != nil {
		names = append(names, o.From.Name, o.From.Namespace)
	}
	out := slices.Clone(body)
	for i, name := range names {
		if name == "" {
			continue
		}
		for j := range out {
			out[j] = replaceWord(out[j], name, fmt.Sprintf("\x00%d\x00", i%2))
		}
	}
	return out
}

// replaceWord replaces a text where no letter or digit stands beside it.
func replaceWord(s, word, with string) string {
	var b strings.Builder
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return b.String() + s[from:]
		}
		start, end := from+i, from+i+len(word)
		b.WriteString(s[from:start])
		if start > 0 && isWordByte(s[start-1]) || end < len(s) && isWordByte(s[end]) {
			b.WriteString(word)
		} else {
			b.WriteString(with)
		}
		from = end
	}
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// consequence is that of its objects.
func (b *block) consequence() consequence { return b.objects[0].consequence() }

// head is what is seen while the block is folded, and the list of its objects.
func (b *block) head(room int) string {
	first := b.objects[0]
	mark := escapeMarkdown(string(b.consequence().mark()))
	if len(b.objects) == 1 {
		return "<details><summary>" + mark + " " + codeHTML(first.title()) + ": " + escapeMarkdown(cutText(first.happens(), maxInline)) + "</summary>\n\n"
	}
	head := "<details><summary>" + mark + " " + codeHTML(first.Object.Kind) + ": the same in " + counted(len(b.objects), "object") +
		": " + escapeMarkdown(b.consequence().words()) + "</summary>\n\n"
	list := ""
	for i, o := range b.objects {
		name := codeHTML(o.title())
		if i > 0 {
			name = ", " + name
		}
		if len(list)+len(name) > room {
			list += " and " + thousands(len(b.objects)-i) + " more"
			break
		}
		list += name
	}
	return head + list + "\n\nShown for the first of them:\n\n"
}

// render gives the block in no more than room bytes, its body cut when it has to be;
// empty when there is no room for any of it.
func (b *block) render(room int) string {
	fence := strings.Repeat("`", max(3, longestRun(b.body, '`')+1))
	head := b.head(room/4) + fence + "diff\n"
	tail := fence + "\n\n</details>\n"
	const remark = "@@ cut: 1,000,000,000 more lines @@\n"
	room -= len(head) + len(tail)
	var body strings.Builder
	for i, text := range b.body {
		reserved := len(remark)
		if i == len(b.body)-1 {
			reserved = 0
		}
		if body.Len()+len(text)+1+reserved > room {
			if i == 0 {
				return ""
			}
			body.WriteString("@@ cut: " + counted(len(b.body)-i, "more line") + " @@\n")
			break
		}
		body.WriteString(text + "\n")
	}
	if len(b.body) == 0 {
		if room < 0 {
			return ""
		}
		return strings.TrimSuffix(head, fence+"diff\n") + "</details>\n"
	}
	return head + body.String() + tail
}

func longestRun(texts []string, c byte) int {
	longest := 0
	for _, s := range texts {
		run := 0
		for i := range len(s) {
			if s[i] != c {
				run = 0
				continue
			}
			run++
			longest = max(longest, run)
		}
	}
	return longest
}

// maxFooter is room for what is said about what was left out.
const maxFooter = 300

// fitBlocks gives as many blocks as fit, the gravest before others, in their order.
func fitBlocks(blocks []*block, room int) string {
	byGravity := slices.Clone(blocks)
	slices.SortStableFunc(byGravity, func(a, b *block) int { return int(a.consequence()) - int(b.consequence()) })
	texts := make(map[*block]string, len(blocks))
	left := room
	// One block does not take the room of all others.
	share := room
	if len(blocks) > 1 {
		share = room / 4
	}
	for _, b := range byGravity {
		texts[b] = "\n" + b.render(min(share, left-1))
		if len(texts[b]) == 1 {
			delete(texts, b)
		}
		left -= len(texts[b])
	}
	// What is left goes to those that were cut.
	for _, b := range byGravity {
		if fuller := "\n" + b.render(len(texts[b])+left-1); len(fuller) > max(1, len(texts[b])) {
			left += len(texts[b]) - len(fuller)
			texts[b] = fuller
		}
	}
	var out strings.Builder
	omitted := 0
	for _, b := range blocks {
		out.WriteString(texts[b])
		if texts[b] == "" {
			omitted += len(b.objects)
		}
	}
	if omitted > 0 {
		out.WriteString("\nLeft out for its length: the details of " + counted(omitted, "object") + ". The table counts all of them; the text and JSON reports show them.\n")
	}
	return out.String()
}

// codeHTML gives a name as code, which is neither Markdown nor HTML, and mentions nobody.
func codeHTML(s string) string {
	return "<code>" + escapeMarkdown(cutText(visible(s), 2*maxInline)) + "</code>"
}

// escapeMarkdown writes what means anything in Markdown or HTML as character references,
// which mean nothing more than the character. A mention is broken by an invisible space.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; c {
		case '&', '<', '>', '"', '\'', '`', '*', '_', '[', ']', '|', '\\', '#', '~', '$', '!':
			fmt.Fprintf(&b, "&#%d;", c)
		case '@':
			b.WriteString("&#64;&#8203;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
