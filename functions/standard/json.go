package standard

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/lists"
)

func init() {
	define(function{name: "json_merge_patch", min: 2, max: 1024, typ: types.JSON, nulls: true, eval: mergePatch,
		doc: "merges JSON documents, replacing values of duplicate keys."},
		function{name: "json_contains", min: 2, max: 3, typ: types.Boolean, eval: contains,
			doc: "says whether a JSON document contains another."},
		function{name: "json_overlaps", min: 2, max: 2, typ: types.Boolean, eval: overlaps,
			doc: "says whether two JSON documents have an element or a member in common."})
}

// document is a JSON document, or one in a text, as a value of Go; nil is the null of JSON.
func document(ctx *sql.Context, v any, name string, nth int) (any, error) {
	switch d := v.(type) {
	case sql.JSONWrapper:
		return d.ToInterface(ctx)
	case string, []byte:
		s, _ := plainText(d)
		out, err := ParseJSON(s)
		if err != nil {
			return nil, sql.ErrInvalidJSONText.New(nth, name, s)
		}
		return out, nil
	}
	return nil, sql.ErrInvalidJSONArgument.New(nth, name)
}

// exactNumber is in each text with a number that float64 may not hold, or shows without its point.
var exactNumber = regexp.MustCompile(`[0-9]{16}|[0-9][.eE]`)

// ParseJSON is a document in a text as a value of Go. A whole number has all of its digits, where
// 64 bits have them, and one with a point or an exponent is a DECIMAL that shows its point, where
// MySQL writes it in plain digits. Others are float64.
func ParseJSON(text string) (v any, err error) {
	if err = json.Unmarshal([]byte(text), &v); err != nil || !exactNumber.MatchString(text) {
		return v, err
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return exactNumbers(v), err
}

// exactNumbers replaces the numbers of a parsed document, which are texts, by numbers.
func exactNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return n
		}
		x, _ := v.Float64()
		if x == math.Trunc(x) && math.Abs(x) < 1e15 && strings.ContainsAny(v.String(), ".eE") {
			return &apd.Decimal{Negative: math.Signbit(x), Coeff: *apd.NewBigInt(int64(math.Abs(x)) * 10), Exponent: -1}
		}
		return x
	case []any:
		for i := range v {
			v[i] = exactNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = exactNumbers(v[k])
		}
	}
	return v
}

// AsDocument is a text as the document in it, and any other value as it is.
func AsDocument(v any) any {
	if s, text := plainText(v); text {
		if d, err := ParseJSON(s); err == nil {
			return types.JSONDocument{Val: d}
		}
	}
	return v // the function that reads it says what is wrong with it
}

// documentOf is a document that an argument is, or is the text of.
var documentOf = &function{name: "document", min: 1, max: 1, typ: types.JSON, unseen: true, eval: func(_ *sql.Context, a []any) (any, error) {
	return AsDocument(a[0]), nil
}}

// mergePatch is JSON_MERGE_PATCH, by RFC 7396. What is merged into NULL is NULL, until a document
// that is no object takes its place.
func mergePatch(ctx *sql.Context, a []any) (any, error) {
	var out any
	null := true
	for i, v := range a {
		if v == nil {
			null = true
			continue
		}
		d, err := document(ctx, v, "json_merge_patch", i+1)
		if err != nil {
			return nil, err
		}
		_, object := d.(map[string]any)
		if null && i > 0 && object {
			continue
		}
		if null = false; i == 0 {
			out = d
		} else {
			out = patched(out, d)
		}
	}
	if null {
		return nil, nil
	}
	return types.JSONDocument{Val: out}, nil
}

func patched(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := map[string]any{}
	if t, ok := target.(map[string]any); ok {
		out = maps.Clone(t)
	}
	for k, v := range p {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = patched(out[k], v)
		}
	}
	return out
}

// firstOf are the steps of a path that lead from what is no array to itself: MySQL takes it for one
// of a single element.
var firstOf = regexp.MustCompile(`^\s*\[\s*(0|last)\s*\]`)

// steps are those of a path without wildcards, up to the first that is another.
var steps = regexp.MustCompile(`^\s*(\[\s*([0-9]+|last(?:\s*-\s*[0-9]+)?)\s*\]|\.\s*([A-Za-z_$][A-Za-z0-9_$]*|"(?:[^"\\]|\\.)*"))`)

// paths are all that MySQL has, and strange those of them that go-mysql-server does not know.
var (
	paths   = regexp.MustCompile(`^\s*\$(\s*(\[\s*(\*|[0-9]+|(last(\s*-\s*[0-9]+)?|[0-9]+)(\s+to\s+(last(\s*-\s*[0-9]+)?|[0-9]+))?)\s*\]|(\*\*)?\.\s*(\*|[\pL_$][\pL\pN_$]*|"(?:[^"\\]|\\.)*")|\*\*\s*\[[^\]]*\]))*\s*$`)
	strange = regexp.MustCompile(`\*\*|\[[^\]"]*(last|to)`)
)

// intoSelf leaves out of a path to a value of a document the steps from what is no array to itself,
// and counts those from the end of an array from its beginning.
func intoSelf(d any, path string) (string, error) {
	if !paths.MatchString(path) {
		return "", mysql.NewSQLError(3143, "42000", "Invalid JSON path expression: '%s'. A path is $, and behind it .name, .*, [number] and [*].", path)
	}
	rest, out := strings.TrimPrefix(strings.TrimSpace(path), "$"), "$"
	for rest != "" {
		list, isArray := d.([]any)
		if self := firstOf.FindString(rest); self != "" && !isArray {
			rest = rest[len(self):]
			continue
		}
		m := steps.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		rest = rest[len(m[0]):]
		if key := m[3]; key != "" {
			if key[0] == '"' {
				_ = json.Unmarshal([]byte(m[3]), &key)
			}
			object, _ := d.(map[string]any)
			d, out = object[key], out+strings.TrimSpace(m[0])
			continue
		}
		n, err := strconv.Atoi(m[2])
		if back, fromEnd := strings.CutPrefix(m[2], "last"); fromEnd {
			n, err = strconv.Atoi("0" + strings.Trim(back, "- \t"))
			n = len(list) - 1 - n
		}
		if err != nil || n < 0 || n >= len(list) { // which nothing is at
			return fmt.Sprintf("%s[%d]", out, max(1, len(list))), nil
		}
		d, out = list[n], fmt.Sprintf("%s[%d]", out, n)
	}
	if strange.MatchString(rest) {
		return "", mysql.NewSQLError(1235, "42000", "A JSON path with a range, with **, or with last behind a wildcard is not supported: '%s'. Name the elements by their numbers.", path)
	}
	return out + rest, nil
}

// prepared is what documents pass before a function of go-mysql-server that copies or encodes them;
// nil of other functions.
func prepared(e sql.Expression) *function {
	switch e.(type) {
	case *gms.JSONSet, gms.JSONInsert, gms.JSONReplace, gms.JSONRemove, gms.JSONArrayAppend, gms.JSONArrayInsert, *gms.JSONMergePreserve:
		return carried
	case *gms.JSONPretty:
		return plain
	}
	return nil
}

// documentsIn tells of a function of go-mysql-server, or of a cast to JSON, how many of its first
// arguments are documents, where paths begin, how far they are apart, and whether it reads at them.
func documentsIn(ctx *sql.Context, e sql.Expression) (docs, path, step int, reads bool) {
	n := len(e.Children())
	switch x := e.(type) {
	case *expression.Convert:
		if types.IsJSON(x.Type(ctx)) {
			return 1, n, 1, false
		}
	case *gms.JSONMergePreserve:
		return n, n, 1, false
	case *gms.JSONExtract:
		return 1, 1, 1, true
	case *gms.JSONContainsPath:
		return 1, 2, 1, true
	case *gms.JSONSet, gms.JSONInsert, gms.JSONReplace, gms.JSONArrayAppend, gms.JSONArrayInsert:
		return 1, 1, 2, false
	case *gms.JSONKeys, *gms.JsonLength, *gms.JsonValue, gms.JSONRemove:
		return 1, 1, 1, false
	case *gms.JSONSearch:
		return 1, 4, 1, false
	case *gms.JSONDepth, *gms.JSONPretty, *gms.JSONType:
		return 1, n, 1, false
	}
	return 0, n, 1, false
}

// parsed has the first arguments, which are documents, read by all digits of their numbers where
// they are texts: go-mysql-server would make them float64.
func parsed(ctx *sql.Context, args []sql.Expression, docs int) (changed bool) {
	for i := range min(docs, len(args)) {
		if args[i].Resolved() && types.IsTextOnly(args[i].Type(ctx)) {
			args[i], changed = newCall(ctx, documentOf, []sql.Expression{args[i]}), true
		}
	}
	return changed
}

// documents gives what reads documents all of their digits, and paths without steps from a value to
// itself. Constant paths are checked. It returns nil where there is nothing to change.
func documents(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	bare, list := e, slices.Clone(e.Children())
	b, is := e.(*boundedCall)
	if is {
		bare = b.Expression
	}
	docs, path, step, reads := documentsIn(ctx, bare)
	changed := !is && parsed(ctx, list, docs) // a call that is bounded reads texts once they are counted
	for i := path; i < len(list); i += step {
		if l, ok := list[i].(*expression.Literal); ok {
			if s, text := plainText(l.Value()); text {
				if _, err := intoSelf(nil, s); err != nil {
					return nil, err
				}
				if !strings.Contains(s, "[") {
					continue
				}
			}
		}
		if c, ok := list[i].(*call); reads && (!ok || c.f != pathOf) {
			list[i], changed = newCall(ctx, pathOf, []sql.Expression{list[i], list[0]}), true
		}
	}
	if !changed {
		return nil, nil
	}
	return e.WithChildren(ctx, list...)
}

// carried is a document for a function of go-mysql-server that copies it, and makes null of
// DECIMALs: they are texts in it, which begin as no text of a document does.
var carried = &function{name: "carried", min: 1, max: 1, typ: types.JSON, unseen: true, eval: func(ctx *sql.Context, a []any) (any, error) {
	return leaves(ctx, a[0], func(v any) any {
		switch x := v.(type) {
		case *apd.Decimal:
			return carriedMark + x.Text('f')
		case time.Time:
			return x.Format(sql.DatetimeLayoutNoTrim)
		}
		return v
	})
}}

const carriedMark = "\xff"

// plain is a document for encoding/json, which quotes DECIMALs.
var plain = &function{name: "plain", min: 1, max: 1, typ: types.JSON, unseen: true, eval: func(ctx *sql.Context, a []any) (any, error) {
	return leaves(ctx, a[0], func(v any) any {
		if d, ok := v.(*apd.Decimal); ok {
			return json.Number(d.Text('f'))
		}
		return v
	})
}}

// restored is what such a function returns, with its DECIMALs.
func restored(ctx *sql.Context, e sql.Expression) sql.Expression {
	return as(ctx, "restored", e, types.JSON, func(ctx *sql.Context, v any) (any, error) {
		return leaves(ctx, v, func(v any) any {
			if s, ok := v.(string); ok && strings.HasPrefix(s, carriedMark) {
				return decimalOf(s[len(carriedMark):])
			}
			return v
		})
	})
}

// leaves is a document with what of makes of its values.
func leaves(ctx *sql.Context, v any, of func(any) any) (any, error) {
	if j, ok := v.(sql.JSONWrapper); ok {
		var err error
		if v, err = j.ToInterface(ctx); err != nil {
			return nil, err
		}
	}
	var changed func(any) any
	changed = func(v any) any {
		switch x := v.(type) {
		case map[string]any:
			m := make(map[string]any, len(x))
			for k, e := range x {
				m[k] = changed(e)
			}
			return m
		case []any:
			return lists.Map(x, changed)
		}
		return of(v)
	}
	return types.JSONDocument{Val: changed(v)}, nil
}

// two are the first arguments as documents.
func two(ctx *sql.Context, a []any, name string) (docs [2]any, err error) {
	for i := 0; i < len(docs) && err == nil; i++ {
		docs[i], err = document(ctx, a[i], name, i+1)
	}
	return docs, err
}

// contains is JSON_CONTAINS.
func contains(ctx *sql.Context, a []any) (any, error) {
	docs, err := two(ctx, a, "json_contains")
	if err != nil {
		return nil, err
	}
	if len(a) > 2 {
		path, _ := plainText(a[2])
		path, err := intoSelf(docs[0], path)
		if err != nil {
			return nil, err
		}
		found, err := types.LookupJSONValue(ctx, types.JSONDocument{Val: docs[0]}, path)
		if found == nil || err != nil {
			return nil, err
		}
		if docs[0], err = document(ctx, found, "json_contains", 1); err != nil {
			return nil, err
		}
	}
	return holds(ctx, docs[0], docs[1])
}

// holds reports whether a value of JSON is in another: an array has what one of its elements has,
// and an object has one whose values are in its own.
func holds(ctx *sql.Context, in, v any) (yes bool, err error) {
	for _, x := range []*any{&in, &v} {
		if d, ok := (*x).(sql.JSONWrapper); ok {
			if *x, err = d.ToInterface(ctx); err != nil {
				return false, err
			}
		}
	}
	switch in := in.(type) {
	case []any:
		if list, ok := v.([]any); ok {
			for _, x := range list {
				if yes, err = holds(ctx, in, x); !yes || err != nil {
					return false, err
				}
			}
			return true, nil
		}
		for _, x := range in {
			if yes, err = holds(ctx, x, v); yes || err != nil {
				return yes, err
			}
		}
		return false, nil
	case map[string]any:
		object, ok := v.(map[string]any)
		for k, x := range object {
			of, has := in[k]
			if !has {
				return false, nil
			}
			if yes, err = holds(ctx, of, x); !yes || err != nil {
				return false, err
			}
		}
		return ok, nil
	}
	c, err := ranking(ctx, in, v)
	return c == 0, err
}

// overlaps is JSON_OVERLAPS. What is no array is one of a single element beside an array.
func overlaps(ctx *sql.Context, a []any) (any, error) {
	docs, err := two(ctx, a, "json_overlaps")
	if err != nil {
		return nil, err
	}
	x, object := docs[0].(map[string]any)
	y, also := docs[1].(map[string]any)
	if object && also {
		for k, v := range x {
			if w, ok := y[k]; ok {
				if c, err := ranking(ctx, v, w); c == 0 || err != nil {
					return c == 0, err
				}
			}
		}
		return false, nil
	}
	list, ok := docs[0].([]any)
	if !ok {
		list = docs[:1]
	}
	other, ok := docs[1].([]any)
	if !ok {
		other = docs[1:]
	}
	for _, v := range list {
		for _, w := range other {
			if c, err := ranking(ctx, v, w); c == 0 || err != nil {
				return c == 0, err
			}
		}
	}
	return false, nil
}

// ranked is a document that is compared by all digits of its numbers.
type ranked struct{ types.JSONDocument }

var _ types.ComparableJSON = ranked{}

// inRank is a document that is compared.
func inRank(ctx *sql.Context, e sql.Expression) sql.Expression {
	if c, ok := e.(*call); ok && c.f.name == "ranked" {
		return e
	}
	return as(ctx, "ranked", e, types.JSON, func(ctx *sql.Context, v any) (any, error) {
		d, err := document(ctx, v, "", 1)
		return ranked{types.JSONDocument{Val: d}}, err
	})
}

// JsonType implements types.ComparableJSON.
func (r ranked) JsonType(context.Context) (string, error) { return gms.TypeOfJsonValue(r.Val), nil }

// Compare implements types.ComparableJSON.
func (r ranked) Compare(ctx context.Context, other any) (_ int, err error) {
	if d, ok := other.(sql.JSONWrapper); ok {
		if other, err = d.ToInterface(ctx); err != nil {
			return 0, err
		}
	}
	return ranking(ctx, r.Val, other)
}

// ranking orders two values of JSON.
func ranking(ctx context.Context, a, b any) (order int, err error) {
	switch x := a.(type) {
	case []any:
		if y, ok := b.([]any); ok {
			for i := 0; i < min(len(x), len(y)) && order == 0 && err == nil; i++ {
				order, err = ranking(ctx, x[i], y[i])
			}
			return cmp.Or(order, len(x)-len(y)), err
		}
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			keys := slices.Sorted(maps.Keys(x))
			order = cmp.Or(len(x)-len(y), slices.Compare(keys, slices.Sorted(maps.Keys(y))))
			for i := 0; i < len(keys) && order == 0 && err == nil; i++ {
				order, err = ranking(ctx, x[keys[i]], y[keys[i]])
			}
			return order, err
		}
	}
	if x, y := numberIn(a), numberIn(b); x != nil && y != nil {
		return x.Cmp(y), nil
	}
	return types.CompareJSON(ctx, a, b)
}

// numberIn is a number of a document; nil of other values.
func numberIn(v any) *apd.Decimal {
	switch v.(type) {
	case bool, string:
		return nil
	}
	return decimalOf(v)
}

// pathOf is a path for a document.
var pathOf = &function{name: "path", min: 2, max: 2, typ: types.LongText, unseen: true, eval: func(ctx *sql.Context, a []any) (any, error) {
	path, ok := plainText(a[0])
	if !ok {
		return a[0], nil
	}
	d, err := document(ctx, a[1], "json_extract", 1)
	if err != nil {
		return path, nil // of which the function says what it is
	}
	return intoSelf(d, path)
}}
