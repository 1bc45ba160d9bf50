package wire

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
)

// ShowsNative tells whether the response is that of mysql_native_password for the password with
// this SHA1(SHA1(password)): SHA1(password) xor SHA1(salt + SHA1(SHA1(password))).
func (l *Login) ShowsNative(twice [sha1.Size]byte) bool {
	if len(l.Response) != sha1.Size {
		return false
	}
	mask := sha1.Sum(slices.Concat(l.Salt, twice[:]))
	var once [sha1.Size]byte
	subtle.XORBytes(once[:], l.Response, mask[:])
	shown := sha1.Sum(once[:])
	return subtle.ConstantTimeCompare(shown[:], twice[:]) == 1
}

// ShowsSHA2 tells whether the response is the first one of caching_sha2_password for the password
// with this SHA256(SHA256(password)): SHA256(password) xor SHA256(SHA256(SHA256(password)) + salt).
func (l *Login) ShowsSHA2(twice [sha256.Size]byte) bool {
	if len(l.Response) != sha256.Size {
		return false
	}
	mask := sha256.Sum256(slices.Concat(twice[:], l.Salt))
	var once [sha256.Size]byte
	subtle.XORBytes(once[:], l.Response, mask[:])
	shown := sha256.Sum256(once[:])
	return subtle.ConstantTimeCompare(shown[:], twice[:]) == 1
}
