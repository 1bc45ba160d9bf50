package params

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Place is a set of places where a parameter may be set. An option of a call is told by
// Parameter.Option.
type Place uint8

// The places.
const (
	Session Place = 1 << iota // SET
	Global                    // SET GLOBAL, for sessions to come
	Hint                      // SET_VAR
	Default                   // dp_set_defaults
)

// Kind says which values a parameter takes.
type Kind uint8

// The kinds.
const (
	Number Kind = iota // from Min to Max
	Words              // one of Words
	Switch             // on or off
)

// Parameter is a row of the table.
type Parameter struct {
	Name     string // as SET, SET_VAR and dp_set_defaults spell it
	Option   string // of a call, where one says the same for one aggregate; else ""
	Kind     Kind
	Min, Max float64 // of numbers, both included
	Whole    bool    // whether the numbers are whole
	Unit     string  // of numbers
	Words    []string
	Places   Place
	// of the session variable where the session sets none, in the type that SELECT @@name has
	Initial any
	// InForce is what holds where neither the session nor a table sets the parameter, in the type
	// of Initial. It is nil where that is Initial, or follows from other parameters.
	InForce any
	Doc     string
}

// BuiltIn is what holds where neither the session nor a table sets the parameter, in the type of
// Initial.
func (p *Parameter) BuiltIn() any {
	if p.InForce != nil {
		return p.InForce
	}
	return p.Initial
}

// Value is a value that a parameter takes: of numbers Number, else Word, in lower case. A switch
// has the words on and off.
type Value struct {
	Number float64
	Word   string
}

// On reports whether a switch is on.
func (v Value) On() bool { return v.Word == "on" }

// String writes the value as text.
func (v Value) String() string {
	if v.Word != "" {
		return v.Word
	}
	return fmt.Sprint(v.Number)
}

// Number returns f as a value; false where it is out of range, NaN, or not whole where it must be.
func (p *Parameter) Number(f float64) (Value, bool) {
	return Value{Number: f}, p.Kind == Number && f >= p.Min && f <= p.Max && (!p.Whole || f == math.Trunc(f))
}

// Word returns a text in any case as a value; false where it is none of the words.
func (p *Parameter) Word(text string) (Value, bool) {
	text = strings.ToLower(text)
	ok := slices.ContainsFunc(p.Words, func(w string) bool { return strings.ToLower(w) == text })
	return Value{Word: text}, p.Kind != Number && ok
}

// Switch returns a position as a value.
func (p *Parameter) Switch(on bool) (Value, bool) {
	word := "off"
	if on {
		word = "on"
	}
	return Value{Word: word}, p.Kind == Switch
}

// Read returns a text as SET_VAR spells it as a value; false where it is none. A switch is also 1,
// 0, true and false.
func (p *Parameter) Read(text string) (Value, bool) {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case p.Kind == Words:
		return p.Word(text)
	case p.Kind == Number:
		v, ok := p.Number(f)
		return v, ok && err == nil
	case err == nil:
		v, ok := p.Switch(f == 1)
		return v, ok && (f == 0 || f == 1)
	case strings.EqualFold(text, "true"), strings.EqualFold(text, "false"):
		return p.Switch(strings.EqualFold(text, "true"))
	}
	return p.Word(text)
}

// Takes reports whether v is a value of the parameter.
func (p *Parameter) Takes(v Value) bool {
	if p.Kind == Number {
		_, ok := p.Number(v.Number)
		return ok && v.Word == ""
	}
	w, ok := p.Word(v.Word)
	return ok && w == v
}

// Range is the values in short, for tables: "1e-6 to 100", or "auto, vector, separate".
func (p *Parameter) Range() string {
	if p.Kind != Number {
		return strings.Join(p.Words, ", ")
	}
	return p.text(p.Min) + " to " + p.text(p.Max)
}

// Want is the values in words, for refusals: "a number from 1e-6 to 100", or "auto, vector or
// separate".
func (p *Parameter) Want() string {
	switch {
	case p.Kind != Number:
		return list(p.Words)
	case p.Whole:
		return "a whole number from " + p.Range()
	}
	return "a number from " + p.Range()
}

// list writes words as people do: "a, b or c".
func list(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// text writes an end of the range as people do: 1e-6 and not 1e-06.
func (p *Parameter) text(f float64) string {
	if p.Whole {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(strconv.FormatFloat(f, 'g', -1, 64))
}
