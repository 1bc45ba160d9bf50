package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/collections"
	"scrim/engine/collections/collect"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

const collector, shuffler = "col@%", "shuf@%"

// stub is one collection, shop.commute, that notes what is asked of it.
type stub struct {
	design *collect.Design
	params *collect.Params
	part   collections.Part
	calls  []string
	fail   error
}

func newStub(t *testing.T) *stub {
	t.Helper()
	d, err := collect.ParseDeclaration(collect.ShufSum, []byte(`{"epsilon":1,"delta":1e-9,"lo":0,"hi":1,"n_expected":1000,"trust":"separate"}`))
	if err != nil {
		t.Fatal(err)
	}
	s := &stub{}
	if s.design, err = collect.Plan("shop.commute", "00000000-0000-4000-8000-000000000000", collect.ShufSum, d); err != nil {
		t.Fatal(err)
	}
	if s.params, err = s.design.Params(1, "", collect.Published{}, bytes.Repeat([]byte{7}, 32), nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stub) note(call string, args ...any) error {
	s.calls = append(s.calls, call+fmt.Sprint(args...))
	return s.fail
}

func (s *stub) Create(_ context.Context, ref store.TableRef, p collect.Protocol, d collect.Declaration, owner string) (*collect.Design, error) {
	return s.design, s.note("create ", ref, " ", p, " ", owner)
}

func (s *stub) IssueTokens(_ context.Context, name string, i collections.Issue) ([]collections.Token, error) {
	return []collections.Token{{Secret: [16]byte{0: 0xab}, Round: 1, Cell: 3, Stratum: i.Stratum}}, s.note("issue ", name, i)
}

func (s *stub) Open(_ context.Context, name string) error  { return s.note("open ", name) }
func (s *stub) Next(_ context.Context, name string) error  { return s.note("next ", name) }
func (s *stub) Close(_ context.Context, name string) error { return s.note("close ", name) }
func (s *stub) Abort(_ context.Context, name, reason string) error {
	return s.note("abort ", name, reason)
}
func (s *stub) Drop(_ context.Context, name string) error { return s.note("drop ", name) }

func (s *stub) Preview(_ context.Context, name string) ([]collections.Preview, error) {
	return []collections.Preview{{Round: 1, Refusal: refuse.New(refuse.TooFewReports, "None yet.")}}, s.note("preview ", name)
}

func (s *stub) LoadBatch(_ context.Context, name string, part collections.Part) (bool, error) {
	s.part = part
	return part.Part == part.Parts, s.note("load ", name)
}

func (s *stub) Holds(ref store.TableRef) bool { return ref.String() == "shop.commute" }

func (s *stub) Lookup(name string) (collections.Summary, bool) {
	return s.List()[0], name == "commute" || name == "shop.commute"
}

func (s *stub) List() []collections.Summary {
	return []collections.Summary{{Schema: "shop", Name: "commute", UUID: s.design.UUID, Protocol: s.design.Protocol, Model: collect.Shuffle,
		State: collections.Open, Round: 1, Rounds: 1, Declaration: s.design.Declaration, Owner: dba, Created: "2026-01-02 03:04:05"}}
}

func (s *stub) Rounds() []collections.RoundInfo {
	return []collections.RoundInfo{{Schema: "shop", Name: "commute", Round: 1, Params: s.params, Opened: "2026-01-02 03:04:06", Min: s.params.Min}}
}

func (s *stub) Cells() []collections.CellCount {
	return []collections.CellCount{{Schema: "shop", Name: "commute", Round: 1, Cell: s.params.Cells[0], Issued: 10, Received: 4}}
}

func (s *stub) Batches() []collections.BatchInfo {
	b := collections.BatchInfo{Schema: "shop", Name: "commute"}
	b.ID, b.Round, b.Batch, b.Reports, b.Bag, b.Day = 1, 1, 1, 1000, strings.Repeat("0a", 32), "2026-01-02"
	return []collections.BatchInfo{b}
}

func (s *stub) Simulations(context.Context, string) ([]collections.Kept, error) {
	x := 0.5
	return []collections.Kept{{Number: 1, At: "2026-01-02 03:04:05", Source: "public", Slots: 400, Trials: []collections.Trial{
		{Run: 1, Estimate: []byte(`{"mean":0.5}`), StdErr: &x, Truth: []byte("0.5"), Error: &x}, {Run: 2, Warnings: "too few"}}}}, nil
}

func (s *stub) Results(string) (map[string][]byte, error) {
	return map[string][]byte{"": []byte(`{"mean":0.5}`)}, nil
}

// TestCollectionCalls calls every procedure, by both forms of the name and with and without a
// current database.
func TestCollectionCalls(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ db, call, want string }{
		{"shop", `CALL dp_create_collection('commute', 'shuf_sum', '{"epsilon":1}')`, "create shop.commute SHUF_SUM col@%"},
		{"", `CALL dp_create_collection('Shop.commute', 'SHUF_SUM', '{"epsilon":1}')`, "create shop.commute SHUF_SUM col@%"},
		{"", "CALL dp_issue_tokens('commute', 7)", "issue commute{7  0}"},
		{"", "CALL dp_issue_tokens('commute', '7', NULL)", "issue commute{7  0}"},
		{"shop", "CALL dp_issue_tokens('shop.`Commute`', 7, 'north', 1)", "issue shop.commute{7 north 1}"},
		{"", "CALL dp_open_collection('commute')", "open commute"},
		{"dp", "CALL dp_preview_round('shop.commute')", "preview shop.commute"},
		{"", "CALL dp_next_round('commute')", "next commute"},
		{"", "CALL dp_close_collection('commute')", "close commute"},
		{"", "CALL dp_abort_collection('commute', ' why ')", "abort commutewhy"},
		{"", "CALL dp_load_batch('commute', 1, NULL, 0, 2, 1000, 3, 3, X'00ff27')", "load commute"},
		{"", "CALL dp_drop_collection('commute')", "drop commute"},
	} {
		f.must(collector, c.db, c.call)
		if got := f.stub.calls[len(f.stub.calls)-1]; got != c.want {
			t.Errorf("%s: got %q, want %q", c.call, got, c.want)
		}
	}
	if p := f.stub.part; p.Round != 1 || p.Batch != 2 || p.Reports != 1000 || p.Part != 3 || p.Parts != 3 || string(p.Sealed) != "\x00\xff'" {
		t.Errorf("the batch arrived as %+v", p)
	}
	if want, got := f.stub.design.Cost(), costOf(f.stub.List()[0]); got != want {
		t.Errorf("a contributor pays %+v, want %+v", got, want)
	}
	f.want(dba, "SELECT statement FROM dp.ledger WHERE principal = 'col@%' AND entry = 'note' AND statement LIKE '%pays%'",
		"shop.commute takes reports of round 1 by SHUF_SUM: each contributor pays epsilon=1, delta=1e-09, outside of every budget here")
	for _, r := range f.must(dba, "", "SELECT statement FROM dp.ledger WHERE statement LIKE '%load_batch%'") {
		if text := fmt.Sprint(r[0]); strings.Contains(text, "\xff") || !strings.Contains(text, "3 bytes") {
			t.Errorf("the ledger notes %q", text)
		}
	}
}

// TestCollectionCallsRefused: arguments that are none, and policies on a collection's table.
func TestCollectionCallsRefused(t *testing.T) {
	f := newFixture(t)
	f.refused(collector, "", `CALL dp_create_collection('commute', 'SHUF_SUM', '{"epsilon":1}')`, refuse.Policy, "no database")
	f.refused(collector, "shop", `CALL dp_create_collection('commute', 'LDP_NONE', '{"epsilon":1}')`, refuse.CollectionParameter, "LDP_NONE")
	f.refused(collector, "shop", `CALL dp_create_collection('commute', 'SHUF_SUM', '{"epsilon":1')`, refuse.CollectionParameter, "JSON")
	f.refused(collector, "shop", `CALL dp_create_collection('commute', 'SHUF_SUM', '{"colour":1}')`, refuse.CollectionParameter, "colour")
	f.refused(collector, "", "CALL dp_issue_tokens('commute', -1)", refuse.CollectionParameter, "-1")
	f.refused(collector, "", "CALL dp_issue_tokens('commute', 1, NULL, 'x')", refuse.CollectionParameter, "x")
	f.refused(collector, "", "CALL dp_abort_collection('commute', ' ')", refuse.Policy, "for good")
	f.refused(collector, "", "CALL dp_open_collection('a.b.c')", refuse.CollectionState, "a.b.c")
	f.refused(collector, "", "CALL dp_load_batch('commute', 'x', NULL, 0, 2, 1000, 3, 3, X'00')", refuse.CollectionParameter, "round")
	for _, call := range []string{
		"CALL dp_protect('shop.commute', 'row', 'person')", "CALL dp_unprotect('shop.commute')", "CALL dp_set_neighbours('shop.commute', 'replace-one')",
		"CALL dp_link('shop.commute', 'name', 'shop.orders', 'id')", "CALL dp_set_domain('shop.commute', 'name', '[\"a\"]')",
	} {
		f.refused(dba, "", call, refuse.Policy, "collection")
	}
	f.must(dba, "", "CALL dp_protect('shop.orders', 'customer_id', 'customer')")
	f.refused(dba, "", `CALL dp_create_collection('shop.orders', 'SHUF_SUM', '{"epsilon":1}')`, refuse.CollectionState, "was protected")
	f.must(dba, "", "CALL dp_unprotect('shop.orders')")
	f.refused(dba, "", `CALL dp_create_collection('shop.orders', 'SHUF_SUM', '{"epsilon":1}')`, refuse.CollectionState, "was protected")
	if len(f.stub.calls) != 0 {
		t.Errorf("refused calls reached the collections: %v", f.stub.calls)
	}
}

// TestCollectionRoles: collectors administer, shufflers load batches and nothing else, others get
// MySQL's error.
func TestCollectionRoles(t *testing.T) {
	f := newFixture(t)
	const load = "CALL dp_load_batch('commute', 1, NULL, 0, 2, 1000, 3, 3, X'00')"
	denied := func(who, call string) {
		t.Helper()
		_, err := f.query(who, "shop", call)
		if e, ok := err.(*mysql.SQLError); !ok || e.Num != 1227 || e.State != "42000" {
			t.Errorf("%s as %s: %v", call, who, err)
		}
	}
	for _, p := range collectionProcedures {
		for _, who := range []string{ann, auditor, shuffler, ""} {
			denied(who, p.Example)
		}
	}
	denied(ann, load)
	denied(auditor, load)
	if len(f.stub.calls) != 0 {
		t.Errorf("denied calls reached the collections: %v", f.stub.calls)
	}
	for _, who := range []string{shuffler, collector, dba} {
		f.must(who, "", load)
	}
	f.refused(collector, "", "CALL dp_set_budget('shop.orders', '*', 8, 0, 'never')", refuse.NotDBA, "DBA")
}

// TestProtocolsAreDocumented: docs/collections.md has the table of protocols as it is, and says of
// each parameter what it means.
func TestProtocolsAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/collections.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	if !strings.Contains(doc, protocolReference()) {
		t.Errorf("docs/collections.md lacks this table:\n%s", protocolReference())
	}
	for _, p := range collect.Protocols {
		for _, key := range collect.Keys(p.Protocol) {
			if !strings.Contains(doc, "\n| `"+key+"` | ") {
				t.Errorf("docs/collections.md does not say what %s means", key)
			}
		}
	}
}

// protocolReference returns the Markdown table of the protocols of collections and their
// parameters, which docs/collections.md holds.
func protocolReference() string {
	var b strings.Builder
	b.WriteString("| protocol | model | rounds | estimates | parameters |\n| --- | --- | --- | --- | --- |\n")
	for _, p := range collect.Protocols {
		b.WriteString("| `" + string(p.Protocol) + "` | " + strings.ToLower(string(p.Model)) + " | " + strconv.Itoa(p.Rounds) + " | " + p.For +
			" | `" + strings.Join(collect.Keys(p.Protocol), "` `") + "` |\n")
	}
	return b.String()
}

// TestLinks: a link has the token and the question in its fragment, and what the page could not ask
// is refused before a token is issued.
func TestLinks(t *testing.T) {
	c := collections.Summary{Schema: "shop", Name: "commute", Protocol: collect.LDPHier, Declaration: collect.Declaration{Levels: 1}}
	p, err := readPage(`{"url": "https://survey.example.org:8443/", "question": "How? & why #1", "choices": ["on foot", "by bus+tram"]}`, c)
	if err != nil {
		t.Fatal(err)
	}
	got := p.link("shop.commute", sql.Row{"9f86d081884c7d659a2feaa0c55ad015", int64(1), int64(3), "north west"})
	want := "https://survey.example.org:8443/report#c=shop.commute&t=9f86d081884c7d659a2feaa0c55ad015&r=1&n=3&s=north+west&q=How%3F+%26+why+%231&a=on+foot&a=by+bus%2Btram"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	bit := c
	bit.Protocol = collect.LDPBit
	for text, c := range map[string]collections.Summary{
		`{"url": "http://survey.example.org", "question": "How?"}`:                                    bit,
		`{"url": "https://survey.example.org/page", "question": "How?"}`:                              bit,
		`{"url": "https://me@survey.example.org", "question": "How?"}`:                                bit,
		`{"url": "https://survey.example.org#x", "question": "How?"}`:                                 bit,
		`{"url": "survey.example.org", "question": "How?"}`:                                           bit,
		`{"url": "https://survey.example.org"}`:                                                       bit,
		`{"url": "https://survey.example.org", "question": "How?", "choices": ["a"]}`:                 bit,
		`{"url": "https://survey.example.org", "question": "How?", "choices": ["a", " "]}`:            bit,
		`{"url": "https://survey.example.org", "question": "How?", "title": "x"}`:                     bit,
		`{"url": "https://survey.example.org", "question": "` + strings.Repeat("x", 301) + `"}`:       bit,
		`{"url": "https://survey.example.org", "question": "How?", "choices": ["a","b","c","d","e"]}`: c,
		`{"url": "https://survey.example.org", "question": "How? "}`:                                  {Protocol: collect.LDPUV1},
		`nothing`: bit,
	} {
		if _, err := readPage(text, c); err == nil {
			t.Errorf("%s is taken", text)
		} else if r, ok := refuse.As(err); !ok || r.Code != refuse.CollectionParameter {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := readPage(`{"url": "http://127.0.0.1:8443", "question": "How?", "choices": ["no", "yes"]}`, bit); err != nil {
		t.Error(err)
	}
	f := newFixture(t)
	f.refused(collector, "", `CALL dp_issue_links('commute', 1, '{"url": "https://survey.example.org", "question": "How?"}')`, refuse.CollectionParameter, "LDP_HIER")
	f.refused(collector, "", `CALL dp_issue_links('nothing', 1, '{}')`, refuse.CollectionState, "nothing")
}

// TestOneForecastAtATime: the next one waits for it, and no longer than its own statement runs.
func TestOneForecastAtATime(t *testing.T) {
	f := newFixture(t)
	const declared = `{"epsilon": 1, "lo": 0, "hi": 120, "n_expected": 20000}`
	killed, kill := context.WithCancel(context.Background())
	kill()

	f.admin.forecasting <- struct{}{}
	if _, err := f.admin.forecast(sql.NewContext(killed), []string{"LDP_BIT", declared}); !errors.Is(err, context.Canceled) {
		t.Errorf("beside another one: %v", err)
	}
	<-f.admin.forecasting
	for _, text := range []string{declared, `{"epsilon": 100, "lo": 0, "hi": 120, "n_expected": 20000}`, declared} {
		_, err := f.admin.forecast(sql.NewContext(context.Background()), []string{"LDP_BIT", text})
		if refused := text != declared; refused != (err != nil) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
