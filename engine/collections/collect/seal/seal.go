package seal

import (
	"context"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
)

// Sealer seals messages to one key under one fingerprint. It is safe for concurrent use.
type Sealer struct {
	key         hpke.PublicKey
	fingerprint [32]byte
}

// NewSealer returns a sealer to a public key; fingerprint is of the parameters that hold the key.
func NewSealer(public []byte, fingerprint [32]byte) (*Sealer, error) {
	k, err := kem().NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("seal: public key: %w", err)
	}
	return &Sealer{k, fingerprint}, nil
}

// Seal returns a sealed message of SealedSize bytes. The same message seals to other bytes every
// time. A public key of small order is an error.
func (s *Sealer) Seal(message collect.Message) ([]byte, error) {
	sealed, err := hpke.Seal(s.key, kdf(), aead(), s.fingerprint[:], message[:])
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return sealed, nil
}

// Opener opens what a Sealer of the same key and fingerprint sealed. It is safe for concurrent use.
type Opener struct {
	key         hpke.PrivateKey
	fingerprint [32]byte
}

// NewOpener returns an opener.
func NewOpener(key *PrivateKey, fingerprint [32]byte) *Opener { return &Opener{key.key, fingerprint} }

// Open returns the message of one sealed message; ok is false for anything that this key and
// fingerprint did not seal, and for a message of another length.
func (o *Opener) Open(sealed []byte) (message collect.Message, ok bool) {
	if len(sealed) != SealedSize {
		return message, false
	}
	plain, err := hpke.Open(o.key, kdf(), aead(), o.fingerprint[:], sealed)
	if err != nil {
		return message, false
	}
	copy(message[:], plain)
	return message, true
}

// Bytes of keys, of messages, and of sealed messages.
const (
	KeySize    = 32
	PlainSize  = len(collect.Message{})
	SealedSize = KeySize + PlainSize + 16
)

func kem() hpke.KEM   { return hpke.DHKEM(ecdh.X25519()) }
func kdf() hpke.KDF   { return hpke.HKDFSHA256() }
func aead() hpke.AEAD { return hpke.ChaCha20Poly1305() }

// PrivateKey opens what is sealed to its public key. It is safe for concurrent use.
type PrivateKey struct{ key hpke.PrivateKey }

// Generate returns a fresh private key.
func Generate() (*PrivateKey, error) {
	k, err := kem().GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("seal: generate a key: %w", err)
	}
	return &PrivateKey{k}, nil
}

// ParsePrivate reads what Bytes returned.
func ParsePrivate(b []byte) (*PrivateKey, error) {
	k, err := kem().NewPrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("seal: private key: %w", err)
	}
	return &PrivateKey{k}, nil
}

// Bytes returns the key for safekeeping: KeySize bytes.
func (k *PrivateKey) Bytes() []byte {
	b, err := k.key.Bytes()
	if err != nil {
		panic("seal: " + err.Error()) // keys of this package are all of one kind, which has bytes
	}
	return b
}

// Public returns the public key, which stands in the round's parameters: KeySize bytes.
func (k *PrivateKey) Public() []byte { return k.key.PublicKey().Bytes() }

const headSize = 32 + 4 // fingerprint, count

// Shape is what the public parameters of a round say of its bundles. The shuffler pins it.
type Shape struct {
	Fingerprint [32]byte
	Least, Most int // messages; the same number except for SHUF_HIER
}

// ShapeOf returns the shape of the bundles of a round of the shuffle model.
func ShapeOf(p *collect.Params) Shape {
	s := Shape{Fingerprint: p.Fingerprint(), Most: int(p.Messages())}
	s.Least = s.Most
	if p.Tree() {
		s.Least = p.Batch.Levels
	}
	return s
}

// Size returns the bytes of every bundle: those of the largest.
func (s Shape) Size() int { return headSize + s.Most*SealedSize }

// Bundle seals a contributor's messages and returns the bundle, always of Size bytes. More messages
// than Most, or fewer than Least, are a bug of the device and panic: they would tell something of
// the value.
func (s Shape) Bundle(to *Sealer, messages []collect.Message) ([]byte, error) {
	if len(messages) < s.Least || len(messages) > s.Most {
		panic("seal: number of messages is not of the bundle's shape")
	}
	b := make([]byte, headSize, s.Size())
	copy(b, s.Fingerprint[:])
	binary.BigEndian.PutUint32(b[32:], uint32(len(messages)))
	for _, m := range messages {
		sealed, err := to.Seal(m)
		if err != nil {
			return nil, err
		}
		b = append(b, sealed...)
	}
	end := len(b)
	b = b[:s.Size()]
	rand.Read(b[end:]) // never fails: it ends the program instead
	return b, nil
}

// Check returns the sealed messages of a bundle, one after another, without its padding. It refuses
// a bundle of another length, of other parameters, or with another number of messages than the
// protocol sends.
func (s Shape) Check(bundle []byte) (sealed []byte, err error) {
	if len(bundle) != s.Size() {
		return nil, refuse.New(refuse.MalformedReport, "A bundle of this round has %d bytes, and this one %d.", s.Size(), len(bundle))
	}
	if subtle.ConstantTimeCompare(bundle[:32], s.Fingerprint[:]) != 1 {
		return nil, refuse.New(refuse.MalformedReport, "The bundle was made from other parameters than those that this shuffler pinned for the round.")
	}
	n := binary.BigEndian.Uint32(bundle[32:])
	if uint64(n) < uint64(s.Least) || uint64(n) > uint64(s.Most) {
		return nil, refuse.New(refuse.MalformedReport, "A bundle of this round holds from %d to %d messages, and this one %d.", s.Least, s.Most, n)
	}
	return bundle[headSize:][:int(n)*SealedSize], nil
}

// chunk is how many messages a core takes at a time: some 20 ms of work.
const chunk = 256

// OpenAll opens a bag of sealed messages, one after another in bag, on all cores. It returns the
// messages that open, one after another in the bag's order, and how many do not. One encapsulation
// of a key is undone for each message, which is what the time goes into: messages that shared one
// could be linked.
//
// progress, where given, is told from time to time how many are done; calls do not overlap, and the
// numbers grow. An error is that of ctx, or of a bag whose length is not a multiple of SealedSize.
func (o *Opener) OpenAll(ctx context.Context, bag []byte, progress func(done int)) (messages []byte, failed int, err error) {
	if len(bag)%SealedSize != 0 {
		return nil, 0, fmt.Errorf("seal: a bag of %d bytes holds no whole number of messages", len(bag))
	}
	work := &opening{opener: o, bag: bag, progress: progress}
	work.chunks = make([][]byte, (len(bag)/SealedSize+chunk-1)/chunk)
	var cores sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(work.chunks)) {
		cores.Go(func() { work.run(ctx) })
	}
	cores.Wait()
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	messages = make([]byte, 0, len(bag)/SealedSize*PlainSize)
	for _, c := range work.chunks {
		messages = append(messages, c...)
	}
	return messages, (len(bag)/SealedSize - len(messages)/PlainSize), nil
}

// opening is the state of one OpenAll.
type opening struct {
	opener *Opener
	bag    []byte
	chunks [][]byte // what each chunk of the bag holds; every one has one writer
	next   atomic.Int64

	telling  sync.Mutex
	done     int
	progress func(int)
}

func (w *opening) run(ctx context.Context) {
	for ctx.Err() == nil {
		i := int(w.next.Add(1) - 1)
		if i >= len(w.chunks) {
			return
		}
		sealed := w.bag[i*chunk*SealedSize:]
		sealed = sealed[:min(len(sealed), chunk*SealedSize)]
		w.chunks[i] = w.opener.openChunk(sealed)
		w.tell(len(sealed) / SealedSize)
	}
}

func (o *Opener) openChunk(sealed []byte) []byte {
	messages := make([]byte, 0, len(sealed)/SealedSize*PlainSize)
	for ; len(sealed) > 0; sealed = sealed[SealedSize:] {
		if m, ok := o.Open(sealed[:SealedSize]); ok {
			messages = append(messages, m[:]...)
		}
	}
	return messages
}

func (w *opening) tell(more int) {
	if w.progress == nil {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.done += more
	w.progress(w.done)
}
