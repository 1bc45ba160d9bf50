package shuffler

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"scrim/engine/collections/collect/seal"
)

// httpClient trusts the shuffler's own certificate, and nothing else.
func (l listening) httpClient() *http.Client {
	l.t.Helper()
	pem, err := os.ReadFile(filepath.Join(l.dir, fileCertificate))
	must(l.t, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		l.t.Fatal("the certificate cannot be read")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, MaxIdleConnsPerHost: 20}
	l.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Timeout: 30 * time.Second, Transport: transport}
}

func (l listening) url(path string) string {
	return "https://" + l.server.ContributeAddr().String() + "/v1/collections/" + path
}

func bodyOf(token, bundle []byte) string {
	return fmt.Sprintf(`{"token":"%x","report":"%s"}`, token, base64.StdEncoding.EncodeToString(bundle))
}

// post sends a bundle and returns the status and the answer.
func post(t testing.TB, c *http.Client, url, body string) (int, string) {
	t.Helper()
	r, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	must(t, err)
	return r.StatusCode, strings.TrimSpace(string(b))
}

// TestBundlesOverHTTPS: what is pinned is told, bundles are taken once, over HTTPS and the wire
// together, and what is refused changes nothing.
func TestBundlesOverHTTPS(t *testing.T) {
	l := listen(t)
	client := l.httpClient()
	print := l.p.Fingerprint()
	for _, path := range []string{"commute/round", "survey.commute/round?round=1"} {
		r, err := client.Get(l.url(path))
		must(t, err)
		text, err := io.ReadAll(r.Body)
		must(t, err)
		r.Body.Close()
		if r.StatusCode != http.StatusOK || !bytes.Equal(text, l.p.Canonical()) || r.Header.Get("Scrim-Fingerprint") != fmt.Sprintf("%x", print) || r.Header.Get("Scrim-Shuffler") != l.id {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	for _, path := range []string{"commute/round?round=2", "commute/round?stratum=north", "nothing/round"} {
		r, err := client.Get(l.url(path))
		must(t, err)
		r.Body.Close()
		equal(t, path, r.StatusCode, http.StatusNotFound)
	}
	if r, err := client.Get("https://" + l.server.ContributeAddr().String() + "/report"); err != nil || r.StatusCode != http.StatusNotFound {
		t.Errorf("the page of the local model is served: %v", err)
	}

	tokens := l.issue(4)
	url := l.url("commute/reports")
	good := bodyOf(tokens[0].Secret[:], bundleOf(l.p, 0))
	for range 2 {
		if status, text := post(t, client, url, good); status != http.StatusOK || text != `{"accepted":true}` {
			t.Errorf("%d %s", status, text)
		}
	}
	db := l.open(Contributor, "", "")
	_, err := db.Exec("INSERT INTO inbox VALUES (?, ?)", tokens[0].Secret[:], bundleOf(l.p, 0))
	must(t, err)
	_, err = db.Exec("INSERT INTO inbox VALUES (?, ?)", tokens[1].Secret[:], bundleOf(l.p, 1))
	must(t, err)
	equal(t, "reports", l.wait(1, Open).Reports, 2)
	unpinned := bundleOf(l.p, 2)
	unpinned[0] ^= 1
	for name, c := range map[string]struct {
		url, body string
		status    int
		code      string
	}{
		"another bundle":       {url, bodyOf(tokens[1].Secret[:], bundleOf(l.p, 9)), 409, "SPENT_TOKEN"},
		"an unknown token":     {url, bodyOf(randomToken(), bundleOf(l.p, 9)), 403, "UNKNOWN_TOKEN"},
		"an unknown name":      {l.url("steps/reports"), bodyOf(tokens[2].Secret[:], bundleOf(l.p, 2)), 404, "COLLECTION_STATE"},
		"parameters of others": {url, bodyOf(tokens[2].Secret[:], unpinned), 400, "MALFORMED_REPORT"},
		"a short bundle":       {url, bodyOf(tokens[2].Secret[:], bundleOf(l.p, 2)[:100]), 400, "MALFORMED_REPORT"},
		"longer than bundles":  {url, bodyOf(tokens[2].Secret[:], make([]byte, 8192)), 413, "BAD_REQUEST"},
		"no JSON":              {url, "token", 400, "BAD_REQUEST"},
	} {
		status, text := post(t, client, c.url, c.body)
		var f struct{ Error, Message string }
		if err := json.Unmarshal([]byte(text), &f); err != nil || status != c.status || f.Error != c.code || f.Message == "" {
			t.Errorf("%s: %d %s, want %d %s", name, status, text, c.status, c.code)
		}
	}
	equal(t, "reports", l.wait(1, Open).Reports, 2)
	if r, err := http.Get("http://" + l.server.ContributeAddr().String() + "/v1/collections/commute/round"); err == nil {
		r.Body.Close()
		if r.StatusCode == http.StatusOK {
			t.Error("it is served in clear")
		}
	}
}

// TestBatchesOverHTTPSAreMixed: what came over HTTPS, in order, from known addresses, is released
// as what came over the wire is: once, whole, in another order, without anything beside the
// messages, and the log tells nothing of it.
func TestBatchesOverHTTPSAreMixed(t *testing.T) {
	l := listen(t)
	client := l.httpClient()
	tokens := l.issue(80)
	lengths := map[int]bool{}
	send := func(i int) {
		body := bodyOf(tokens[i].Secret[:], bundleOf(l.p, uint64(i)))
		lengths[len(body)] = true
		if status, text := post(t, client, l.url("commute/reports"), body); status != http.StatusOK {
			t.Errorf("%d: %d %s", i, status, text)
		}
	}
	for i := range 20 {
		send(i)
	}
	equal(t, "lengths of requests", len(lengths), 1)
	var all sync.WaitGroup
	for i := 20; i < 80; i++ {
		all.Go(func() {
			status, text := post(t, client, l.url("commute/reports"), bodyOf(tokens[i].Secret[:], bundleOf(l.p, uint64(i))))
			if status != http.StatusOK {
				t.Errorf("%d: %d %s", i, status, text)
			}
		})
	}
	all.Wait()
	if _, err := tls.Dial("tcp", l.server.ContributeAddr().String(), &tls.Config{}); err == nil {
		t.Error("a certificate that nobody vouches for is trusted")
	}
	_, err := l.close(false, false)
	must(t, err)
	l.wait(1, Acknowledged)
	l.gone()
	bag, reports := l.up.bag(batchName{collection: l.p.Collection, round: 1, batch: 1})
	equal(t, "reports", reports, 80)
	most := seal.ShapeOf(l.p).Most
	equal(t, "messages", len(bag), 80*most*seal.SealedSize)
	for sender, n := range senders(t, bag) {
		equal(t, fmt.Sprintf("messages of %d", sender), n, most)
	}
	// A uniform order has a sender's message beside another of the same in about one of 80 places.
	beside, inOrder := 0, true
	var last uint64
	for i := 0; i < len(bag); i += seal.SealedSize {
		sender := binary.BigEndian.Uint64(bag[i:])
		if i > 0 && sender == last {
			beside++
		}
		inOrder = inOrder && (i == 0 || sender >= last)
		last = sender
	}
	// 17 expected of 1,359 places; more than 60 in fewer than 1e-14 of orders
	if inOrder || beside > 60 {
		t.Errorf("%d messages lie beside one of the same sender", beside)
	}
	must(t, l.Close())
	text := l.log.String()
	for _, word := range []string{"127.0.0.1", "HTTP", "POST", fmt.Sprintf("%x", tokens[0].Secret)} {
		if strings.Contains(text, word) {
			t.Errorf("the log has %q:\n%s", word, text)
		}
	}
	err = filepath.WalkDir(l.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && !slices.Contains([]string{FileAddress, fileCertificate}, d.Name()) && bytes.Contains(b, []byte("127.0.0.1")) {
			t.Errorf("%s has an address", path)
		}
		return err
	})
	must(t, err)
}

// TestPagesAtAShuffler: pages of the operator's origins may send bundles, and read who it is.
func TestPagesAtAShuffler(t *testing.T) {
	l := listen(t)
	for origin, want := range map[string]string{"https://survey.example.org": "https://survey.example.org", "https://other.example.org": ""} {
		r, err := http.NewRequest(http.MethodGet, l.url("commute/round"), nil)
		must(t, err)
		r.Header.Set("Origin", origin)
		answer, err := l.httpClient().Do(r)
		must(t, err)
		answer.Body.Close()
		equal(t, origin, answer.Header.Get("Access-Control-Allow-Origin"), want)
		if h := answer.Header.Get("Strict-Transport-Security"); h != "" {
			t.Errorf("browsers are bound to a certificate that none of them knows: %s", h)
		}
	}
}
