package wire

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/dolthub/vitess/go/mysql"
)

// The ways to log in that a Login may name.
const (
	NativePassword = string(mysql.MysqlNativePassword)
	CachingSHA2    = string(mysql.CachingSha2Password)
)

// Login is one attempt to log in, at the beginning of a connection or by COM_CHANGE_USER. A
// LoginFunc goes on with the exchange through it.
type Login struct {
	User, Database string
	Plugin         string // that the client has answered for
	Response       []byte // to Salt
	Salt           []byte // 20 bytes without a zero among them
	From           net.Addr
	Secure         bool // nobody between the client and the server can read what is sent

	// What a LoginFunc says of the account: its name, how many connections it may have at once as
	// any account (0: any number), or by a number of its own in the place of that (0: it has none),
	// and whether it may have more and take the place beyond the listener's limit, which is asked
	// only where it matters. Nil: it may not.
	Account        string
	MaxConnections int
	OwnConnections int
	Administrator  func() bool

	conn     *Conn
	switched bool
}

// Switched reports whether the client has been asked for another answer.
func (l *Login) Switched() bool { return l.switched }

// Switch asks the client to answer for another plugin, with a new salt.
func (l *Login) Switch(plugin string) error {
	if !l.conn.can(capPluginAuth) {
		return errLogin // the client knows the one way of old
	}
	salt, err := newSalt()
	if err != nil {
		return err
	}
	body := append([]byte{packetAuthSwitch}, plugin...)
	body = append(append(append(body, 0), salt...), 0)
	if err := l.say(body); err != nil {
		return err
	}
	l.conn.salt, l.Salt, l.Plugin, l.switched = salt, salt, plugin, true
	l.Response, err = l.Next()
	return err
}

// More sends the client what its plugin waits for.
func (l *Login) More(data ...byte) error { return l.say(append([]byte{packetMore}, data...)) }

// Next reads what the client's plugin sends. It stays valid.
func (l *Login) Next() ([]byte, error) {
	b, err := l.conn.read(l.conn.listener.cfg.MaxPreAuthPacket)
	return bytes.Clone(b), err
}

func (l *Login) say(body []byte) error {
	at := l.conn.packet()
	l.conn.out = append(l.conn.out, body...)
	if err := l.conn.end(at); err != nil {
		return err
	}
	return l.conn.flush()
}

// newSalt returns 20 random bytes that are ASCII and neither zero nor '$', as clients want them.
func newSalt() ([]byte, error) {
	salt := make([]byte, saltSize)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	for i, b := range salt {
		if b &= 0x7f; b == 0 || b == '$' {
			b++
		}
		salt[i] = b
	}
	return salt, nil
}

// greet sends the greeting and reads the client's answer to it, in TLS where the client wants it.
func (s *Server) greet(c *Conn) (*Login, error) {
	if err := s.sendGreeting(c); err != nil {
		return nil, err
	}
	limit := c.listener.cfg.MaxPreAuthPacket
	answer, err := c.read(limit)
	if err != nil {
		return nil, err
	}
	if len(answer) >= 4 && binary.LittleEndian.Uint32(answer)&capSSL != 0 {
		if err := c.startTLS(answer); err != nil {
			return nil, err
		}
		if answer, err = c.read(limit); err != nil {
			return nil, err
		}
	} else if c.listener.cfg.RequireTLS {
		c.refuse(errInsecure, "HY000", "Connections using insecure transport are prohibited while --require-tls is on.")
		return nil, errPlain
	}
	l := c.parseLogin(answer)
	if l == nil {
		c.refuse(errBadHandshake, "08S01", "Bad handshake")
		return nil, errors.New("wire: bad handshake")
	}
	return l, nil
}

func (s *Server) sendGreeting(c *Conn) (err error) {
	if c.salt, err = newSalt(); err != nil {
		return err
	}
	capabilities := uint32(offered)
	if c.listener.cfg.TLS != nil {
		capabilities |= capSSL
	}
	c.peer.StatusFlags = uint16(mysql.ServerStatusAutocommit)
	at := c.packet()
	b := append(append(append(c.out, protocolVersion), s.version...), 0)
	b = binary.LittleEndian.AppendUint32(b, c.peer.ConnectionID)
	b = append(append(b, c.salt[:8]...), 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(capabilities))
	b = append(b, utf8mb4)
	b = binary.LittleEndian.AppendUint16(b, c.peer.StatusFlags)
	b = binary.LittleEndian.AppendUint16(b, uint16(capabilities>>16))
	b = append(append(b, saltSize+1), make([]byte, 10)...)
	b = append(append(b, c.salt[8:]...), 0)
	c.out = append(append(b, s.plugin...), 0)
	if err := c.end(at); err != nil {
		return err
	}
	return c.flush()
}

// utf8mb4 is the character set's number in the greeting, with the collation that all clients know.
const utf8mb4 = 45

// parseLogin reads a client's answer to the greeting; nil where it is none.
func (c *Conn) parseLogin(answer []byte) *Login {
	r := reader{b: answer}
	flags := r.uint32()
	c.capabilities = flags & offered
	r.uint32() // the largest packet that the client takes
	c.peer.CharacterSet = r.uint8()
	r.bytes(23)
	if r.bad || flags&capProtocol41 == 0 {
		return nil
	}
	l := &Login{User: r.zeroText(), Plugin: NativePassword, Salt: c.salt, From: c.RemoteAddr(), Secure: c.Secure(), conn: c}
	var response []byte
	switch {
	case flags&capLongAuthData != 0:
		response = r.text()
	case flags&capSecureConn != 0:
		response = r.bytes(uint64(r.uint8()))
	default:
		response = []byte(r.zeroText())
	}
	if flags&capConnectWithDB != 0 && len(r.b) > 0 {
		l.Database = r.zeroText()
	}
	if flags&capPluginAuth != 0 && len(r.b) > 0 {
		if plugin := r.lastText(); plugin != "" {
			l.Plugin = plugin
		}
	}
	if r.bad {
		return nil
	}
	l.Response = bytes.Clone(response)
	return l
}

// lastText takes a string up to its zero byte, or, as some clients send it, up to the packet's end.
func (r *reader) lastText() string {
	if bytes.IndexByte(r.b, 0) < 0 {
		s := string(r.b)
		r.b = nil
		return s
	}
	return r.zeroText()
}

// admit finishes a login: the server's OK ends it.
func (s *Server) admit(c *Conn, l *Login) error {
	user, err := s.login(l)
	if err != nil {
		c.fail(err)
		return errLogin
	}
	if err := c.listener.seat(c, l); err != nil {
		c.fail(err)
		return err
	}
	c.peer.User, c.peer.UserData = l.User, user
	c.peer.Capabilities = c.capabilities & (capFoundRows | capDeprecateEOF | capMultiStatement | capInteractive)
	if c.Secure() {
		c.peer.Capabilities |= capSSL
	}
	if err := s.handler.ConnectionAuthenticated(c.peer); err != nil {
		c.fail(err)
		return err
	}
	if l.Database != "" {
		if err := s.handler.ComInitDB(c.peer, l.Database); err != nil {
			c.fail(err)
			return err
		}
	}
	_ = c.raw.SetDeadline(time.Time{})
	if c.buffered == nil {
		c.buffered = bufio.NewReaderSize(c.conn(), chunk)
	}
	if !c.done(nil) {
		return c.failed
	}
	return c.flush()
}

// changeUser logs the client in as another user: the session ends first, with all that belongs to
// it, and the exchange has the limits of a first login. Where it fails the connection ends.
func (s *Server) changeUser(c *Conn, body []byte) bool {
	l := c.parseChangeUser(body)
	if l == nil {
		return c.malformed() && false
	}
	s.forgetAll(c)
	s.handler.LeaveSession(c.peer)
	_ = c.raw.SetDeadline(time.Now().Add(c.listener.authTimeout()))
	c.timeouts = Timeouts{Body: c.listener.authTimeout(), Write: c.listener.authTimeout()}
	return s.admit(c, l) == nil
}

// parseChangeUser reads a COM_CHANGE_USER packet; nil where it is none. A client may answer in it
// to the salt that it has seen last, as clients do that do not wait to be asked. Who has read that
// answer on the wire could repeat it in this connection only, for the session that it has logged in
// to: whoever can put packets into it has no need to.
func (c *Conn) parseChangeUser(body []byte) *Login {
	r := reader{b: body}
	l := &Login{User: r.zeroText(), Plugin: NativePassword, Salt: c.salt, From: c.RemoteAddr(), Secure: c.Secure(), conn: c}
	l.Response = bytes.Clone(r.bytes(uint64(r.uint8())))
	l.Database = r.zeroText()
	if r.bad || len(body) > c.listener.cfg.MaxPreAuthPacket {
		return nil
	}
	if len(r.b) >= 2 {
		c.peer.CharacterSet = byte(r.uint16())
	}
	if len(r.b) > 0 && c.can(capPluginAuth) {
		if plugin := r.lastText(); plugin != "" {
			l.Plugin = plugin
		}
	}
	return l
}

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
