package engine

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
)

const sums = `CALL dp_create_collection('survey.pay', 'SHUF_SUM', '{"epsilon": 1, "delta": 1e-9, "lo": 0, "hi": 10, "n_expected": 100, "trust": "%s"}')`

// bag makes what a shuffler releases: the sealed messages of n contributors, each of whom has the
// value 4.
func bag(t *testing.T, p *collect.Params, n int) []byte {
	t.Helper()
	sealer, err := seal.NewSealer(p.SealKey, p.Fingerprint())
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for range n {
		messages, err := device.Messages(exact.Secure(), p, 0, collect.Value{4})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			sealed, err := sealer.Seal(m)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, sealed...)
		}
	}
	return out
}

// TestBatches loads batches as a shuffler does: in parts, prepared and as text, again, and such as
// are to be refused.
func TestBatches(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE survey", fmt.Sprintf(sums, "separate"), "CREATE USER shuf IDENTIFIED BY 'pw'", "GRANT shuffler TO shuf", "CALL dp_open_collection('pay')")
	e := root.refused(1644, "45D11", "CALL dp_issue_tokens('pay', 10)")
	if !strings.Contains(e.Message, "shuffler") {
		t.Errorf("the refusal does not say who issues tokens: %s", e.Message)
	}
	shuf := i.client("shuf", "pw")
	p := shuf.params("pay", 1, "")
	if key := root.value("SELECT HEX(seal_key) FROM dp.collection_rounds WHERE collection = 'pay'"); key != strings.ToUpper(hex.EncodeToString(p.SealKey)) {
		t.Errorf("seal_key is %s", key)
	}
	shuf.refused(1227, "42000", "CALL dp_close_collection('pay')")
	root.refused(1644, "45D11", "INSERT INTO dp_in.pay VALUES (X'00', X'00')")
	const load = "CALL dp_load_batch('pay', 1, NULL, 0, 1, 100, ?, 2, ?)"
	b := bag(t, p, 100)
	cut := len(b) / 128 * 64
	if cut < 65536/2 || len(b) < 65536 {
		t.Fatalf("the bag has %d bytes: not enough to come as long data", len(b))
	}
	if got := shuf.value("CALL dp_load_batch('survey.pay', '1', '', 0, 1, 100, 1, 2, X'" + hex.EncodeToString(b[:cut]) + "')"); got != "waits for its other parts" {
		t.Errorf("the first part: %s", got)
	}
	if got := shuf.value(load, 1, b[:cut]); got != "waits for its other parts" {
		t.Errorf("the first part again: %s", got)
	}
	if got := root.query("SELECT * FROM dp.collection_batches"); len(got) != 0 {
		t.Errorf("half a batch is listed: %v", got)
	}
	for range 2 {
		if got := shuf.value(load, 2, b[cut:]); got != "loaded" {
			t.Errorf("the last part: %s", got)
		}
	}
	shuf.refused(1644, "45D41", "CALL dp_load_batch('pay', 1, NULL, 0, 2, 100, 1, 1, ?)", b)
	shuf.refused(1644, "45D24", "CALL dp_load_batch('pay', 1, NULL, 0, 2, 100, 1, 1, ?)", b[:65])
	shuf.refused(1644, "45D20", "CALL dp_load_batch('pay', 1, NULL, 0, 2, 10, 1, 1, ?)", bag(t, p, 10))
	if got := fmt.Sprint(root.query("SELECT collection, round, stratum, cell, batch, n_reports, n_broken, LENGTH(bag_sha256), refused FROM dp.collection_batches")); got != "[[pay 1  0 1 100 0 32 NULL]]" {
		t.Errorf("dp.collection_batches: %s", got)
	}
	if got := root.value("SELECT COUNT(*) FROM survey.pay"); got != fmt.Sprint(len(b)/64) {
		t.Errorf("%s messages are stored, want %d", got, len(b)/64)
	}
	root.query("CALL dp_next_round('pay')")
	if got := root.value("SELECT mean BETWEEN 0 AND 8 FROM dp.collection_results"); got != "1" {
		t.Errorf("the mean is far off: %v", root.query("SELECT * FROM dp.collection_results"))
	}
	if text := fmt.Sprint(root.query("SELECT * FROM dp.ledger")); len(text) > 20000 {
		t.Errorf("the ledger holds bags: %d bytes", len(text))
	}
	root.exec("CALL dp_drop_collection('pay')", fmt.Sprintf(sums, "same_operator"))
	if got := root.issue("CALL dp_issue_tokens('pay', 10)"); len(got) != 10 {
		t.Errorf("%d tokens of one operator", len(got))
	}
}
