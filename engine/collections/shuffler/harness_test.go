package shuffler

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/issue"
	"scrim/engine/collections/collect/seal"
	"scrim/internal/refuse"
	"scrim/test/testenv"
)

// declaredSum is a declaration that is small to run: n_min 80, n_max 144, 17 messages a bundle.
var declaredSum = collect.Declaration{Epsilon: 10000, Delta: 1e-6, Expected: 100, Lo: 0, Hi: 100, Trust: "separate"}

const testUUID = "0190a6f2-7b1c-7c3e-9d5a-2f4b6c8d0e1f"

// paramsOf plans a collection and returns the parameters of its first round.
func paramsOf(t testing.TB, name, uuid string, protocol collect.Protocol, d collect.Declaration, stratum string) (*collect.Params, *seal.PrivateKey) {
	t.Helper()
	g, err := collect.Plan(name, uuid, protocol, d)
	must(t, err)
	key, err := seal.Generate()
	must(t, err)
	var signs []byte
	if protocol == collect.ShufSCM3 {
		signs = bytes.Repeat([]byte{7}, 32)
	}
	p, err := g.Params(1, stratum, collect.Published{}, key.Public(), signs)
	must(t, err)
	return p, key
}

// fake is a server in memory: it keeps the parts of bags as dp_load_batch does.
type fake struct {
	mu     sync.Mutex
	params map[[32]byte][]byte
	parts  map[batchName]map[int][]byte // what came
	whole  map[batchName]uint64         // loaded batches and their reports
	calls  int
	fail   func(p Part) error // before a part is taken
	lose   func(p Part) error // after it was taken
}

// batchName is a batch as the server knows it.
type batchName struct {
	collection, stratum string
	round               int
	cell, batch         uint32
}

func (p Part) name() batchName { return batchName{p.Collection, p.Stratum, p.Round, p.Cell, p.Batch} }

func newFake(list ...*collect.Params) *fake {
	f := &fake{params: map[[32]byte][]byte{}, parts: map[batchName]map[int][]byte{}, whole: map[batchName]uint64{}}
	for _, p := range list {
		f.params[p.Fingerprint()] = p.Canonical()
	}
	return f
}

func (f *fake) Params(_ context.Context, fingerprint [32]byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b, ok := f.params[fingerprint]; ok {
		return b, nil
	}
	return nil, errors.New("no such parameters")
}

func (f *fake) Load(_ context.Context, p Part) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.fail != nil {
		if err := f.fail(p); err != nil {
			return false, err
		}
	}
	k := p.name()
	have := f.parts[k]
	if have == nil {
		have = map[int][]byte{}
		f.parts[k] = have
	}
	if before, ok := have[p.Part]; ok && !bytes.Equal(before, p.Sealed) {
		return false, &Rejected{"45D41", "another part"}
	}
	have[p.Part] = bytes.Clone(p.Sealed)
	if len(have) == p.Parts {
		f.whole[k] = p.Reports
	}
	if f.lose != nil {
		if err := f.lose(p); err != nil {
			return false, err
		}
	}
	return len(have) == p.Parts, nil
}

// bag returns a loaded batch's messages in the order in which they were released.
func (f *fake) bag(k batchName) (bag []byte, reports uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := 1; i <= len(f.parts[k]); i++ {
		bag = append(bag, f.parts[k][i]...)
	}
	return bag, f.whole[k]
}

// world is a shuffler with its server.
type world struct {
	*Shuffler
	t   testing.TB
	up  *fake
	dir string
	p   *collect.Params
}

// sumWorld has a shuffler that takes bundles of a small SHUF_SUM collection.
func sumWorld(t testing.TB, options ...func(*Options)) world {
	t.Helper()
	p, _ := paramsOf(t, "survey.commute", testUUID, collect.ShufSum, declaredSum, "")
	w := world{t: t, up: newFake(p), dir: filepath.Join(t.TempDir(), "data"), p: p}
	w = w.start(options...)
	w.pin(p)
	return w
}

// start starts a shuffler on the world's directory.
func (w world) start(options ...func(*Options)) world {
	w.t.Helper()
	o := Options{Upstream: w.up, Logger: zerolog.Nop()}
	for _, f := range options {
		f(&o)
	}
	s, err := start(w.dir, o, func(s *Shuffler) { s.part = 100 })
	must(w.t, err)
	w.t.Cleanup(func() { s.Close() })
	w.Shuffler = s
	return w
}

// again closes the shuffler and starts another one.
func (w world) again() world {
	w.t.Helper()
	must(w.t, w.Close())
	return w.start()
}

func (w world) pin(p *collect.Params) {
	w.t.Helper()
	_, err := w.Pin(context.Background(), short(p.Collection), p.Fingerprint())
	must(w.t, err)
}

func (w world) issue(n int) []Token {
	w.t.Helper()
	list, err := w.Issue("commute", uint64(n), "", 0)
	must(w.t, err)
	return list
}

// bundleOf makes a bundle whose messages are marked by who sent it: the first 8 bytes of each are
// the sender's number, the next 8 the message's. The shuffler cannot tell them from sealed ones.
func bundleOf(p *collect.Params, sender uint64) []byte {
	shape := seal.ShapeOf(p)
	b := binary.BigEndian.AppendUint32(bytes.Clone(shape.Fingerprint[:]), uint32(shape.Most))
	for i := range shape.Most {
		b = append(b, mark(sender, uint64(i))...)
	}
	return b
}

// mark is a message that nobody sealed.
func mark(sender, i uint64) []byte {
	h := sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, sender), i))
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, sender), i)
	return append(append(b, h[:]...), h[:16]...)
}

// send has the holders of tokens report; the sender's number is the token's place in the list.
func (w world) send(tokens []Token, first int) {
	w.t.Helper()
	var all sync.WaitGroup
	for i, tk := range tokens {
		all.Go(func() {
			if err := w.Accept(context.Background(), tk.Secret[:], bundleOf(w.p, uint64(first+i))); err != nil {
				w.t.Errorf("bundle %d: %v", first+i, err)
			}
		})
	}
	all.Wait()
}

// close closes everything of commute.
func (w world) close(destroy, goOn bool) ([]Status, error) {
	return w.CloseBatches(context.Background(), Selection{Collection: "commute"}, destroy, goOn)
}

// wait waits until a batch is in a state.
func (w world) wait(batch uint32, want State) (found Status) {
	w.t.Helper()
	testenv.Succeeds(w.t, time.Minute, fmt.Sprintf("batch %d to be %s", batch, want), func() error {
		list, err := w.Status()
		must(w.t, err)
		i := slices.IndexFunc(list, func(s Status) bool { return s.Batch == batch && s.State == want })
		if i < 0 {
			return fmt.Errorf("there are %+v", list)
		}
		found = list[i]
		return nil
	})
	return found
}

// gone waits until nothing is left of batches.
func (w world) gone() {
	w.t.Helper()
	testenv.Succeeds(w.t, time.Minute, "the end of batches", func() error {
		if left := w.files(); len(left) > 0 {
			return fmt.Errorf("left are %v", left)
		}
		return nil
	})
}

// files lists the batches' files.
func (w world) files() []string {
	w.t.Helper()
	list, err := filepath.Glob(filepath.Join(w.dir, batchesDir, "*"))
	must(w.t, err)
	return list
}

// spent counts the tokens that have reported to a closed batch.
func (w world) spent() (n int) {
	w.t.Helper()
	must(w.t, w.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketTokens).ForEach(func(k, _ []byte) error {
			if _, batch, _ := tokenAt(tx, [32]byte(k)); batch != 0 {
				n++
			}
			return nil
		})
	}))
	return n
}

// senders counts the messages of every sender in a bag, and fails for one that nobody sent.
func senders(t testing.TB, bag []byte) map[uint64]int {
	t.Helper()
	out := map[uint64]int{}
	for ; len(bag) > 0; bag = bag[seal.SealedSize:] {
		sender, i := binary.BigEndian.Uint64(bag), binary.BigEndian.Uint64(bag[8:])
		if !bytes.Equal(bag[:seal.SealedSize], mark(sender, i)) {
			t.Fatal("the bag has a message that nobody sent")
		}
		out[sender]++
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, what string, err error, code refuse.Code) {
	t.Helper()
	if r, ok := refuse.As(err); !ok || r.Code != code {
		t.Errorf("%s: got %v, want %s", what, err, code)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func randomToken() []byte {
	b := make([]byte, issue.TokenSize)
	rand.Read(b)
	return b
}
