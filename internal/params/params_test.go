package params

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestTable checks what every reader of the table relies on.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All {
		switch {
		case seen[p.Name]:
			t.Errorf("%s stands twice", p.Name)
		case p.Places == 0 || p.Doc == "":
			t.Errorf("%s has no place, or no documentation", p.Name)
		case (p.Initial != nil) != (p.Places&Session != 0):
			t.Errorf("%s: want an initial value of session variables and of no others, have %v", p.Name, p.Initial)
		case p.Kind == Number && !(p.Min > 0 && p.Min < p.Max) || p.Kind == Number && p.Unit == "":
			t.Errorf("%s: want 0 < min < max and a unit: 0 stands for what is not set", p.Name)
		case p.Kind != Number && len(p.Words) < 2:
			t.Errorf("%s has %d words", p.Name, len(p.Words))
		case p.InForce != nil && !strings.Contains(p.Doc, strings.Replace(fmt.Sprint(p.InForce), "e-0", "e-", 1)):
			t.Errorf("%s: the documentation does not tell what is in force, %v", p.Name, p.InForce)
		}
		seen[p.Name] = true
	}
}

// TestValues checks which values the doors let through.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		p    *Parameter
		text string
		want Value
		ok   bool
	}{
		{Epsilon, "0.5", Value{Number: 0.5}, true},
		{Epsilon, "1e-6", Value{Number: 1e-6}, true},
		{Epsilon, "100", Value{Number: 100}, true},
		{Epsilon, "0", Value{}, false},
		{Epsilon, "100.1", Value{}, false},
		{Epsilon, "NaN", Value{}, false},
		{Epsilon, "inf", Value{}, false},
		{Epsilon, "", Value{}, false},
		{Epsilon, "NULL", Value{}, false},
		{Rho, "1000", Value{Number: 1000}, true},
		{Rho, "1000.1", Value{}, false},
		{MaxGroups, "3", Value{Number: 3}, true},
		{MaxGroups, "3.5", Value{}, false},
		{MaxGroups, "0", Value{}, false},
		{Method, "Person", Value{Word: "person"}, true},
		{Method, "best", Value{}, false},
		{Method, "", Value{}, false},
		{Rewrite, "1", Value{Word: "on"}, true},
		{Rewrite, "OFF", Value{Word: "off"}, true},
		{Rewrite, "True", Value{Word: "on"}, true},
		{Rewrite, "2", Value{}, false},
		{Rewrite, "maybe", Value{}, false},
	} {
		v, ok := c.p.Read(c.text)
		if ok != c.ok || ok && v != c.want {
			t.Errorf("%s = %q: got %+v, %v, want %+v, %v", c.p.Name, c.text, v, ok, c.want, c.ok)
		}
		if ok && !c.p.Takes(v) {
			t.Errorf("%s does not take %+v, which it has read", c.p.Name, v)
		}
	}
	for _, v := range []Value{{}, {Number: math.NaN()}, {Number: math.Inf(1)}, {Number: -1}, {Word: "text"}, {Number: 1, Word: "on"}} {
		if Epsilon.Takes(v) {
			t.Errorf("dp_epsilon takes %+v", v)
		}
	}
	for _, v := range []Value{{}, {Word: "best"}, {Word: "Person"}, {Number: 1, Word: "person"}} {
		if Method.Takes(v) {
			t.Errorf("dp_method takes %+v", v)
		}
	}
}

// TestTexts checks how ranges are written.
func TestTexts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Epsilon.Range(), "1e-6 to 100"},
		{Delta.Want(), "a number from 1e-30 to 0.001"},
		{TargetError.Want(), "a number from 1e-9 to 1e18"},
		{MaxPersons.Want(), "a whole number from 1 to 1099511627776"},
		{GroupBy.Range(), "auto, vector, separate"},
		{GroupBy.Want(), "auto, vector or separate"},
		{Rewrite.Want(), "ON or OFF"},
		{Names(Global), "dp_preview or dp_warnings"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
