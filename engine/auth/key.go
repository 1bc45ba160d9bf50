package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"scrim/internal/durable"
)

// keyBits is the size that MySQL's own key has.
const keyBits = 2048

// Key is the server's RSA key, under which clients send their passwords in clear connections. It is
// made when the first client asks for it, and kept in one file that only the server may read.
//
// Clients use OAEP with SHA-1, which the protocol fixes. Decryption runs in constant time, and what
// cannot be decrypted is a wrong password: the same hashing, the same answer. So a client that
// sends made-up ciphertexts learns nothing from how they fail. What the exchange does not give is
// the server's identity: whoever can change packets can put a key of their own in the place of this
// one.
type Key struct {
	path string

	mu     sync.Mutex
	key    *rsa.PrivateKey
	public []byte
}

// NewKey keeps the key at path. A file that is there is read at once, so that a damaged one is
// found at the start.
func NewKey(path string) (*Key, error) {
	k := &Key{path: path}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	return k, k.load()
}

// Public returns the public key in PEM, as clients want it.
func (k *Key) Public() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(); err != nil {
		return nil, err
	}
	return k.public, nil
}

// load reads the key or makes it. It is called under the lock, or before anybody else has the key.
func (k *Key) load() error {
	if k.key != nil {
		return nil
	}
	data, err := os.ReadFile(k.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k.make()
	case err != nil:
		return fmt.Errorf("auth: %w", err)
	}
	block, _ := pem.Decode(data)
	if block != nil {
		if parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if key, ok := parsed.(*rsa.PrivateKey); ok && key.N.BitLen() >= keyBits {
				return k.use(key)
			}
		}
	}
	return fmt.Errorf("auth: %s holds no RSA key of %d bits; remove it, and another one is made", k.path, keyBits)
}

func (k *Key) make() error {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return fmt.Errorf("auth: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("auth: %w", err)
	}
	if err := durable.Replace(k.path, 0o600, durable.Bytes(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))); err != nil {
		return fmt.Errorf("auth: %w", err)
	}
	return k.use(key)
}

func (k *Key) use(key *rsa.PrivateKey) error {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return fmt.Errorf("auth: %w", err)
	}
	k.key, k.public = key, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return nil
}

// decrypt returns the password that a client has masked with the salt and encrypted, with the zero
// byte behind it; nothing where that fails.
func (k *Key) decrypt(b, salt []byte) []byte {
	k.mu.Lock()
	if k.key == nil && k.load() != nil {
		k.mu.Unlock()
		return nil
	}
	key := k.key
	k.mu.Unlock()
	text, err := rsa.DecryptOAEP(sha1.New(), nil, key, b, nil)
	if err != nil {
		return nil
	}
	for i := range text {
		text[i] ^= salt[i%len(salt)]
	}
	return text
}
