// Package encode digests lists of values: two lists have one digest where they are equal, and else
// only by a collision of SHA-256. The keys under which answers are kept are such digests.
package encode

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"sort"
	"sync"
	"time"

	"github.com/cockroachdb/apd/v3"

	"scrim/functions"
)

// Encoding is a list of values in the making.
type Encoding struct{ b []byte }

// New begins a list with a name, the first value.
func New(name string) *Encoding {
	e := new(Encoding)
	e.Put(name)
	return e
}

// Sum is the SHA-256 of the list in hexadecimal.
func (e *Encoding) Sum() string {
	h := sha256.Sum256(e.b)
	return hex.EncodeToString(h[:])
}

// Put appends values, so that no two lists of values have the same encoding but where a nil slice
// or map stands for an empty one. Each value is the name of its type, then a tag, then its length
// where it has one, then its content.
//
//	bool, integers, floats   tag, 8 bytes big-endian; a float by its bits
//	text, bytes              tag, length u64, bytes
//	slice, array             tag, length u64, elements
//	map                      tag, length u64, keys and values in the order of the encoded keys
//	struct                   tag, name of the type, number of fields u64, fields in order, those that are not exported too
//	pointer, interface       tag, then nothing for nil, else a tag and the value; an interface with the name of its dynamic type
//	function                 tag: what a plan holds as a function follows from the rest
//
// Every field of every struct counts, so that one added later cannot be forgotten; one with the tag
// encode:"omitzero", by its name where it is not zero. Numbers of any size and moments are written
// as text, because equal ones may be held in different ways.
func (e *Encoding) Put(values ...any) {
	for _, v := range values {
		e.text('v', fmt.Sprintf("%T", v))
		e.value(reflect.ValueOf(v))
	}
}

func (e *Encoding) number(tag byte, n uint64) {
	e.b = append(e.b, tag)
	e.b = binary.BigEndian.AppendUint64(e.b, n)
}

func (e *Encoding) text(tag byte, s string) {
	e.number(tag, uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *Encoding) value(v reflect.Value) {
	if e.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Invalid:
		e.b = append(e.b, '0')
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		e.number('b', n)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.number('i', uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		e.number('u', v.Uint())
	case reflect.Float32, reflect.Float64:
		e.number('f', math.Float64bits(v.Float()))
	case reflect.String:
		e.text('s', v.String())
	case reflect.Slice, reflect.Array:
		e.number('l', uint64(v.Len()))
		for i := range v.Len() {
			e.value(v.Index(i))
		}
	case reflect.Map:
		e.table(v)
	case reflect.Struct:
		e.text('t', v.Type().String())
		late := lateOf(v.Type())
		e.number('n', uint64(v.NumField()-len(late)))
		for i := range v.NumField() {
			if name := late[i]; name == "" {
				e.value(v.Field(i))
			} else if f := v.Field(i); !f.IsZero() {
				e.text('o', name)
				e.value(f)
			}
		}
	case reflect.Pointer:
		e.held('p', v, "")
	case reflect.Interface:
		name := ""
		if !v.IsNil() {
			name = v.Elem().Type().String()
		}
		e.held('a', v, name)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		e.b = append(e.b, 'x')
	default:
		panic(fmt.Sprintf("encode: a value of kind %s cannot be digested", v.Kind()))
	}
}

// lates has the fields of each struct type that have the tag encode:"omitzero": they came after
// answers had been kept, and are left out where they are zero, so that these are found again.
var lates sync.Map

func lateOf(t reflect.Type) map[int]string {
	if list, ok := lates.Load(t); ok {
		return list.(map[int]string)
	}
	list := map[int]string{}
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("encode") == "omitzero" {
			list[i] = f.Name
		}
	}
	lates.Store(t, list)
	return list
}

// held encodes what a pointer or an interface holds.
func (e *Encoding) held(tag byte, v reflect.Value, name string) {
	e.b = append(e.b, tag)
	if v.IsNil() {
		e.b = append(e.b, '0')
		return
	}
	e.text('1', name)
	e.value(v.Elem())
}

// table encodes a map in the order of its encoded keys.
func (e *Encoding) table(v reflect.Value) {
	var pairs []string
	for it := v.MapRange(); it.Next(); {
		one := new(Encoding)
		one.value(it.Key())
		key := len(one.b)
		one.value(it.Value())
		pairs = append(pairs, string(binary.BigEndian.AppendUint64(nil, uint64(key)))+string(one.b))
	}
	sort.Strings(pairs)
	e.number('m', uint64(len(pairs)))
	for _, p := range pairs {
		e.b = append(e.b, p...)
	}
}

var (
	functionType = reflect.TypeFor[functions.Function]()
	momentType   = reflect.TypeFor[time.Time]()
	decimalType  = reflect.TypeFor[apd.Decimal]()
	ratType      = reflect.TypeFor[big.Rat]()
)

// special encodes the types that are not what their fields are.
func (e *Encoding) special(v reflect.Value) bool {
	if v.Kind() != reflect.Struct {
		return false
	}
	switch v.Type() {
	case functionType: // one of the table of functions, which the name finds
		e.text('F', v.FieldByName("Name").String())
		return true
	case momentType, decimalType, ratType:
	default:
		return false
	}
	if !v.CanInterface() {
		return false
	}
	switch x := v.Interface().(type) {
	case time.Time:
		e.text('T', x.UTC().Format(time.RFC3339Nano))
	case apd.Decimal:
		e.text('D', x.Text('E'))
	case big.Rat:
		e.text('R', x.RatString())
	}
	return true
}
