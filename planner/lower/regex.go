package lower

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"scrim/internal/refuse"
)

const (
	maxPattern = 512  // bytes of a regular expression
	maxProgram = 5000 // instructions of its program: far below the store's limit of memory
)

// generatePattern parses a client's regular expression and writes it anew for the store, every
// character as a code point. So it can stand in the SQL, which the store needs to compile it once
// instead of once a row, and holds no text of the client. The store matches in linear time.
func generatePattern(p string, flags syntax.Flags) (string, error) {
	bad := refuse.New(refuse.Expression, "The regular expression is not valid here, or too large.").
		With("Use a pattern without look-around and back references, or LIKE.")
	if p == "" || len(p) > maxPattern || !utf8.ValidString(p) {
		return "", bad
	}
	re, err := syntax.Parse(p, flags)
	if err != nil {
		return "", bad
	}
	if prog, err := syntax.Compile(re.Simplify()); err != nil || len(prog.Inst) > maxProgram {
		return "", bad
	}
	var out strings.Builder
	writePattern(&out, re)
	if surrogate.MatchString(out.String()) {
		return "", bad
	}
	return out.String(), nil
}

// surrogate finds the code points that are no characters.
var surrogate = regexp.MustCompile(`\\x\{D[89A-F][0-9A-F]{2}\}`)

// quotePattern is a pattern that matches exactly a text.
func quotePattern(s string) string {
	var out strings.Builder
	for _, r := range s {
		writeRune(&out, r)
	}
	return out.String()
}

func writeRune(out *strings.Builder, r rune) { fmt.Fprintf(out, `\x{%X}`, r) }

func writePattern(out *strings.Builder, re *syntax.Regexp) {
	group := func(suffix string) {
		out.WriteString("(?:")
		writePattern(out, re.Sub[0])
		out.WriteString(")" + suffix)
	}
	switch re.Op {
	case syntax.OpNoMatch:
		out.WriteString(`[^\x{0}-\x{10FFFF}]`)
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			out.WriteString("(?i:")
			defer out.WriteString(")")
		}
		for _, r := range re.Rune {
			writeRune(out, r)
		}
	case syntax.OpCharClass:
		out.WriteString("[")
		for i := 0; i+1 < len(re.Rune); i += 2 {
			writeRune(out, re.Rune[i])
			out.WriteString("-")
			writeRune(out, min(re.Rune[i+1], unicode.MaxRune))
		}
		out.WriteString("]")
	case syntax.OpAnyCharNotNL:
		out.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		out.WriteString("(?s:.)")
	case syntax.OpBeginLine:
		out.WriteString("(?m:^)")
	case syntax.OpEndLine:
		out.WriteString("(?m:$)")
	case syntax.OpBeginText:
		out.WriteString(`\A`)
	case syntax.OpEndText:
		out.WriteString(`\z`)
	case syntax.OpWordBoundary:
		out.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		out.WriteString(`\B`)
	case syntax.OpCapture:
		group("")
	case syntax.OpStar:
		group("*")
	case syntax.OpPlus:
		group("+")
	case syntax.OpQuest:
		group("?")
	case syntax.OpRepeat:
		if re.Max < 0 {
			group(fmt.Sprintf("{%d,}", re.Min))
		} else {
			group(fmt.Sprintf("{%d,%d}", re.Min, re.Max))
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			out.WriteString("(?:")
			writePattern(out, sub)
			out.WriteString(")")
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				out.WriteString("|")
			}
			out.WriteString("(?:")
			writePattern(out, sub)
			out.WriteString(")")
		}
	}
}
