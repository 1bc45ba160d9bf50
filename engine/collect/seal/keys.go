package seal

import (
	"crypto/ecdh"
	"crypto/hpke"
	"fmt"

	"scrim/engine/collect"
)

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
