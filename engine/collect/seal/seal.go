package seal

import (
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
