package collect

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"scrim/test/testenv"
)

// TestVerify: what Plan makes verifies, before and after a device parses it.
func TestVerify(t *testing.T) {
	everyRound(t, func(t *testing.T, g *Design, p *Params) {
		if err := p.Verify(); err != nil {
			t.Error(err)
		}
		q, err := Parse(p.Canonical())
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Verify(); err != nil {
			t.Error(err)
		}
		if q.Fingerprint() != p.Fingerprint() || p.Fingerprint() != p.Clone().Fingerprint() {
			t.Error("fingerprint changes on its way")
		}
	})
}

// TestVerifyRounding: another machine's last digits are accepted where they are floats.
func TestVerifyRounding(t *testing.T) {
	everyRound(t, func(t *testing.T, g *Design, p *Params) {
		q := p.Clone()
		for _, x := range []*float64{&q.Derived.Range, &q.Derived.Scales, &q.Derived.Ball, &q.Derived.Box, &q.Derived.ClipTarget, &q.Derived.Rho} {
			*x *= 1 + 1e-10
		}
		if err := q.Verify(); err != nil {
			t.Error(err)
		}
	})
}

// open tells whether a server may choose another value of a field: what is declared of values and
// no size follows from, names, and changes that leave all of this round's numbers as they are, so
// that the parameters are those of the other declaration. TestHostile has what these may not be.
func open(p *Params, path string) bool {
	switch path {
	case ".Declaration.Option":
		return p.Protocol == LDPUV2 && p.Round == 1
	case ".Declaration.Epsilon": // DLAP is made from it; noise messages are searched in steps of 2^-10
		return p.Cells[0].Randomiser == DLAP || p.Protocol == ShufHier
	case ".Declaration.Dimension":
		return p.Derived.Padded > 1 // 7 and 8 are padded alike; 9 is tried by TestHostile
	case ".Published.Clip":
		return p.Published.Clip != 0
	case ".Collection", ".Declaration.RetryOf", ".Declaration.Delta":
		return true
	case ".Declaration.Lo", ".Declaration.Hi", ".Declaration.Sigma", ".Declaration.SigmaMin", ".Declaration.SigmaMax", ".Declaration.Radius",
		".Declaration.Centre", ".Declaration.Resolution":
		return used(p, path)
	}
	return strings.HasPrefix(path, ".Declaration.NullDefault") || strings.HasPrefix(path, ".Declaration.Strata") ||
		strings.HasPrefix(path, ".Published.Centre") || path == ".Published.Width" && p.Published.Width != 0
}

// used tells whether the protocol has the parameter of a field.
func used(p *Params, path string) bool {
	for _, f := range fields {
		if _, name, _ := strings.Cut(path, ".Declaration."); strings.EqualFold(strings.ReplaceAll(f.key, "_", ""), name) || f.key == "centre_norm" && name == "Centre" {
			return strings.Contains(" "+strings.Join(Keys(p.Protocol), " ")+" ", " "+f.key+" ")
		}
	}
	panic("no key for " + path)
}

// TestEveryFieldCounts changes every other field, one at a time, and Verify must notice each.
func TestEveryFieldCounts(t *testing.T) {
	everyRound(t, func(t *testing.T, g *Design, p *Params) {
		q := p.Clone()
		tried := 0
		walk(reflect.ValueOf(q).Elem(), "", func(path string, v reflect.Value) {
			if open(p, path) {
				return
			}
			was := reflect.New(v.Type()).Elem()
			was.Set(v)
			for _, c := range changes(v) {
				v.Set(c)
				if q.Verify() == nil {
					t.Errorf("%s = %v instead of %v verifies", path, c, was)
				}
				tried++
			}
			v.Set(was)
		})
		if err := q.Verify(); err != nil || tried < 40 {
			t.Errorf("after %d changes: %v", tried, err)
		}
	})
}

// walk calls f with every number and text below v; of a long slice with the first and the last.
func walk(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				walk(v.Field(i), path+"."+field.Name, f)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), path, f)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			if i == 0 || i == v.Len()-1 {
				walk(v.Index(i), fmt.Sprintf("%s.%d", path, i), f)
			}
		}
	default:
		f(path, v)
	}
}

// changes returns other values of a field.
func changes(v reflect.Value) (out []reflect.Value) {
	add := func(x any) { out = append(out, reflect.ValueOf(x).Convert(v.Type())) }
	switch v.Kind() {
	case reflect.Int:
		add(v.Int() + 1)
		add(v.Int() - 1)
	case reflect.Uint64, reflect.Uint32:
		add(v.Uint() + 1)
		add(v.Uint() - 1)
	case reflect.Float64:
		add(v.Float()*(1+1e-6) + 1e-6)
		add(-1 - v.Float())
		add(math.NaN())
		add(math.Inf(1))
	case reflect.String:
		add(v.String() + "x")
		if v.String() != "" {
			add("")
		}
	default:
		panic("field of another kind")
	}
	return out
}

// TestHostile: what a server could publish to weaken a report, or to make devices fail.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name   string
		sample string
		round  int
		change func(p *Params)
	}{
		{"keep_num 0", "bit", 1, func(p *Params) { p.Cells[0].Keep = 0 }},
		{"keep_num 2^62", "bit", 1, func(p *Params) { p.Cells[0].Keep = 1 << 62 }},
		{"K1 - 1", "kv2", 2, func(p *Params) { p.Cells[0].Keep-- }},
		{"K1 + 1", "scm3", 3, func(p *Params) { p.Cells[0].Keep++ }},
		{"Kk of another k", "kv2", 1, func(p *Params) { p.Cells[0].Domain = 5 }},
		{"Q = 2^62", "hier", 1, func(p *Params) { p.Cells[4].Keep = 1 << 62 }},
		{"Q = 0", "hier", 1, func(p *Params) { p.Cells[4].Keep = 0 }},
		{"OUE as KRR", "hier", 1, func(p *Params) { p.Cells[4].Randomiser = KRR }},
		{"unknown randomiser", "hier", 1, func(p *Params) { p.Cells[4].Randomiser = "PLAIN\x1b[2J" }},
		{"no cells", "hier", 1, func(p *Params) { p.Cells = nil }},
		{"cell twice", "hier", 1, func(p *Params) { p.Cells = append(p.Cells, p.Cells[0]) }},
		{"cells exchanged", "hier", 1, func(p *Params) { p.Cells[0], p.Cells[1] = p.Cells[1], p.Cells[0] }},
		{"a million cells", "hier", 1, func(p *Params) { p.Cells = make([]Cell, 1e6) }},
		{"m - 1", "sum", 1, func(p *Params) { p.Batch.Shares-- }},
		{"one share", "vec", 1, func(p *Params) { p.Batch.Shares = 1 }},
		{"l = 0", "vec", 1, func(p *Params) { p.Batch.Rate = 0 }},
		{"no variance", "vec", 1, func(p *Params) { p.Batch.Mu, p.Batch.Rate, p.Batch.Tail = 0, 0, 0 }},
		{"finer grid", "vec", 1, func(p *Params) { p.Batch.Grid *= 2 }},
		{"P = 0", "nodes", 1, func(p *Params) { p.Batch.Flip = 0 }},
		{"P - 1", "shuffled scm3", 1, func(p *Params) { p.Batch.Flip-- }},
		{"cap of the true messages", "nodes", 1, func(p *Params) { p.Batch.Cap = 5 }},
		{"h + 1", "sum", 1, func(p *Params) { p.Batch.Honest++ }},
		{"h - 1", "sum", 1, func(p *Params) { p.Batch.Honest-- }},
		{"n_min 1", "sum", 1, func(p *Params) { p.Batch.Min = 1 }},
		{"no batch", "sum", 1, func(p *Params) { p.Batch = nil }},
		{"a batch for a local protocol", "bit", 1, func(p *Params) { p.Batch = &Batch{} }},
		{"no seal key", "sum", 1, func(p *Params) { p.SealKey = nil }},
		{"short seal key", "sum", 1, func(p *Params) { p.SealKey = p.SealKey[1:] }},
		{"seal key 0", "sum", 1, func(p *Params) { p.SealKey = make([]byte, 32) }},
		{"seal key for a local protocol", "bit", 1, func(p *Params) { p.SealKey = counting(1) }},
		{"no signs", "scm3", 1, func(p *Params) { p.Signs = nil }},
		{"a round beyond", "kv2", 2, func(p *Params) { p.Round = 3 }},
		{"round 0", "kv2", 1, func(p *Params) { p.Round = 0 }},
		{"another round's cells", "kv2", 2, func(p *Params) { p.Round, p.Published = 1, Published{} }},
		{"another stratum", "hier", 1, func(p *Params) { p.Stratum = "west" }},
		{"no stratum", "hier", 1, func(p *Params) { p.Stratum = "" }},
		{"centre between quarters", "kv2", 2, func(p *Params) { p.Published.Centre[0] = 1.1 }},
		{"centre outside", "kv2", 2, func(p *Params) { p.Published.Centre[0] = 1001 }},
		{"centre NaN", "uv2", 2, func(p *Params) { p.Published.Centre[0] = math.NaN() }},
		{"centre absent", "uv2", 2, func(p *Params) { p.Published.Centre = nil }},
		{"centre before its round", "uv2", 1, func(p *Params) { p.Published.Centre = []float64{1} }},
		{"width 0", "uv2", 2, func(p *Params) { p.Published.Width = 0 }},
		{"width negative", "uv2", 2, func(p *Params) { p.Published.Width = -3 }},
		{"width infinite", "uv2", 2, func(p *Params) { p.Published.Width = math.Inf(1) }},
		{"width absurd", "uv2", 2, func(p *Params) { p.Published.Width = 1e200 }},
		{"centre of another dimension", "scm3", 2, func(p *Params) { p.Published.Centre = p.Published.Centre[1:] }},
		{"centre out of the box", "scm3", 2, func(p *Params) { p.Published.Centre[3] = -2 * p.Derived.Box }},
		{"clip 0", "scm3", 3, func(p *Params) { p.Published.Clip = 0 }},
		{"clip absurd", "scm3 gauss", 3, func(p *Params) { p.Published.Clip = 1e9 }},
		{"clip NaN", "scm3 gauss", 3, func(p *Params) { p.Published.Clip = math.NaN() }},
		{"clip of the batch", "shuffled scm3", 3, func(p *Params) { p.Batch.Clip *= 2 }},
		{"null_default outside", "bit", 1, func(p *Params) { p.Declaration.NullDefault[0] = 601 }},
		{"null_default NaN", "vec", 1, func(p *Params) { p.Declaration.NullDefault[0] = math.NaN() }},
		{"null_default absent", "bit", 1, func(p *Params) { p.Declaration.NullDefault = nil }},
		{"default not filled in", "vec", 1, func(p *Params) { p.Declaration.Delta = 0 }},
		{"epsilon 0", "bit", 1, func(p *Params) { p.Declaration.Epsilon = 0 }},
		{"epsilon 8.0001", "bit", 1, func(p *Params) { p.Declaration.Epsilon = 80_001 }},
		{"dimension of other cells", "scm3", 2, func(p *Params) { p.Declaration.Dimension = 9 }},
		{"option of other cells", "hier", 1, func(p *Params) { p.Declaration.Option = "zcdp" }},
		{"epsilon of other noise", "nodes", 1, func(p *Params) { p.Declaration.Epsilon -= 100 }},
		{"delta of other noise", "vec", 1, func(p *Params) { p.Declaration.Delta /= 2 }},
		{"epsilon of other cells", "bit", 1, func(p *Params) { p.Declaration.Epsilon /= 2 }},
		{"too few for any", "sum", 1, func(p *Params) { p.Declaration.Expected = 10 }},
		{"many strata", "bit", 1, func(p *Params) { p.Declaration.Strata = make([]string, 1e6) }},
		{"rho doubled", "scm3 gauss", 3, func(p *Params) { p.Derived.Rho *= 2 }},
		{"unknown protocol", "bit", 1, func(p *Params) { p.Protocol = "LDP_NONE" }},
		{"version 2", "bit", 1, func(p *Params) { p.Version = 2 }},
		{"name of a terminal's making", "bit", 1, func(p *Params) { p.Collection = "a\x1b[2J" }},
	} {
		q := sampleRound(t, c.sample, c.round).Clone()
		c.change(q)
		err := q.Verify()
		if err == nil {
			t.Errorf("%s verifies", c.name)
			continue
		}
		if text := err.Error(); strings.Contains(text, "\x1b") || len(text) > 1000 {
			t.Errorf("%s: refusal of %d bytes, with control characters: %.300q", c.name, len(text), text)
		}
	}
}

// sampleRound returns the parameters of a round of the sample with this name.
func sampleRound(t testing.TB, name string, round int) *Params {
	t.Helper()
	for _, s := range samples {
		if s.name == name {
			return roundOf(t, declared(t, s.protocol, s.text), round)
		}
	}
	t.Fatalf("no sample %q", name)
	return nil
}

// TestVerifyChanged: parameters that were changed after their fingerprint was taken do not verify
// with it, even if they would be right otherwise.
func TestVerifyChanged(t *testing.T) {
	p := sampleRound(t, "sum", 1)
	p.SealKey[0]++
	if err := p.Verify(); err == nil {
		t.Error("parameters with another key verify under the old fingerprint")
	}
}

// TestVerifyTime: a device verifies a round of a million contributors in less than 50 ms on a
// machine of its own; ten times as much of a processor is allowed here.
func TestVerifyTime(t *testing.T) {
	everyRound(t, func(t *testing.T, g *Design, p *Params) {
		start := testenv.Processor(t)
		if err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		if took := testenv.Processor(t) - start; took > 500*time.Millisecond {
			t.Errorf("took %v of a processor", took)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	for _, s := range samples {
		g := declared(b, s.protocol, s.text)
		p := roundOf(b, g, g.Rounds())
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				if err := p.Verify(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
