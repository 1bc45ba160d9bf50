package contribute

import "scrim/engine/collect"

// Params are the verified public parameters of one round of one stratum.
type Params = collect.Params

// Value is one person's value: one number, one vector, or nil for NULL.
type Value = collect.Value

// Number is the value x. NaN counts as NULL, ±Inf and what is beyond the declared range as its
// nearer end.
func Number(x float64) Value { return Value{x} }

// Vector is a value of several coordinates. It counts as NULL if their number is not the declared
// one, or if one of them is not finite.
func Vector(x ...float64) Value { return append(Value{}, x...) }

// Null is the value of who has none, or does not want to tell. It is reported like any other, as
// the collection's public null_default: nobody can see who did.
func Null() Value { return nil }
