package seal

import (
	"crypto/ecdh"
	"crypto/hpke"
	"fmt"

	"scrim/engine/collect"
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
