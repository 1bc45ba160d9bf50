package dialect

import (
	"reflect"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// swap tells what takes the place of an expression in a copy: by, or, where that is nil, the
// expression's own copy, in whose parts it is asked again if inside is set.
type swap func(e ast.Expr) (by ast.Expr, inside bool)

// copyOf copies a part of a syntax tree, so that no node is shared: later steps change trees in
// place.
func copyOf[T any](part T, f swap) T {
	var out T
	reflect.ValueOf(&out).Elem().Set(copyValue(reflect.ValueOf(&part).Elem(), f))
	return out
}

// copyValue copies a value. What is not exported is taken over: names, which nobody changes.
func copyValue(v reflect.Value, f swap) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		if e, ok := v.Interface().(ast.Expr); ok && f != nil {
			by, inside := f(e)
			if by != nil {
				out.Set(reflect.ValueOf(by))
				return out
			}
			if !inside {
				f = nil
			}
		}
		out.Set(copyValue(v.Elem(), f))
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(copyValue(v.Elem(), f))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(copyValue(v.Index(i), f))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(copyValue(v.Field(i), f))
			}
		}
		return out
	}
	return v
}
