package planner

import (
	"fmt"
	"testing"

	"scrim/catalog"
	"scrim/engine/estimator/groups"
	"scrim/engine/store"
	"scrim/functions"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/aggregate"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/release"
	"scrim/planner/rule"
	"scrim/planner/settings"
)

// TestMemory: what cannot fit is refused by public facts, and nothing is because of persons.
func TestMemory(t *testing.T) {
	h := newHarness(t)
	s := release.NewBuilder(h.context(""), rel.NewWriter(h.context(""), rel.Tables{}), nil, nil, nil, 1<<20)
	for _, c := range []struct {
		form    plan.VectorForm
		dim     int
		refused bool
	}{
		{plan.Arrays, 16, false},
		{plan.Arrays, 17, true}, // four of the store's vectors take more
		{plan.Coordinates, 100_000, false},
		{plan.Pairs, 1 << 20, false},
	} {
		err := s.Fits(&aggregate.Aggregate{Text: "DP_MEAN(v)", Vector: &aggregate.VectorArg{Form: c.form, Dim: c.dim}})
		if (rule.Of(err) == rule.Memory) != c.refused || !c.refused && err != nil {
			t.Errorf("form %d, dimension %d: got %v", c.form, c.dim, err)
		}
	}
	if err := s.Fits(&aggregate.Aggregate{}); err != nil {
		t.Errorf("a number: %v", err)
	}
	for groups, refused := range map[int]bool{0: false, 256: false, 257: true} {
		d := &release.Aggregation{Grouping: keys.Grouping{Groups: groups}, Aggregates: []*aggregate.Aggregate{{}, {Vector: &aggregate.VectorArg{Dim: 40}}, {Vector: &aggregate.VectorArg{Form: plan.Pairs, Dim: 24}}}}
		if err := s.AnswerFits(d); (rule.Of(err) == rule.Memory) != refused {
			t.Errorf("64 numbers in %d groups: got %v", groups, err)
		}
	}
	for _, c := range []struct {
		release *plan.Release
		want    int64
	}{
		{&plan.Release{Aggregates: []plan.Aggregate{{}}, Scans: []plan.Scan{{Types: make([]store.ScanType, 3)}}}, plan.NumberBytes + 3*plan.ChunkRows*8*plan.ChunkVectors},
		{&plan.Release{Groups: 1000, Aggregates: []plan.Aggregate{{}, {}}}, 2000 * plan.NumberBytes},
		{&plan.Release{Groups: 10, Aggregates: []plan.Aggregate{{Vector: &plan.Vector{Dim: 100}}}, Scans: []plan.Scan{{Types: make([]store.ScanType, 2)}}},
			1000*plan.AnswerBytes + 100*plan.SumBytes + 102*plan.ChunkRows*8*plan.ChunkVectors},
		{&plan.Release{Groups: 20, Aggregates: []plan.Aggregate{{Groups: &groups.Params{Groups: 20, Aggregates: []groups.Aggregate{{Measure: groups.Rows}}}}}}, 20 * (2*plan.AnswerBytes + plan.SumBytes)},
	} {
		if got := c.release.Memory(); got != c.want {
			t.Errorf("got %d bytes, want %d", got, c.want)
		}
		s.Memory = c.want
		if err := s.AllFits(c.release); err != nil {
			t.Error(err)
		}
		s.Memory--
		if err := s.AllFits(c.release); rule.Of(err) != rule.Memory {
			t.Errorf("one byte too little: got %v", err)
		}
	}
	s = release.NewBuilder(h.context(""), rel.NewWriter(h.context(""), rel.Tables{StoreMemory: 1 << 21}), nil, nil, nil, 1<<24)
	for dim, refused := range map[int]bool{128: false, 129: true, 257: true} {
		if err := s.Fits(&aggregate.Aggregate{Vector: &aggregate.VectorArg{Dim: dim}}); (rule.Of(err) == rule.Memory) != refused {
			t.Errorf("arrays of %d: got %v", dim, err)
		}
	}
	s = release.NewBuilder(h.context(""), rel.NewWriter(h.context(""), rel.Tables{}), nil, nil, nil, 0)
	if err := s.Fits(&aggregate.Aggregate{Vector: &aggregate.VectorArg{Dim: 100_000}}); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

// TestMethodParameter checks the layers of dp_method: the hint, the session, the tables where they
// agree.
func TestMethodParameter(t *testing.T) {
	table := func(method string) rel.Protected {
		return rel.Protected{Policy: catalog.Table{Defaults: catalog.Defaults{Method: method}}}
	}
	with := func(word string) settings.Layer {
		v, ok := params.Method.Read(word)
		if !ok {
			t.Fatal(word)
		}
		return settings.Layer{params.Method: v}
	}
	for _, c := range []struct {
		layers []settings.Layer
		tables []rel.Protected
		want   string
	}{
		{nil, nil, ""},
		{nil, []rel.Protected{table("plan")}, "plan"},
		{nil, []rel.Protected{table("plan"), table("plan")}, "plan"},
		{nil, []rel.Protected{table("plan"), table("")}, ""},
		{nil, []rel.Protected{table("plan"), table("shifted")}, ""},
		{[]settings.Layer{{}, with("Clipped")}, []rel.Protected{table("plan")}, "clipped"},
		{[]settings.Layer{with("auto"), with("clipped")}, []rel.Protected{table("plan")}, "auto"},
	} {
		if got := (&settings.Settings{Layers: c.layers}).Method(c.tables); got != c.want {
			t.Errorf("%+v: got %q, want %q", c, got, c.want)
		}
	}
	for _, bad := range []string{"best", "", "NULL", "1", "true"} {
		if v, ok := params.Method.Read(bad); ok {
			t.Errorf("%v: got %v", bad, v)
		}
	}
}

// TestMethodNames checks that the tables' defaults take the names that the option takes.
func TestMethodNames(t *testing.T) {
	mean, _ := functions.ByName("DP_MEAN")
	for _, m := range params.Method.Words {
		if o, err := functions.ParseOptions(mean, "method="+m); err != nil || o.Method != m {
			t.Errorf("%s: %+v, %v", m, o, err)
		}
		if d, err := catalog.ParseDefaults(fmt.Sprintf("{%q: %q}", params.Method.Name, m)); err != nil || d.Method != m {
			t.Errorf("%s: %+v, %v", m, d, err)
		}
	}
	if _, err := catalog.ParseDefaults(`{"dp_method": "best"}`); err == nil {
		t.Error("any word passes")
	} else if e, ok := refuse.As(err); !ok || e.Code != refuse.Policy {
		t.Error(err)
	}
}
