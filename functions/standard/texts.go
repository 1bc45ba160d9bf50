package standard

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// textual is a function of texts. ENUM and SET are read as their members, and numbers as they are
// shown. Where one of its texts is binary all are, and each byte is a character.
type textual struct {
	names string   // separated by spaces
	args  string   // a letter for each: s is a text, i a whole number; + is more of the last
	least int      // arguments; 0 is one for each letter
	typ   sql.Type // nil: that of the texts
	nulls bool     // a NULL is given to eval, as no text
	doc   string
	eval  func(t *texts) any
}

// texts are the arguments of one call.
type texts struct {
	args      []any // string, int64 or nil
	binary    bool
	collation func() sql.CollationID
}

func (t *texts) s(i int) string { s, _ := t.args[i].(string); return s }

func (t *texts) n(i int) int64 { n, _ := t.args[i].(int64); return n }

// part is a text from one character to before another, of ends within it or beyond.
func (t *texts) part(i int, from, to int64) string {
	s := t.s(i)
	if from >= to || to <= 0 || from >= int64(len(s)) {
		return ""
	}
	r := []rune(s)
	n := int64(len(r))
	return string(r[min(max(from, 0), n):min(to, n)])
}

func runes(s string) int64 { return int64(len([]rune(s))) }

// found is where a text is in another, from a character on, by the collation of both; -1 for
// nowhere.
func (t *texts) found(part, in string, from int64) int64 {
	p, s := []rune(part), []rune(in)
	if from > int64(len(s)) {
		return -1
	}
	t.weigh(p)
	t.weigh(s)
	for at := int(from); at+len(p) <= len(s); at++ {
		if slices.Equal(s[at:at+len(p)], p) {
			return int64(at)
		}
	}
	return -1
}

// weigh replaces characters by their weights in the collation, where it is not by bytes.
func (t *texts) weigh(r []rune) {
	if t.binary {
		return
	}
	c := t.collation()
	if n := c.Name(); c == 0 || strings.HasSuffix(n, "_bin") || n == "binary" {
		return
	}
	weight := c.Sorter()
	for i := range r {
		r[i] = weight(r[i])
	}
}

// compare orders two texts by the collation.
func (t *texts) compare(a, b string) int {
	if t.binary {
		return strings.Compare(a, b)
	}
	return collation.Compare(t.collation(), a, b)
}

// textFunctions are the functions of texts.
var textFunctions = []textual{
	{names: "lower lcase", args: "s", doc: "returns a text in small letters.", eval: func(t *texts) any {
		if t.binary {
			return t.s(0)
		}
		return strings.ToLower(t.s(0))
	}},
	{names: "upper ucase", args: "s", doc: "returns a text in capital letters.", eval: func(t *texts) any {
		if t.binary {
			return t.s(0)
		}
		return strings.ToUpper(t.s(0))
	}},
	{names: "concat", args: "s+", doc: "puts texts together.", eval: func(t *texts) any {
		var b strings.Builder
		for i := range t.args {
			b.WriteString(t.s(i))
		}
		return b.String()
	}},
	{names: "concat_ws", args: "ss+", nulls: true, doc: "puts texts together, with a separator between them.", eval: func(t *texts) any {
		if t.args[0] == nil {
			return nil
		}
		var list []string
		for i, a := range t.args[1:] {
			if a != nil {
				list = append(list, t.s(i+1))
			}
		}
		return strings.Join(list, t.s(0))
	}},
	{names: "substring substr mid", args: "sii", least: 2, doc: "returns a part of a text.", eval: func(t *texts) any {
		n, length := t.n(1), int64(math.MaxInt32)
		if len(t.args) > 2 {
			length = min(t.n(2), length)
		}
		if n < 0 {
			if n += runes(t.s(0)) + 1; n < 0 {
				n = 0
			}
		}
		if n == 0 || n > math.MaxInt32 {
			return ""
		}
		return t.part(0, n-1, n-1+length)
	}},
	{names: "left", args: "si", doc: "returns the first characters of a text.", eval: func(t *texts) any { return t.part(0, 0, t.n(1)) }},
	{names: "right", args: "si", doc: "returns the last characters of a text.", eval: func(t *texts) any {
		n := runes(t.s(0))
		return t.part(0, n-min(n, max(0, t.n(1))), n)
	}},
	{names: "lpad", args: "sis", doc: "fills a text to a length at its beginning.", eval: func(t *texts) any {
		if fill, ok := t.filling(); ok {
			return fill + t.s(0)
		}
		return t.cut()
	}},
	{names: "rpad", args: "sis", doc: "fills a text to a length at its end.", eval: func(t *texts) any {
		if fill, ok := t.filling(); ok {
			return t.s(0) + fill
		}
		return t.cut()
	}},
	{names: "insert", args: "siis", doc: "replaces a part of a text, given by its place.", eval: func(t *texts) any {
		n, at, length := runes(t.s(0)), t.n(1), t.n(2)
		if at < 1 || at > n {
			return t.s(0)
		}
		if length < 0 || length > n {
			length = n
		}
		return t.part(0, 0, at-1) + t.s(3) + t.part(0, at-1+length, n)
	}},
	{names: "repeat", args: "si", doc: "returns a text so many times.", eval: func(t *texts) any {
		return strings.Repeat(t.s(0), int(max(0, t.n(1))))
	}},
	{names: "replace", args: "sss", doc: "replaces a text in another.", eval: func(t *texts) any {
		if t.s(1) == "" {
			return t.s(0)
		}
		return strings.ReplaceAll(t.s(0), t.s(1), t.s(2))
	}},
	{names: "reverse", args: "s", doc: "returns the characters of a text from its end on.", eval: func(t *texts) any {
		r := []rune(t.s(0))
		slices.Reverse(r)
		return string(r)
	}},
	{names: "substring_index", args: "ssi", doc: "returns what is before or behind a number of delimiters.", eval: func(t *texts) any {
		n := t.n(2)
		if t.s(1) == "" || n == 0 {
			return ""
		}
		parts := strings.Split(t.s(0), t.s(1))
		k := int64(len(parts))
		if n > 0 {
			return strings.Join(parts[:min(n, k)], t.s(1))
		}
		return strings.Join(parts[k-min(-max(n, -k), k):], t.s(1))
	}},
	{names: "locate position", args: "ssi", least: 2, typ: types.Int64, doc: "returns where a text is in another.", eval: func(t *texts) any {
		from := int64(1)
		if len(t.args) > 2 {
			from = t.n(2)
		}
		if from < 1 {
			return int64(0)
		}
		return t.found(t.s(0), t.s(1), from-1) + 1
	}},
	{names: "instr", args: "ss", typ: types.Int64, doc: "returns where a text has another.", eval: func(t *texts) any { return t.found(t.s(1), t.s(0), 0) + 1 }},
	{names: "ltrim", args: "s", doc: "removes spaces at the beginning of a text.", eval: func(t *texts) any { return strings.TrimLeft(t.s(0), " ") }},
	{names: "rtrim", args: "s", doc: "removes spaces at the end of a text.", eval: func(t *texts) any { return strings.TrimRight(t.s(0), " ") }},
	{names: "elt", args: "is+", least: 2, nulls: true, doc: "returns the text of a number.", eval: func(t *texts) any {
		if n := t.n(0); t.args[0] != nil && n > 0 && n < int64(len(t.args)) {
			return t.args[n]
		}
		return nil
	}},
	{names: "from_base64", args: "s", typ: types.LongBlob, doc: "reads base 64; NULL of what is none.", eval: func(t *texts) any {
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(t.s(0)), ""))
		if err != nil {
			return nil
		}
		return b
	}},
	{names: "make_set", args: "is+", least: 2, nulls: true, doc: "puts those of its texts together whose bits are set.", eval: func(t *texts) any {
		if t.args[0] == nil {
			return nil
		}
		set := []string{}
		for i, v := range t.args[1:] {
			if s, ok := v.(string); ok && i < 64 && t.n(0)>>i&1 == 1 {
				set = append(set, s)
			}
		}
		return strings.Join(set, ",")
	}},
	{names: "soundex", args: "s", doc: "returns how an English text sounds.", eval: func(t *texts) any { return soundex(t.s(0), t.binary) }},
	{names: "quote", args: "s", nulls: true, doc: "writes a text as a literal.", eval: func(t *texts) any {
		if t.args[0] == nil {
			return "NULL"
		}
		return "'" + quoted.Replace(t.s(0)) + "'"
	}},
}

var quoted = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`, "\x1a", `\Z`)

// soundex has the first letter of a text and the codes of those that follow, but for vowels and
// repeated ones. Characters beyond Latin are letters without a code, but bytes are none.
func soundex(s string, binary bool) string {
	var b strings.Builder
	last, length := byte(0), 0
	for _, c := range s {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		} else if c < 'A' || c > 'Z' && (c < 0xC0 || binary) {
			continue
		}
		code := byte('0')
		if c <= 'Z' {
			code = "01230120022455012623010202"[c-'A']
		}
		switch {
		case length == 0:
			b.WriteRune(c)
		case code == '0' || code == last:
			continue
		default:
			b.WriteByte(code)
		}
		last = code
		length++
	}
	if length == 0 {
		return ""
	}
	return b.String() + strings.Repeat("0", max(0, 4-length))
}

// filling is what LPAD and RPAD add; false where the text is long enough, or nothing fills it.
func (t *texts) filling() (string, bool) {
	n, pad := t.n(1)-runes(t.s(0)), []rune(t.s(2))
	if n <= 0 || len(pad) == 0 {
		return "", false
	}
	times := n/int64(len(pad)) + 1
	return string([]rune(strings.Repeat(t.s(2), int(times)))[:n]), true
}

// cut is LPAD and RPAD where nothing is added.
func (t *texts) cut() any {
	switch n := t.n(1); {
	case n < 0:
		return nil
	case n > runes(t.s(0)):
		return "" // the pad is empty
	default:
		return t.part(0, 0, n)
	}
}

func init() { defineTexts(textFunctions) }

// defineTexts adds functions of texts to the table.
func defineTexts(list []textual) {
	for i := range list {
		x := &list[i]
		least, most := x.least, len(x.args)
		if letters := strings.TrimSuffix(x.args, "+"); letters != x.args {
			most = math.MaxUint8 << 8
			least = max(least, len(letters))
		} else if least == 0 {
			least = most
		}
		for _, name := range strings.Fields(x.names) {
			f := function{name: name, min: least, max: most, typ: x.typ, texts: x, nulls: x.nulls, doc: x.doc}
			if x.typ == nil {
				f.typeOf = x.typeOf
			}
			define(f)
		}
	}
}

// letter is the letter of an argument.
func (x *textual) letter(i int) byte {
	letters := strings.TrimSuffix(x.args, "+")
	return letters[min(i, len(letters)-1)]
}

func (x *textual) isBinary(ctx *sql.Context, args []sql.Expression) bool {
	for i, a := range args {
		if t := a.Type(ctx); x.letter(i) == 's' && (types.IsBinaryType(t) || types.IsBit(t)) {
			return true
		}
	}
	return false
}

func (x *textual) typeOf(ctx *sql.Context, args []sql.Expression) sql.Type {
	if x.isBinary(ctx, args) {
		return types.LongBlob
	}
	if c, _ := x.collation(ctx, args); c != 0 && c.CharacterSet() != sql.CharacterSet_utf8mb4 && c.CharacterSet() != sql.CharacterSet_binary {
		return types.CreateLongText(c)
	}
	return types.LongText
}

// collation is that of the texts.
func (x *textual) collation(ctx *sql.Context, args []sql.Expression) (c sql.CollationID, coercibility byte) {
	first := true
	for i, a := range args {
		if x.letter(i) != 's' {
			continue
		}
		d, k := collationOf(ctx, a)
		if first {
			c, coercibility, first = d, k, false
		} else {
			c, coercibility, _ = mixed(c, coercibility, d, k)
		}
	}
	return c, coercibility
}

// call evaluates a function of texts.
func (x *textual) call(ctx *sql.Context, args []sql.Expression, values []any) (any, error) {
	t := &texts{args: values, binary: x.isBinary(ctx, args), collation: func() sql.CollationID { c, _ := x.collation(ctx, args); return c }}
	for i, v := range values {
		if v == nil {
			continue
		}
		if x.letter(i) == 'i' {
			t.args[i] = position(ctx, v)
			continue
		}
		s, err := words(ctx, v, args[i].Type(ctx))
		if err != nil {
			return nil, err
		}
		if t.binary {
			s = characters(s)
		}
		t.args[i] = s
	}
	v := x.eval(t)
	switch v := v.(type) {
	case error:
		return nil, v
	case string:
		if t.binary {
			return octets(v), nil
		}
	}
	return v, nil
}

// characters is bytes as a text with a character for each.
func characters(s string) string {
	r := lists.Make(len(s), func(i int) rune { return rune(s[i]) })
	return string(r)
}

// octets are the bytes whose characters a text has.
func octets(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return b
}

// words is a value of a type as the text that MySQL makes of it.
func words(ctx *sql.Context, v any, t sql.Type) (string, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case []byte:
		return string(x), nil
	case bool:
		if x {
			return "1", nil
		}
		return "0", nil
	case *apd.Decimal:
		return x.Text('f'), nil
	case types.Timespan:
		return shownSpan(t, x.AsMicroseconds()), nil
	case float64:
		return string(sqltext.AppendDouble(nil, x, 64)), nil
	case float32:
		return string(sqltext.AppendFloat(nil, float64(x))), nil
	}
	switch t := t.(type) {
	case sql.EnumType:
		if n, ok := integer(ctx, v); ok {
			s, _ := t.At(int(n)) // '' of 0
			return s, nil
		}
	case sql.SetType:
		if n, ok := v.(uint64); ok {
			return t.BitsToString(n)
		}
	case types.BitType:
		if n, ok := v.(uint64); ok {
			b := binary.BigEndian.AppendUint64(nil, n)
			return string(b[8-(int(t.NumberOfBits())+7)/8:]), nil
		}
	}
	if types.IsYear(t) {
		n, _ := integer(ctx, v)
		return fmt.Sprintf("%04d", n), nil
	}
	s, err := t.SQL(ctx, nil, v)
	return s.ToString(), err
}

// position reads a number as a position or a length: of a text the digits that it begins with.
func position(ctx *sql.Context, v any) int64 {
	s, ok := plainText(v)
	if !ok {
		n, ok := wholeNumber(ctx, v)
		if x, beyond := float(ctx, v); !ok && beyond {
			n = map[bool]int64{true: math.MinInt64, false: math.MaxInt64}[x < 0]
		}
		return n
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(leadingDigits.FindString(s)), "+"), 10, 64)
	if err != nil && n == 0 {
		return 0
	}
	return n // the nearest where it is beyond 64 bits
}

var leadingDigits = regexp.MustCompile(`^\s*[-+]?[0-9]+`)

// trimmed is TRIM, whose node keeps its direction to its text.
func trimmed(e *gms.Trim) textual {
	head, tail := true, true
	switch text := e.String(); {
	case strings.HasPrefix(text, "trim(leading "):
		tail = false
	case strings.HasPrefix(text, "trim(trailing "):
		head = false
	}
	return textual{args: "ss", doc: "removes a text at the ends of another.", eval: func(t *texts) any {
		s, part := []byte(t.s(0)), []byte(t.s(1))
		for head && len(part) > 0 && bytes.HasPrefix(s, part) {
			s = s[len(part):]
		}
		for tail && len(part) > 0 && bytes.HasSuffix(s, part) {
			s = s[:len(s)-len(part)]
		}
		return string(s)
	}}
}
