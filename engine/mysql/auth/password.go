package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysql/wire"
	"scrim/internal/durable"
)

// Matches reports whether a password is the account's. It takes as long as the account's plugin
// takes, whatever the answer.
func Matches(u *mysql_db.User, password string) bool {
	if password == "" {
		return false
	}
	var want string
	switch u.Plugin {
	case wire.NativePassword:
		want = native(password)
	case wire.CachingSHA2:
		salt, iterations, ok := sha2Salt(u.AuthString)
		if !ok {
			return false
		}
		text, err := mysql.SerializeCachingSha2PasswordAuthString(password, salt, iterations)
		if err != nil {
			return false
		}
		want = string(text)
	}
	return want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(u.AuthString)) == 1
}

// native is what mysql_native_password stores of a password.
func native(password string) string {
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	return "*" + strings.ToUpper(hex.EncodeToString(twice[:]))
}

// sha2Salt takes the salt and the number of iterations from a stored password; ok is false where it
// is not of caching_sha2_password's form.
func sha2Salt(stored string) (salt []byte, iterations int, ok bool) {
	if len(stored) != len("$A$005$")+20+43 {
		return nil, 0, false
	}
	kind, iterations, salt, _, err := mysql.DeserializeCachingSha2PasswordAuthString([]byte(stored))
	return salt, iterations, err == nil && kind == "SHA256"
}

// checkNative checks a mysql_native_password response.
func checkNative(l *wire.Login, u mysql_db.User) error {
	stored, err := hex.DecodeString(strings.TrimPrefix(u.AuthString, "*"))
	if err != nil || len(stored) != sha1.Size || !l.ShowsNative([sha1.Size]byte(stored)) {
		return errDenied
	}
	return nil
}

// What the server says in a caching_sha2_password exchange, and what the client may ask for.
const (
	sha2Fast   = 3
	sha2Full   = 4
	sha2AskKey = 2
)

// checkSHA2 checks a caching_sha2_password response: against what an earlier login has left in
// memory, or else by the password itself, in TLS as it is and in clear under the server's key.
func (s *Server) checkSHA2(l *wire.Login, u mysql_db.User) error {
	if s.seen.matches(l, u) {
		return l.More(sha2Fast)
	}
	if err := l.More(sha2Full); err != nil {
		return err
	}
	password, err := s.password(l)
	if err != nil {
		return err
	}
	if !Matches(&u, password) || u.User == "" {
		return errDenied
	}
	s.seen.add(u, password)
	return nil
}

// maxPassword bounds a password with its zero byte, as MySQL does: the time of its check grows with
// it.
const maxPassword = 257

// password reads the password that the client sends, with a zero byte behind it.
func (s *Server) password(l *wire.Login) (string, error) {
	b, err := l.Next()
	if err != nil {
		return "", err
	}
	if !l.Secure {
		if len(b) == 1 && b[0] == sha2AskKey {
			public, err := s.key.Public()
			if err != nil {
				return "", err
			}
			if err := l.More(public...); err != nil {
				return "", err
			}
			if b, err = l.Next(); err != nil {
				return "", err
			}
		}
		b = s.key.decrypt(b, l.Salt)
	}
	if len(b) == 0 || len(b) > maxPassword || b[len(b)-1] != 0 {
		return "\x00", nil // no account has this password; the check takes its time all the same
	}
	return string(b[:len(b)-1]), nil
}

// seen keeps SHA256(SHA256(password)) of accounts that have logged in with their password, in
// memory only, for as long as the stored password is the same. It proves no more than the client's
// knowledge of SHA256(password), as the plugin means it, and is worth an account's login to whoever
// reads the server's memory. It is safe for concurrent use.
type seen struct {
	mu sync.Mutex
	by map[string]seenPassword
}

type seenPassword struct {
	stored string // with which it matched
	twice  [sha256.Size]byte
}

// add remembers a password that matched.
func (s *seen) add(u mysql_db.User, password string) {
	once := sha256.Sum256([]byte(password))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]seenPassword{}
	}
	s.by[u.User+"@"+u.Host] = seenPassword{u.AuthString, sha256.Sum256(once[:])}
}

// matches checks a caching_sha2_password response. It takes as long where no password is known.
func (s *seen) matches(l *wire.Login, u mysql_db.User) bool {
	s.mu.Lock()
	known, ok := s.by[u.User+"@"+u.Host]
	if ok && known.stored != u.AuthString { // the password has changed
		delete(s.by, u.User+"@"+u.Host)
		ok = false
	}
	s.mu.Unlock()
	return l.ShowsSHA2(known.twice) && ok && u.User != ""
}

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
