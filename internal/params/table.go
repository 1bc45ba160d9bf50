package params

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"scrim/internal/lists"
)

// What a statement costs when nobody says: ε = 1 with δ = 1e-8 per protected table. δ is far below
// 1/(number of persons) of any table that the server is meant for, so that it stays negligible.
const (
	DefaultEpsilon = 1.0
	DefaultDelta   = 1e-8
)

// DefaultMaxGroups is the number of groups to which one person may contribute when nobody says, and
// there are more than can all be kept.
const DefaultMaxGroups = 8

// Words of parameters that the code asks for.
const (
	Auto = "auto" // the server chooses, by public facts

	GroupByVector   = "vector"   // all groups in one release
	GroupBySeparate = "separate" // each group by itself

	PreviewRefuse = "refuse"
	PreviewEmpty  = "empty"

	WarningsShow  = "show"
	WarningsError = "error"

	KeysDrop = "drop" // what is in keys that are not selected is left out
	KeysKeep = "keep" // it is answered in a row of its own

	ViewsAlways = "always"
	ViewsOff    = "off"

	LowNRefuse = "refuse"
	LowNNull   = "null"
)

// What a statement costs and how it is answered.
var (
	// Epsilon ranges over what a statement can mean: above ε = 100 nothing is private, below 1e-6
	// no answer is more than noise.
	Epsilon = &Parameter{Name: "dp_epsilon", Option: "epsilon", Kind: Number, Min: 1e-6, Max: 100,
		Unit: "ε of (ε, δ)-DP", Places: Session | Hint | Default, Initial: 0.0, InForce: DefaultEpsilon,
		Doc: "The ε of one statement on each protected table that it touches. Where the session sets neither it nor dp_rho, the table's default holds, else 1. Where dp_rho is set, it shows the ε of that ρ."}

	Delta = &Parameter{Name: "dp_delta", Kind: Number, Min: 1e-30, Max: 1e-3,
		Unit: "a probability", Places: Session | Hint | Default, Initial: 0.0, InForce: DefaultDelta,
		Doc: "The δ of one statement. Where the session sets none, the table's default holds, else 1e-8."}

	// Rho ends at 1000 at every door. Above ρ = 100 nothing is private: ε is above 100 at any δ.
	// But sessions and tables have always taken up to 1000, and table defaults of that size are
	// stored, so a lower end would refuse after an upgrade what was accepted before. What protects
	// is max_epsilon of a table, and the budgets.
	Rho = &Parameter{Name: "dp_rho", Option: "rho", Kind: Number, Min: 1e-12, Max: 1000,
		Unit: "ρ of ρ-zCDP", Places: Session | Hint | Default, Initial: 0.0,
		Doc: "The zCDP loss ρ of one statement, instead of dp_epsilon. Setting one of the two unsets the other. Where it is not set, it shows the ρ of dp_epsilon at dp_delta."}

	MaxGroups = &Parameter{Name: "dp_max_groups_contributed", Kind: Number, Min: 1, Max: 100_000, Whole: true,
		Unit: "groups", Places: Session | Hint | Default, Initial: int64(0), InForce: int64(DefaultMaxGroups),
		Doc: "The number of groups to which one person may contribute. Where the session sets none, the table's default holds, else all of up to 24 public groups, and 8 of more or of private ones."}

	GroupBy = &Parameter{Name: "dp_group_by", Kind: Words, Words: []string{Auto, GroupByVector, GroupBySeparate},
		Places: Session | Hint | Default, Initial: "", InForce: Auto,
		Doc: "How a GROUP BY is answered: vector: counts, sums and means of all groups in one release, in which no person is left out of any group; separate: each group by itself, with the groups of a person bounded by dp_max_groups_contributed; auto: what promises the smaller error. Where the session sets none, the table's default holds, else auto."}

	Keys = &Parameter{Name: "dp_keys", Kind: Words, Words: []string{KeysDrop, KeysKeep},
		Places: Session | Hint, Initial: KeysDrop,
		Doc: "What becomes of the rows whose group key is not selected, where keys are not public: drop: they are left out of the result; keep: they are answered as one group more, the row whose keys are all NULL. Rows without any key are then in that row, too. It costs nothing more."}

	Method = &Parameter{Name: "dp_method", Option: "method", Kind: Words,
		Words:  []string{Auto, "clipped", "shifted", "plan", "coinpress", "person", "friendly", "cover"},
		Places: Session | Hint | Default, Initial: "", InForce: Auto,
		Doc: "The method of means; person and cover are for numbers, too, the others for vectors; the option method goes before it. Where the session sets none, the table's default holds, else auto."}

	Pilot = &Parameter{Name: "dp_pilot", Option: "pilot", Kind: Number, Min: 1e-3, Max: 1,
		Unit: "a share of the usual cost", Places: Session | Hint, Initial: 0.0,
		Doc: "The share of a statement's usual cost that a first run may be charged, where only an answer tells what dp_target_error costs. 0: no pilot."}

	Preview = &Parameter{Name: "dp_preview", Kind: Words, Words: []string{PreviewRefuse, PreviewEmpty},
		Places: Session | Global | Hint, Initial: PreviewRefuse,
		Doc: "What the preview of a protected table (SELECT columns FROM t … LIMIT n, without an aggregate) gets: an error, or no rows and a warning, for tools that read the names of columns so. No row is read either way. A DBA may SET GLOBAL it for sessions to come."}

	Rewrite = &Parameter{Name: "dp_rewrite", Kind: Switch, Words: []string{"ON", "OFF"},
		Places: Session | Hint, Initial: int8(1),
		Doc: "Whether plain SQL aggregates on protected tables are rewritten to their DP forms, or refused."}

	TargetError = &Parameter{Name: "dp_target_error", Option: "error", Kind: Number, Min: 1e-9, Max: 1e18,
		Unit: "the answer's own", Places: Session | Hint, Initial: 0.0,
		Doc: "The error that every aggregate without a cost of its own is asked to have, in the place of dp_epsilon: the standard deviation of its noise. Its cost is solved for before anything is spent. 0: none."}
)

// Views is not one of what a table sets: whether an older answer does is for who asks to say.
var Views = &Parameter{Name: "dp_views", Kind: Words, Words: []string{Auto, ViewsAlways, ViewsOff},
	Places: Session | Hint, Initial: Auto,
	Doc: "Whether a statement on protected tables is answered from a DP view, for nothing: auto: where its cells tell the answer, nothing has been written to the tables since the view was released, and the error is expected to be no larger than the statement's own; always: where its cells tell the answer, however old it is; off: never. The account needs SELECT on the view, too. A note names the view and its age."}

// What is told of an answer.
var (
	// Warnings is not one of what a table sets: it changes neither a cost nor an answer, and a tool
	// that has not been made for it would take the error for a failure.
	Warnings = &Parameter{Name: "dp_warnings", Kind: Words, Words: []string{WarningsShow, WarningsError},
		Places: Session | Global | Hint, Initial: WarningsShow,
		Doc: "What becomes of an answer that a warning is about (an empty result, NULL for too few persons, a wide error): it is shown with the warning, or the statement ends with error 45020, after its charge. With show the same statement then gets the stored answer for nothing."}
)

// What the session may see.
var (
	CollectionLowN = &Parameter{Name: "dp_collection_low_n", Kind: Words, Words: []string{LowNRefuse, LowNNull},
		Places: Session, Initial: LowNRefuse,
		Doc: "What LDP_ and SHUFFLE_ functions answer while a collection has fewer reports than its protocol needs: an error, or NULL and a warning."}

	Raw = &Parameter{Name: "dp_raw", Kind: Switch, Words: []string{"ON", "OFF"},
		Places: Session, Initial: int8(0),
		Doc: "Whether a DBA's session may read raw rows of protected tables. Switching it on is recorded in the ledger."}
)

// What a table alone sets. The upper ends keep nonsense out.
var (
	MaxEpsilon = &Parameter{Name: "max_epsilon", Kind: Number, Min: Epsilon.Min, Max: Epsilon.Max,
		Unit: Epsilon.Unit, Places: Default, Doc: "The largest ε that a statement may cost on the table."}

	MaxRowsPerUnit = &Parameter{Name: "max_rows_per_unit", Kind: Number, Min: 1, Max: 1 << 30, Whole: true,
		Unit: "rows", Places: Default, Doc: "How many rows of a person count. Others are left out by secret random choice."}

	MinGroupUnits = &Parameter{Name: "min_group_units", Kind: Number, Min: 1, Max: 1 << 30, Whole: true,
		Unit: "persons", Places: Default, Doc: "Private keys whose noisy number of persons is smaller are never shown."}

	MaxPersons = &Parameter{Name: "max_persons", Kind: Number, Min: 1, Max: 1 << 40, Whole: true,
		Unit: "persons", Places: Default, Doc: "A public upper bound of the number of persons: EXPLAIN tells the disk that their numbers take."}

	ShareReplays = &Parameter{Name: "dp_share_replays", Kind: Switch, Words: []string{"on", "off"},
		Places: Default, Doc: "Whether the analysts of the table find each other's stored answers."}
)

// All lists the parameters in the order of the documentation.
var All = []*Parameter{
	Epsilon, Delta, Rho, MaxGroups, GroupBy, Keys, Method, Pilot, Preview, Rewrite, TargetError, Views, Warnings, CollectionLowN, Raw,
	MaxEpsilon, MaxRowsPerUnit, MinGroupUnits, MaxPersons, ShareReplays,
}

// At lists the parameters that may be set at a place, in the order of the documentation.
func At(place Place) []*Parameter {
	return lists.Filter(All, func(p *Parameter) bool { return p.Places&place != 0 })
}

// Names lists the names of the parameters that may be set at a place, in words.
func Names(place Place) string {
	var names []string
	names = append(names, lists.Map(At(place), func(p *Parameter) string { return p.Name })...)
	return list(names)
}

// ByName finds a parameter that may be set at a place. name is in lower case.
func ByName(name string, place Place) (*Parameter, bool) {
	return lists.Find(All, func(p *Parameter) bool { return p.Name == name && p.Places&place != 0 })
}

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
