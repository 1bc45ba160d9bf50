package standard

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	define(function{name: "json_merge_patch", min: 2, max: 1024, typ: types.JSON, nulls: true, eval: mergePatch,
		doc: "merges JSON documents, replacing values of duplicate keys."},
		function{name: "json_contains", min: 2, max: 3, typ: types.Boolean, eval: contains,
			doc: "says whether a JSON document contains another."})
}

// document is a JSON document, or one in a text, as a value of Go; nil is the null of JSON.
func document(ctx *sql.Context, v any, name string, nth int) (any, error) {
	switch d := v.(type) {
	case sql.JSONWrapper:
		return d.ToInterface(ctx)
	case string, []byte:
		s, _ := plainText(d)
		var out any
		if err := json.Unmarshal([]byte(s), &out); err != nil {
			return nil, sql.ErrInvalidJSONText.New(nth, name, s)
		}
		return out, nil
	}
	return nil, sql.ErrInvalidJSONArgument.New(nth, name)
}

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
var steps = regexp.MustCompile(`^\s*(\[\s*([0-9]+|last)\s*\]|\.\s*([A-Za-z_$][A-Za-z0-9_$]*|"(?:[^"\\]|\\.)*"))`)

// intoSelf leaves out of a path to a value of a document the steps from what is no array to itself.
func intoSelf(d any, path string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(path), "$")
	if !ok {
		return path
	}
	out := "$"
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
		out, rest = out+strings.TrimSpace(m[0]), rest[len(m[0]):]
		switch object, _ := d.(map[string]any); {
		case m[3] != "":
			key := m[3]
			if key[0] == '"' && json.Unmarshal([]byte(m[3]), &key) != nil {
				return path
			}
			d, ok = object[key]
		case m[2] == "last":
			if ok = len(list) > 0; ok {
				d = list[len(list)-1]
			}
		default:
			n, err := strconv.Atoi(m[2])
			if ok = err == nil && n < len(list); ok {
				d = list[n]
			}
		}
		if !ok {
			break
		}
	}
	return out + rest
}

// paths gives a function that reads JSON at paths those without steps from a value to itself. It
// returns nil where there is nothing to change.
func paths(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	first := 0
	bare := e
	if b, ok := e.(*boundedCall); ok {
		bare = b.Expression
	}
	switch bare.(type) {
	case *gms.JSONExtract:
		first = 1
	case *gms.JSONContainsPath:
		first = 2
	default:
		return nil, nil
	}
	list, changed := slices.Clone(e.Children()), false
	for i := first; i < len(list); i++ {
		if l, ok := list[i].(*expression.Literal); ok {
			if s, text := plainText(l.Value()); text && !strings.Contains(s, "[") {
				continue
			}
		}
		if c, ok := list[i].(*call); ok && c.f == pathOf {
			continue
		}
		list[i], changed = newCall(ctx, pathOf, []sql.Expression{list[0], list[i]}), true
	}
	if !changed {
		return nil, nil
	}
	return e.WithChildren(ctx, list...)
}

// contains is JSON_CONTAINS.
func contains(ctx *sql.Context, a []any) (any, error) {
	docs := make([]any, 2)
	for i := range docs {
		var err error
		if docs[i], err = document(ctx, a[i], "json_contains", i+1); err != nil {
			return nil, err
		}
	}
	if len(a) > 2 {
		path, _ := plainText(a[2])
		found, err := types.LookupJSONValue(ctx, types.JSONDocument{Val: docs[0]}, intoSelf(docs[0], path))
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
	case string:
		s, ok := v.(string)
		return ok && s == in, nil
	}
	switch v.(type) {
	case string, []any, map[string]any:
		return false, nil
	}
	x, y := decimalOf(in), decimalOf(v)
	_, isBool := in.(bool)
	if _, also := v.(bool); x == nil || y == nil || isBool != also {
		return in == nil && v == nil, nil
	}
	return x.Cmp(y) == 0, nil
}

// pathOf is a path for a document.
var pathOf = &function{name: "path", min: 2, max: 2, typ: types.LongText, unseen: true, eval: func(ctx *sql.Context, a []any) (any, error) {
	path, ok := plainText(a[1])
	if !ok {
		return a[1], nil
	}
	d, err := document(ctx, a[0], "json_extract", 1)
	if err != nil {
		return path, nil // of which the function says what it is
	}
	return intoSelf(d, path), nil
}}
