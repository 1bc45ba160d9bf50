package clients

import (
	"strings"
	"testing"
)

// TestReportIsReadBack: the report is the record, so what is written has to come back, and only
// what got worse is a regression.
func TestReportIsReadBack(t *testing.T) {
	c := Client{Name: "a", Group: "G", Limits: "Nothing much."}
	res := Result{Client: c, Version: "v|1", Outcomes: map[string]Outcome{}, Order: []string{"extra:one", "extra:two words", "extra:three"}}
	for _, k := range checks {
		res.Outcomes[k.name] = Outcome{Passed: true}
	}
	res.Outcomes["prepared"] = Outcome{NA: true, Why: "it has none"}
	res.Outcomes["error"] = Outcome{Why: "want | `x` <b>"}
	res.Outcomes["extra:one"] = Outcome{Passed: true}
	res.Outcomes["extra:two words"] = Outcome{Passed: true}
	res.Outcomes["extra:three"] = Outcome{Why: "false"}
	typed := Client{Name: "b", Group: "G", InSQL: true}
	all := map[string]Outcome{"prepared": {Passed: true}}
	r := Record{}
	r.Put(res)
	r.Put(Result{Client: typed, Version: "2", Outcomes: all})
	text := r.Write([]Client{c, typed})
	if !strings.Contains(text, "| yes, SQL |") {
		t.Errorf("the page does not say that b prepares in SQL:\n%s", text)
	}
	back := Parse(text)
	if !back["b"].outcomes[prepared].Passed {
		t.Errorf("prepared in SQL is not read back: %+v", back["b"])
	}
	if again := back.Write([]Client{c, typed}); again != text {
		t.Fatalf("written again:\n%s\nwant:\n%s", again, text)
	}
	if worse := back.Regressions(res); len(worse) != 0 {
		t.Errorf("nothing got worse: %v", worse)
	}
	res.Outcomes["text"] = Outcome{Why: "???"}
	res.Outcomes["extra:new"] = Outcome{Why: "never worked"}
	delete(res.Outcomes, "extra:one")
	res.Order = []string{"extra:two words", "extra:three", "extra:new"}
	if worse := back.Regressions(res); len(worse) != 3 {
		t.Errorf("want text, the new check and the one that vanished, have %v", worse)
	}
	if worse := (Record{}).Regressions(res); len(worse) != 4 {
		t.Errorf("a client without a record has to pass everything, have %v", worse)
	}
}

func TestJudges(t *testing.T) {
	right := map[string]string{
		"connect":   `"8.0.36-scrim"`,
		"list":      `["products","people"]`,
		"describe":  `[["id","bigint"],["name","x"],["dept","x"],["age",4],["amount","x"],["joined","x"]]`,
		"public":    `[[1,"51.006729"],[2,0.1],[3,1234567.891]]`,
		"text":      `"Zoë — 日本 😀"`,
		"error":     `"(1644, 'The query has one row for each person. Aggregate over it: …')"`,
		"extra:any": `true`,
	}
	wrong := map[string][]string{
		"connect":   {`"10.11.1-MariaDB"`, `null`, `8`},
		"list":      {`[]`, `["people"]`, `["people","products","secrets"]`, `"people"`},
		"describe":  {`[]`, `[["id","bigint"],["name","x"],["dept","x"],["age",4],["amount","x"],["joined",""]]`, `[["id","bigint"],["name","x"],["dept","x"],["age",4],["joined","x"],["amount","x"]]`},
		"public":    {`[[1,51],[2,0],[3,1234568]]`, `[[1,51.006729],[2,0.1]]`, `[[1,51.006729],[2,0.1],[3,1234567.9]]`},
		"text":      {`"Zo? — ?? ?"`, `"Zoë — 日本 ?"`, `null`},
		"error":     {`""`, `"Error 1146: no such table people"`},
		"extra:any": {`false`, `"it hung"`, `1`, `no JSON`},
	}
	for name, v := range right {
		if o, ok := judge(name, v); !ok || !o.Passed {
			t.Errorf("%s %s: %+v", name, v, o)
		}
	}
	for name, list := range wrong {
		for _, v := range list {
			if o, _ := judge(name, v); o.Passed {
				t.Errorf("%s %s passed", name, v)
			}
		}
	}
	if o, _ := judge("prepared", `"n/a: none"`); !o.NA || o.Passed {
		t.Errorf("what does not apply: %+v", o)
	}
	if _, ok := judge("nothing", `1`); ok {
		t.Error("a name that is no check was one")
	}
}

// TestGroupJudge: answers near the truth pass, those cut to whole numbers or far off fail.
func TestGroupJudge(t *testing.T) {
	answer := func(change func(row []any)) any {
		var out []any
		for _, g := range groups() {
			row := []any{g.dept, g.average + 0.001, float64(g.count)}
			change(row)
			out = append(out, row)
		}
		return out
	}
	if err := judgeGroup(answer(func([]any) {})); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(row []any){
		"whole numbers": func(row []any) { row[1] = float64(int(row[1].(float64))) },
		"far":           func(row []any) { row[1] = row[1].(float64) * 1.1 },
		"counts far":    func(row []any) { row[2] = row[2].(float64) * 1.1 },
		"names":         func(row []any) { row[0] = "" },
		"null":          func(row []any) { row[1] = nil },
	} {
		if judgeGroup(answer(change)) == nil {
			t.Errorf("%s passed", name)
		}
	}
}
