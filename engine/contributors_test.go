package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"scrim/engine/collections/contribute"
)

// contributing gives a server an address for contributors, and one origin.
func contributing(c *Config) {
	c.ContributeListen, c.ContributeOrigins = "127.0.0.1:0", "https://survey.example.org"
}

// post sends a report over HTTP, and returns the status and the answer.
func (o *opened) post(collection, body string, change ...func(*http.Request)) (int, string) {
	o.t.Helper()
	r, err := http.NewRequest(http.MethodPost, o.address("/v1/collections/"+collection+"/reports"), strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, f := range change {
		f(r)
	}
	return o.ask(r)
}

func (o *opened) address(path string) string { return "http://" + o.ContributeAddr().String() + path }

func (o *opened) ask(r *http.Request) (int, string) {
	o.t.Helper()
	answer, err := (&http.Client{Timeout: 2 * time.Minute}).Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(b))
}

func body(token, report []byte) string {
	return fmt.Sprintf(`{"token": %q, "report": %q}`, hex.EncodeToString(token), base64.StdEncoding.EncodeToString(report))
}

// TestRoundOverHTTP: the parameters over HTTP are those over the wire, to the byte, and pass the
// contributor's own check.
func TestRoundOverHTTP(t *testing.T) {
	o := startCollection(t, 1, contributing)
	for _, path := range []string{"commute/round", "commute/round?round=1", "survey.commute/round?round=1&stratum="} {
		r, err := http.Get(o.address("/v1/collections/" + path))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK || !bytes.Equal(text, o.p.Canonical()) {
			t.Fatalf("%s: %d %.200s, %v", path, r.StatusCode, text, err)
		}
		print, err := hex.DecodeString(r.Header.Get("Scrim-Fingerprint"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := contribute.CheckParams(text, print); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, want := range map[string]int{
		"commute/round?round=2": 404, "commute/round?round=0": 400, "commute/round?round=x": 400, "commute/round?stratum=north": 404,
		"nothing/round": 404, "commute/reports": 404, "commute": 404,
	} {
		r, _ := http.NewRequest(http.MethodGet, o.address("/v1/collections/"+path), nil)
		if status, text := o.ask(r); status != want || !json.Valid([]byte(text)) {
			t.Errorf("%s: %d %s, want %d", path, status, text, want)
		}
	}
}

// TestReportsOverHTTP: a report is taken once, over HTTP and over the wire together, and what is
// refused changes nothing and is answered with fixed words.
func TestReportsOverHTTP(t *testing.T) {
	o := startCollection(t, 3, contributing)
	token, sent := o.next()
	for range 3 {
		if status, text := o.post("commute", body(token, sent)); status != 200 || text != `{"accepted":true}` {
			t.Fatalf("%d %s", status, text)
		}
	}
	o.con.affected("INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", token, sent)
	o.wants(1, "after the same report four times")

	other := bytes.Clone(sent)
	other[len(other)-1] ^= 1
	fresh, freshReport := o.next()
	long := strings.Repeat("A", 20_000)
	for name, c := range map[string]struct {
		collection, body string
		status           int
		code             string
	}{
		"another report":       {"commute", body(token, other), 409, "SPENT_TOKEN"},
		"an unknown token":     {"commute", body(make([]byte, 16), sent), 403, "UNKNOWN_TOKEN"},
		"an unknown name":      {"nothing", body(fresh, freshReport), 404, "COLLECTION_STATE"},
		"a report of nothing":  {"commute", body(fresh, []byte{1}), 400, "MALFORMED_REPORT"},
		"a bit of 2":           {"commute", body(fresh, append(bytes.Clone(freshReport[:16]), 2)), 400, "MALFORMED_REPORT"},
		"a short token":        {"commute", body(fresh[:15], freshReport), 400, "BAD_REQUEST"},
		"no JSON":              {"commute", "token", 400, "BAD_REQUEST"},
		"two values":           {"commute", body(fresh, freshReport) + "{}", 400, "BAD_REQUEST"},
		"a foreign key":        {"commute", `{"token": "00", "report": "AA==", "value": 30}`, 400, "BAD_REQUEST"},
		"more than any report": {"commute", `{"token": "` + long + `"}`, 413, "BAD_REQUEST"},
	} {
		status, text := o.post(c.collection, c.body)
		var f struct{ Error, Message string }
		if err := json.Unmarshal([]byte(text), &f); err != nil || status != c.status || f.Error != c.code || f.Message == "" {
			t.Errorf("%s: %d %s, want %d %s", name, status, text, c.status, c.code)
		}
	}
	if status, _ := o.post("commute", body(fresh, freshReport), func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }); status != 415 {
		t.Errorf("a form of another site was answered with %d", status)
	}
	o.wants(1, "after refusals")
	o.con.affected("INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", fresh, freshReport)
	if status, text := o.post("commute", body(fresh, freshReport)); status != 200 {
		t.Errorf("what came over the wire before: %d %s", status, text)
	}
	o.wants(2, "after one over the wire")
}

// TestOneTokenRacedOverHTTP: of many different reports with one token that come together, one is
// taken.
func TestOneTokenRacedOverHTTP(t *testing.T) {
	o := startCollection(t, 1, contributing)
	token, sent := o.next()
	var mu sync.Mutex
	taken := map[byte]bool{}
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			mine := bytes.Clone(sent)
			mine[len(mine)-1] = byte(n % 2)
			status, _ := o.post("commute", body(token, mine))
			if status != 200 && status != 409 {
				t.Errorf("answered with %d", status)
			}
			mu.Lock()
			defer mu.Unlock()
			if status == 200 {
				taken[byte(n%2)] = true
			}
		})
	}
	all.Wait()
	if len(taken) != 1 {
		t.Errorf("%d different reports were taken", len(taken))
	}
	o.wants(1, "after a race")
}

// TestOriginsOfPages: pages of the operator's origins may send reports, and no others.
func TestOriginsOfPages(t *testing.T) {
	o := startCollection(t, 1, contributing)
	for origin, want := range map[string]string{"https://survey.example.org": "https://survey.example.org", "https://other.example.org": "", "null": ""} {
		r, _ := http.NewRequest(http.MethodOptions, o.address("/v1/collections/commute/reports"), nil)
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "POST")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("Access-Control-Allow-Origin"); got != want || answer.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s is allowed as %q", origin, got)
		}
	}
}

// TestContributorsNeedTLS: tokens cross no network in clear.
func TestContributorsNeedTLS(t *testing.T) {
	for address, ok := range map[string]bool{"127.0.0.1:0": true, "0.0.0.0:8443": false, ":8443": false, "nowhere": false} {
		c := DefaultConfig(t.TempDir())
		c.ContributeListen = address
		if err := c.Validate(); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	c := DefaultConfig(t.TempDir())
	c.ContributeOrigins = "https://example.org/path"
	if c.Validate() == nil {
		t.Error("a path is no origin")
	}
}
