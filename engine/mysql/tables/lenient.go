package tables

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/internal/lists"
)

// warn notes an error that IGNORE passes over.
func warn(ctx *sql.Context, code int, err error) {
	text := err.Error()
	if e, ok := err.(*mysql.SQLError); ok {
		text = e.Message
	}
	ctx.Session.Warn(&sql.Warning{Level: "Warning", Code: code, Message: text})
}

// lenient is strict for IGNORE: a value that has no place in a column becomes the nearest that has
// one, with a warning. Dates and documents have none, and fail.
func lenient(ctx *sql.Context, v any, c *sql.Column, row int) (any, error) {
	if v == nil {
		if c.Nullable {
			return nil, nil
		}
		if !types.IsNumber(c.Type) && !types.IsText(c.Type) {
			return nil, nil // the store refuses it
		}
		warn(ctx, mysql.ERBadNullError, sql.ErrInsertIntoNonNullableProvidedNull.New(c.Name))
		return c.Type.Zero(), nil
	}
	fits, err := strict(ctx, v, c.Type, c.Name, row)
	if err == nil {
		return fits, nil
	}
	near, ok := nearest(ctx, v, c.Type)
	if !ok {
		return nil, err
	}
	code := mysql.ERWarnDataOutOfRange
	if e, is := err.(*mysql.SQLError); is {
		if code = e.Num; code == mysql.ERDataTooLong {
			code, err = 1265, mysql.NewSQLError(1265, "01000", "Data truncated for column '%s' at row %d", c.Name, row)
		}
	}
	warn(ctx, code, err)
	return near, nil
}

// nearest is the value of a type that is nearest to one that has no place in it; ok is false where
// the type has none.
func nearest(ctx *sql.Context, v any, t sql.Type) (near any, ok bool) {
	if b, isBytes := v.([]byte); isBytes {
		v = string(b)
	}
	text, isText := v.(string)
	s, toText := t.(sql.StringType)
	switch {
	case types.IsEnum(t):
		return uint16(0), true
	case types.IsSet(t) && isText:
		return knownMembers(t.(sql.SetType), text), true
	case types.IsYear(t):
		return t.Zero(), true
	case types.IsBit(t), types.IsSet(t):
		return nil, false
	case toText && isText && types.IsTextOnly(t):
		for i, c := range text { // it ends before what is no character
			if _, size := utf8.DecodeRuneInString(text[i:]); c == utf8.RuneError && size == 1 {
				text = text[:i]
				break
			}
		}
		letters := []rune(replaced(t, text))
		return string(letters[:min(len(letters), int(s.MaxCharacterLength()))]), true
	case toText && isText:
		return []byte(text[:min(len(text), int(s.MaxByteLength()))]), true
	case !types.IsNumber(t):
		return nil, false
	}
	if isText {
		v, _ = types.TruncateStringToDouble(text)
	}
	if !types.IsSigned(t) && !types.IsDecimal(t) && !types.IsFloat(t) && strings.HasPrefix(fmt.Sprint(v), "-") {
		return t.Zero(), true // go-mysql-server counts on from the other end
	}
	c, _, err := t.Convert(ctx, v)
	if err == nil && c != nil {
		return c, true // go-mysql-server returns the end of the range
	}
	d, isDecimal := t.(sql.DecimalType)
	if !isDecimal {
		return nil, false
	}
	largest := strings.Repeat("9", int(d.Precision()-d.Scale())) + "." + strings.Repeat("9", int(d.Scale()))
	if strings.HasPrefix(fmt.Sprint(v), "-") {
		largest = "-" + largest
	}
	c, _, err = t.Convert(ctx, strings.TrimSuffix(largest, "."))
	return c, err == nil
}

// knownMembers are the members of a SET among those that a text names.
func knownMembers(t sql.SetType, text string) (bits uint64) {
	named := strings.Split(text, ",")
	for i, m := range t.Values() {
		if slices.ContainsFunc(named, func(n string) bool { return strings.EqualFold(n, m) }) {
			bits |= 1 << i
		}
	}
	return bits
}

// plain is the text of a member of ENUM or SET where it goes into a column that is no number.
func plain(v any, from, to sql.Type) (any, error) {
	if v == nil || types.IsNumber(to) || from.Equals(to) {
		return v, nil
	}
	switch e := from.(type) {
	case sql.EnumType:
		if n, ok := v.(uint16); ok {
			s, _ := e.At(int(n))
			return s, nil
		}
	case sql.SetType:
		if n, ok := v.(uint64); ok {
			return e.BitsToString(n)
		}
	}
	return v, nil
}

// kept are the values of a row, with the hidden columns, as the store takes them.
func (t *Table) kept(ctx *sql.Context, row sql.Row) ([]any, error) {
	values := make([]any, len(row))
	for i, v := range row {
		var err error
		if values[i], err = writeValue(ctx, v, t.kinds[i].Type, t.all[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// touchesKey reports whether one of the columns is of a key.
func (t *Table) touchesKey(ordinals []int) bool {
	return slices.ContainsFunc(t.def.Keys, func(k store.Key) bool { return t.touches(k, ordinals) })
}

func (t *Table) touches(k store.Key, ordinals []int) bool {
	return slices.ContainsFunc(ordinals, func(i int) bool { return contains(k.Columns, t.all[i].Name) })
}

// keysOf are the keys that have one of the columns.
func (t *Table) keysOf(ctx *sql.Context, ordinals []int) (of moving, err error) {
	of.list = append(of.list, lists.Filter(t.def.Keys, func(k store.Key) bool { return t.touches(k, ordinals) })...)
	if len(of.list) > 0 {
		of.hidden, err = t.formulas(ctx)
		of.hidden = slices.DeleteFunc(of.hidden, func(f formula) bool { return f.column < len(t.schema) })
	}
	return of, err
}

// taken reports, with a warning, whether another row than the one with this number has one of the
// keys that a row is about to have.
func (t *Table) taken(ctx *sql.Context, values []any, number int64) (bool, error) {
	numbered := t.numbered()
	for _, k := range t.def.Keys {
		columns, err := t.keyOrdinals(k)
		if err != nil {
			return false, err
		}
		present, ok := pick(values, columns)
		if !ok {
			continue
		}
		if columns, err = numbered.keyOrdinals(k); err != nil {
			return false, err
		}
		row, err := numbered.find(ctx, columns, [][]any{present})
		if err != nil {
			return false, err
		}
		if row != nil && row[len(t.schema)] != any(number) {
			warn(ctx, mysql.ERDupEntry, sql.NewUniqueKeyErr(t.shownKey(k, values), k.Primary, nil))
			return true, nil
		}
	}
	return false, nil
}
