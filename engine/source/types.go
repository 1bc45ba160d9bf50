package source

import (
	"regexp"
	"strconv"
)

var decimal = regexp.MustCompile(`^DECIMAL\(([0-9]+),([0-9]+)\)$`)

// Decimal returns how many digits a DECIMAL of the store has, and how many of them are behind the
// point.
func Decimal(typ string) (digits, scale int, ok bool) {
	m := decimal.FindStringSubmatch(typ)
	if m == nil {
		return 0, 0, false
	}
	digits, _ = strconv.Atoi(m[1])
	scale, _ = strconv.Atoi(m[2])
	return digits, scale, 0 < digits && digits <= 38 && scale <= digits
}

// ShapeOf returns which slice of a Vector has the values of a type of the store.
func ShapeOf(typ string) Shape {
	switch typ {
	case "VARCHAR", "BLOB":
		return Texts
	case "FLOAT", "DOUBLE":
		return Floats
	}
	if digits, _, ok := Decimal(typ); ok && digits > 18 {
		return Wide
	}
	return Ints
}
