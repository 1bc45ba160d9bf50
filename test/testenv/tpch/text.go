package tpch

import (
	"math/rand/v2"
	"strings"
)

// The words of comments. The first of a list are the most frequent. What matters of them to the
// queries is that about one comment of an order in a hundred has "special" somewhere before
// "requests", which Q13 leaves out.
var (
	nouns = strings.Fields("requests packages deposits accounts requests packages deposits accounts requests packages deposits accounts instructions " +
		"dependencies theories ideas foxes platelets excuses warehouses letters ledgers bridges couriers sheets parcels")
	verbs        = strings.Fields("sleep wake haggle nag cajole boost detect integrate engage print solve breach affix run grow rest")
	adjectives   = strings.Fields("special final special regular ironic express pending bold even silent unusual furious careful quick slow blithe fluffy daring ruthless busy close")
	adverbs      = strings.Fields("slyly quickly carefully furiously blithely quietly fluffily finally daringly evenly silently boldly never always sometimes")
	prepositions = strings.Fields("about above across after against along among around at before behind beside between beyond by during from near of over past through to under until upon with")
)

// textSize is the length of the text that comments are cut out of, in bytes: long against any of
// them, and within a processor's cache.
const textSize = 1 << 20

// text returns sentences of the words, without commas or quotes.
func text(r *rand.Rand) string {
	var b strings.Builder
	b.Grow(textSize + 256)
	word := func(from []string) {
		b.WriteString(from[r.IntN(len(from))])
		b.WriteByte(' ')
	}
	thing := func() {
		if r.IntN(2) == 0 {
			word(adjectives)
		}
		word(nouns)
	}
	for b.Len() < textSize {
		if r.IntN(3) == 0 {
			b.WriteString("the ")
		}
		thing()
		if r.IntN(2) == 0 {
			word(adverbs)
		}
		word(verbs)
		if r.IntN(2) == 0 {
			word(adverbs)
		}
		if r.IntN(3) > 0 {
			word(prepositions)
			b.WriteString("the ")
			thing()
		}
		b.WriteByte("..;!?:-"[r.IntN(7)])
		b.WriteByte(' ')
	}
	return b.String()
}

// comment appends a part of the text with a length between least and most, without spaces at its
// ends. The text has no two spaces in a row.
func (g *generator) comment(least, most int) {
	n := least + 1 + g.r.IntN(most-least)
	at := g.r.IntN(len(g.text) - most)
	if g.text[at] == ' ' {
		at++
	}
	if g.text[at+n-1] == ' ' {
		n--
	}
	g.line = append(g.line, g.text[at:at+n]...)
}

// phrase puts two words, with a part of the text between them, over the comment that was appended
// at from, as the suppliers have it whom Q16 looks for.
func (g *generator) phrase(from int, first, second string) {
	c := g.line[from:]
	between := g.r.IntN(len(c) - len(first) - len(second) + 1)
	at := g.r.IntN(len(c) - len(first) - len(second) - between + 1)
	copy(c[at:], first)
	copy(c[at+len(first)+between:], second)
}

const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ."

// address appends 10 to 40 random characters.
func (g *generator) address() {
	for range 10 + g.r.IntN(31) {
		g.line = append(g.line, letters[g.r.IntN(len(letters))])
	}
}
