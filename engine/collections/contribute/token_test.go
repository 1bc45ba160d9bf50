package contribute

import "testing"

const hex16 = "000102030405060708090a0b0c0d0e0f"

func TestParseToken(t *testing.T) {
	for text, want := range map[string]Token{
		hex16:                             {},
		hex16 + "\n":                      {},
		hex16 + " 2 7":                    {Round: 2, Cell: 7},
		hex16 + "\t1\t0\t\n":              {Round: 1},
		hex16 + "\t1\t0\tNULL":            {Round: 1},
		hex16 + "\t1\t3\tnorth, far away": {Round: 1, Cell: 3, Stratum: "north, far away"},
		hex16 + ",1,3,\"north\"":          {Round: 1, Cell: 3, Stratum: "north"},
		hex16 + ", 1, 3":                  {Round: 1, Cell: 3},
		"token\tround\tcell\tstratum\n" + hex16 + "\t1\t3\tnorth\n": {Round: 1, Cell: 3, Stratum: "north"},
		"\n\n  " + hex16 + "  \r\n":                                 {},
	} {
		for i := range want.Secret {
			want.Secret[i] = byte(i)
		}
		got, err := ParseToken(text)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
			continue
		}
		if again, err := ParseToken(got.String()); err != nil || again != got {
			t.Errorf("%q: printed as %q, which reads as %+v, %v", text, got.String(), again, err)
		}
	}
}

func TestParseTokenRefuses(t *testing.T) {
	for _, text := range []string{
		"", "token", "hello", hex16[1:], hex16 + "00", hex16 + " 1", hex16 + " 0 0", hex16 + " 1 x", hex16 + " 1 -1", hex16 + " 999 0",
		hex16 + " 1 4294967296", hex16 + "\n" + hex16, string(make([]byte, 5000)),
	} {
		if got, err := ParseToken(text); err == nil {
			t.Errorf("%.50q: got %+v, want an error", text, got)
		}
	}
}

// TestTokenElsewhere: a token of another place makes no report.
func TestTokenElsewhere(t *testing.T) {
	p := first(t, "hier") // strata, five cells
	good := tokenOf(p, 1, 1)
	for name, change := range map[string]func(*Token){
		"round":   func(t *Token) { t.Round = 2 },
		"cell":    func(t *Token) { t.Cell = 99 },
		"stratum": func(t *Token) { t.Stratum = "south" },
		"bare":    func(t *Token) { t.Round, t.Cell, t.Stratum = 0, 0, "" },
	} {
		w, token := InMemory(generous(t)), good
		change(&token)
		_, err := w.Report(p, token, Number(1))
		refusedWith(t, err, "CLOSED_TOKEN")
		if len(w.Records()) != 0 {
			t.Errorf("%s: a record was made", name)
		}
	}
	w := InMemory(generous(t))
	if _, err := w.Report(p, good, Number(1)); err != nil {
		t.Error(err)
	}
	bare := tokenOf(p, 0, 2)
	bare.Round, bare.Stratum = 0, ""
	if _, err := w.Report(withUUID(t, "bit", otherUUID), bare, Number(1)); err != nil {
		t.Errorf("the secret alone, where there is one place only: %v", err)
	}
}

func withUUID(t *testing.T, name, uuid string) *Params {
	p, _ := roundOf(t, planned(t, name, uuid), 1)
	return p
}
