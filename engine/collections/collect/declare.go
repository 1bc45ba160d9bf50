package collect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"scrim/engine/collections/collect/exact"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// ParseDeclaration reads what a DBA wrote: a JSON object with the keys that Keys lists. Numbers may
// be JSON numbers or texts of decimals; null_default one of them or an array, strata an array of
// texts. A key that the protocol does not have, or has twice, is refused. Plan checks the values.
func ParseDeclaration(p Protocol, text []byte) (Declaration, error) {
	var d Declaration
	if _, ok := p.Info(); !ok {
		return d, bad("There is no protocol %.40q.", string(p)).With("The protocols are %s.", names())
	}
	if len(text) > MaxParams {
		return d, bad("The declaration is longer than %d bytes.", MaxParams)
	}
	members, err := readObject(text)
	if err != nil {
		return d, err
	}
	keys, seen := Keys(p), map[string]bool{}
	for _, m := range members {
		if !slices.Contains(keys, m.key) {
			return d, foreign(p, m.key)
		}
		if seen[m.key] {
			return d, bad("%s is given twice.", m.key).With("Give each parameter once.")
		}
		seen[m.key] = true
		f := fields[slices.IndexFunc(fields, func(f field) bool { return f.key == m.key })]
		if err := read(m.key, f.of(&d).Addr().Interface(), m.value); err != nil {
			return d, err
		}
	}
	return d, nil
}

type member struct {
	key   string
	value json.RawMessage
}

// readObject splits one JSON object into its members, in their order and with repetitions.
func readObject(text []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	wrong := bad("The declaration is not a JSON object.").With(`Write it as '{"epsilon": 1, "n_expected": 100000, …}'.`)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, wrong
	}
	var members []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, wrong
		}
		m := member{key: key.(string)} // More within an object: a key or a syntax error
		if err := d.Decode(&m.value); err != nil {
			return nil, wrong
		}
		members = append(members, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, wrong
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, wrong
	}
	return members, nil
}

// read reads a value to where it is kept.
func read(key string, to any, v json.RawMessage) (err error) {
	switch to := to.(type) {
	case *exact.Epsilon:
		*to, err = readEpsilon(v)
	case *uint64:
		*to, err = readCount(key, v)
	case *int:
		*to, err = readInt(key, v)
	case *float64:
		*to, err = readNumber(key, v)
	case *[]float64:
		*to, err = readNumbers(key, v)
	case *string:
		*to, err = readText(key, v)
	case *[]string:
		if json.Unmarshal(v, to) != nil {
			err = bad("%s is not an array of texts.", key).With(`Write it as ["north", "south"].`)
		}
	}
	return err
}

// literal returns the characters of a number or of a text.
func literal(v json.RawMessage) (string, bool) {
	s := strings.TrimSpace(string(v))
	if strings.HasPrefix(s, `"`) {
		var text string
		err := json.Unmarshal(v, &text)
		return strings.TrimSpace(text), err == nil
	}
	return s, s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9')
}

// readNumber reads a finite decimal; other forms that Go knows (hexadecimal, underscores, inf) are
// refused.
func readNumber(key string, v json.RawMessage) (float64, error) {
	s, ok := literal(v)
	x, err := strconv.ParseFloat(s, 64)
	if !ok || err != nil || strings.Trim(s, "+-.0123456789eE") != "" {
		return 0, bad("%s is %.40q.", key, s).With("Give %s as a finite decimal number.", key)
	}
	return x, nil
}

func readEpsilon(v json.RawMessage) (exact.Epsilon, error) {
	s, _ := literal(v)
	e, err := exact.ParseEpsilon(s)
	if err != nil {
		return 0, bad("epsilon is %.40q.", s).With("Give epsilon from 0.05 to 8 with at most four digits after the point, such as 0.5.")
	}
	return e, nil
}

// readCount reads a whole number; 2e5 and 200000.0 are whole too.
func readCount(key string, v json.RawMessage) (uint64, error) {
	x, err := readNumber(key, v)
	if err != nil || x < 0 || x > 1<<53 || x != float64(uint64(x)) {
		return 0, bad("%s is %.40q.", key, v).With("Give %s as a whole number.", key)
	}
	return uint64(x), nil
}

func readInt(key string, v json.RawMessage) (int, error) {
	n, err := readCount(key, v)
	if n > 1<<30 {
		n = 1 << 30 // beyond every limit
	}
	return int(n), err
}

// readNumbers reads an array of numbers, or one.
func readNumbers(key string, v json.RawMessage) ([]float64, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(v), []byte("[")) {
		x, err := readNumber(key, v)
		return []float64{x}, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(v, &items); err != nil || len(items) == 0 || len(items) > MaxVector {
		return nil, bad("%s is not an array of 1 to %d numbers.", key, MaxVector)
	}
	return lists.Try(items, func(item json.RawMessage) (float64, error) { return readNumber(key, item) })
}

func readText(key string, v json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(v, &s) != nil || bytes.Equal(bytes.TrimSpace(v), []byte("null")) {
		return "", bad("%s is not a text.", key).With("Give %s in double quotes.", key)
	}
	return s, nil
}

// field is one key of a declaration.
type field struct {
	key   string
	place int // of the struct's field
}

// fields lists every key in the order of Declaration, whose JSON names they are.
var fields = func() (all []field) {
	for i, f := range reflect.VisibleFields(reflect.TypeFor[Declaration]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, field{key, i})
	}
	return all
}()

// of returns the value of the key in a declaration.
func (f field) of(d *Declaration) reflect.Value { return reflect.ValueOf(d).Elem().Field(f.place) }

// common are the keys of every protocol, shuffled those of every shuffle protocol besides.
var (
	common   = []string{"epsilon", "n_expected", "null_default", "strata"}
	shuffled = []string{"delta", "trust", "retry_of"}
	rotated  = []string{"dimension", "sigma_min", "sigma_max", "radius", "centre_norm", "resolution"}
)

// ownKeys are the keys of each protocol besides.
var ownKeys = map[Protocol][]string{
	LDPBit:   {"lo", "hi"},
	LDPKV2:   {"lo", "hi", "sigma"},
	LDPKV1:   {"lo", "hi", "sigma"},
	LDPUV2:   {"lo", "hi", "sigma_min", "sigma_max", "option"},
	LDPUV1:   {"lo", "hi", "sigma_min", "sigma_max"},
	LDPHier:  {"lo", "hi", "levels", "option"},
	LDPHaar:  {"lo", "hi", "levels"},
	LDPSCM3:  append([]string{"delta", "option", "pays_epsilon"}, rotated...),
	ShufSum:  {"lo", "hi"},
	ShufVec:  {"dimension", "radius"},
	ShufHier: {"lo", "hi", "levels"},
	ShufSCM3: rotated,
}

// options are the values of the key "option".
var options = map[Protocol][]string{
	LDPUV2:  {"laplace"},
	LDPHier: {"zcdp"},
	LDPSCM3: {"gauss", "zcdp"},
}

// Keys returns the keys of a protocol's declaration in the order of documentation; none for an
// unknown protocol.
func Keys(p Protocol) []string {
	info, ok := p.Info()
	if !ok {
		return nil
	}
	var keys []string
	for _, f := range fields {
		if slices.Contains(common, f.key) || slices.Contains(ownKeys[p], f.key) ||
			info.Model == Shuffle && slices.Contains(shuffled, f.key) {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// foreign returns the refusal of a key that the protocol does not have.
func foreign(p Protocol, key string) error {
	return bad("%s has no parameter %.40q.", p, key).With("Its parameters are %s.", strings.Join(Keys(p), ", "))
}

// checkForeign refuses fields that the protocol does not have.
func checkForeign(p Protocol, d *Declaration) error {
	keys := Keys(p)
	if f, ok := lists.Find(fields, func(f field) bool { return !f.of(d).IsZero() && !slices.Contains(keys, f.key) }); ok {
		return foreign(p, f.key)
	}
	return nil
}

// bad is the refusal of a declaration.
func bad(format string, args ...any) *refuse.Error {
	return refuse.New(refuse.CollectionParameter, format, args...)
}

// checkName accepts a collection's name, with its database before a point or without.
func checkName(name string) error {
	database, short, qualified := strings.Cut(name, ".")
	if !qualified {
		short = database
	}
	if !plain(database) || !plain(short) {
		return bad("%.80q is not a name for a collection.", name).
			With("Use letters, digits, _, $ and -, at most %d bytes, optionally after a database's name and a point.", MaxName)
	}
	return nil
}

func plain(s string) bool {
	if s == "" || len(s) > MaxName || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_$-", r)
	}) < 0
}

// checkUUID accepts the usual text of a UUID in lower case.
func checkUUID(s string) error {
	ok := len(s) == 36
	for i := 0; ok && i < len(s); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			ok = s[i] == '-'
		} else {
			ok = strings.IndexByte("0123456789abcdef", s[i]) >= 0
		}
	}
	if !ok {
		return bad("%.40q is not a UUID in lower case.", s)
	}
	return nil
}

// checkStrata accepts public groups: short printable texts that differ in more than case, as SQL
// compares them without.
func checkStrata(strata []string) error {
	if len(strata) > MaxStrata {
		return bad("The collection has %d strata.", len(strata)).With("Declare at most %d, each with n_expected contributors of its own.", MaxStrata)
	}
	seen := map[string]bool{}
	for _, s := range strata {
		if !printable(s) {
			return bad("%.80q is not a name for a stratum.", s).
				With("Use 1 to %d bytes of printable text without spaces at the ends.", MaxName)
		}
		if folded := strings.ToLower(s); seen[folded] {
			return bad("The stratum %q is declared twice.", s).With("Name each stratum once; case makes no difference.")
		} else {
			seen[folded] = true
		}
	}
	return nil
}

func printable(s string) bool {
	return s != "" && len(s) <= MaxName && utf8.ValidString(s) && s == strings.TrimSpace(s) &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// Protocol names one protocol; the values are what SQL and parameters call it.
type Protocol string

// The protocols. Rounds and guarantees are in Protocols.
const (
	LDPBit  Protocol = "LDP_BIT"
	LDPKV2  Protocol = "LDP_KV2"
	LDPKV1  Protocol = "LDP_KV1"
	LDPUV2  Protocol = "LDP_UV2"
	LDPUV1  Protocol = "LDP_UV1"
	LDPHier Protocol = "LDP_HIER"
	LDPHaar Protocol = "LDP_HAAR"
	LDPSCM3 Protocol = "LDP_SCM3"

	ShufSum  Protocol = "SHUF_SUM"
	ShufVec  Protocol = "SHUF_VEC"
	ShufHier Protocol = "SHUF_HIER"
	ShufSCM3 Protocol = "SHUF_SCM3"
)

// Model says who has to be trusted.
type Model string

// The models.
const (
	Local   Model = "LOCAL"   // nobody
	Shuffle Model = "SHUFFLE" // the shuffler not to collude with the server
)

// Info describes a protocol.
type Info struct {
	Protocol Protocol
	ID       uint8 // in reports and messages; never used again for another protocol
	Model    Model
	Rounds   int
	For      string // what it estimates, for documentation
}

// Protocols lists every protocol in the order of the documentation.
var Protocols = []Info{
	{LDPBit, 1, Local, 1, "the mean of a bounded number, whatever its law: the one to take for a mean"},
	{LDPKV2, 2, Local, 2, "the mean of Gaussian numbers in a wide range, standard deviation known"},
	{LDPKV1, 3, Local, 1, "the same in one round"},
	{LDPUV2, 4, Local, 2, "the mean of nearly Gaussian numbers in a wide range, standard deviation unknown"},
	{LDPUV1, 5, Local, 1, "the same in one round, with the standard deviation"},
	{LDPHier, 6, Local, 1, "histogram, ranges and quantiles, up to 4096 buckets"},
	{LDPHaar, 7, Local, 1, "ranges and quantiles, up to 2^20 buckets"},
	{LDPSCM3, 8, Local, 3, "the mean of vectors, centre and scale unknown"},
	{ShufSum, 16, Shuffle, 1, "sum and mean of a bounded number at central accuracy"},
	{ShufVec, 17, Shuffle, 1, "sum and mean of vectors of bounded length"},
	{ShufHier, 18, Shuffle, 1, "histogram, ranges, quantiles and a mean that one contributor moves little"},
	{ShufSCM3, 19, Shuffle, 3, "the mean of vectors at nearly central accuracy"},
}

// Info returns the protocol's description; ok is false for a name that is none.
func (p Protocol) Info() (info Info, ok bool) {
	return lists.Find(Protocols, func(i Info) bool { return i.Protocol == p })
}

// PagePath is where a server has the page for contributors. A link of a token has it, and all that
// is of the token in its fragment, which no browser sends: the page's requests are the same for
// everybody.
const PagePath = "/report"
