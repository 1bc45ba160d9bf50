package contribute

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"scrim/engine/collections/collect"
)

func TestFetchParams(t *testing.T) {
	for _, name := range []string{"bit", "hier", "sum"} {
		p := first(t, name)
		db := servingParams(t, p)
		for _, as := range []string{"commute", "survey.commute", "COMMUTE"} {
			q, err := FetchParams(t.Context(), db, as, tokenOf(p, 0, 1))
			if err != nil || q.Fingerprint() != p.Fingerprint() {
				t.Errorf("%s as %s: %v", name, as, err)
			}
		}
	}
}

// TestFetchAgain: parameters are asked for again where the connection fails or the server is busy,
// and not where the answer would be the same.
func TestFetchAgain(t *testing.T) {
	p := first(t, "bit")
	db := servingParams(t, p)
	db.fake.unasked = []error{errFake, errors.New("Error 1040: Too many connections")}
	if q, err := FetchParams(t.Context(), db, "commute", tokenOf(p, 0, 1)); err != nil || q.Fingerprint() != p.Fingerprint() || len(db.fake.asked) != 3 {
		t.Errorf("asked %d times: %v", len(db.fake.asked), err)
	}
	var answer *Refused
	db.fake.asked, db.fake.unasked = nil, []error{errors.New("Error 1045 (28000): Access denied")}
	if _, err := FetchParams(t.Context(), db, "commute", tokenOf(p, 0, 1)); !errors.As(err, &answer) || answer.Number != 1045 || len(db.fake.asked) != 1 {
		t.Errorf("asked %d times: %v", len(db.fake.asked), err)
	}
	empty := pool(t, &fakeServer{})
	_, err := FetchParams(t.Context(), empty, "commute", tokenOf(p, 0, 1))
	if refusedWith(t, err, "COLLECTION_STATE"); len(empty.fake.asked) != 1 {
		t.Errorf("a round that is not there was asked for %d times", len(empty.fake.asked))
	}
}

// TestFetchElsewhere: a server that answers with something else than was asked for is refused.
func TestFetchElsewhere(t *testing.T) {
	g := planned(t, "kv2", someUUID)
	p, _ := roundOf(t, g, 1)
	later, _ := roundOf(t, g, 2)
	token := tokenOf(p, 0, 1)
	_, err := FetchParams(t.Context(), servingParams(t, later), "commute", token)
	refusedWith(t, err, "COLLECTION_PARAMETER")
	_, err = FetchParams(t.Context(), servingParams(t, p), "other", token)
	refusedWith(t, err, "COLLECTION_PARAMETER")
	_, err = FetchParams(t.Context(), servingParams(t, p), "shop.commute", token)
	refusedWith(t, err, "COLLECTION_PARAMETER")
	_, err = FetchParams(t.Context(), servingParams(t, first(t, "hier")), "commute", token)
	refusedWith(t, err, "COLLECTION_PARAMETER")
	_, err = FetchParams(t.Context(), pool(t, &fakeServer{}), "commute", token)
	refusedWith(t, err, "COLLECTION_STATE")
}

// TestFetchHostile: answers of other shapes and sizes end in an error, and soon.
func TestFetchHostile(t *testing.T) {
	p := first(t, "bit")
	print := p.Fingerprint()
	good := []driver.Value{p.Canonical(), print[:]}
	wrong := bytes.Clone(print[:])
	wrong[31] ^= 1
	for name, rows := range map[string][][]driver.Value{
		"one column":    {{p.Canonical()}},
		"three columns": {append(good, int64(1))},
		"numbers":       {{int64(1), int64(2)}},
		"null":          {{nil, nil}},
		"two rows":      {good, good},
		"print":         {{p.Canonical(), wrong}},
		"short print":   {{p.Canonical(), print[:8]}},
		"long":          {{make([]byte, 2*collect.MaxParams), print[:]}},
		"nested":        {{bytes.Repeat([]byte("["), collect.MaxParams), print[:]}},
	} {
		db := pool(t, &fakeServer{rows: rows})
		if _, err := FetchParams(t.Context(), db, "commute", tokenOf(p, 0, 1)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := FetchParams(ctx, pool(t, &fakeServer{endless: true}), "commute", Token{}); err == nil || time.Since(start) > time.Minute {
		t.Errorf("a silent server: %v after %v", err, time.Since(start))
	}
}

// TestLimitDial: a connection breaks off after its bytes, and gives all of them before.
func TestLimitDial(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	go func() { _, _ = io.Copy(there, endless{}) }()
	dial := LimitDial(func(context.Context, string, string) (net.Conn, error) { return here, nil }, 1_000_000)
	c, err := dial(t.Context(), "tcp", "nowhere:1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if b, err := io.ReadAll(c); len(b) != 1_000_000 || err != errTooMuch {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := LimitDial(nil, 1)(t.Context(), "tcp", "127.0.0.1:0"); err == nil {
		t.Error("connected to port 0")
	}
}

// endless is what a hostile server sends.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
