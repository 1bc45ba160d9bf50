package wire_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/engine/mysql/wire"
	"scrim/test/testenv"
)

type someone struct{}

func (someone) Get() *querypb.VTGateCallerID { return nil }

// TestSeatsUnderLoad: those who try again and again to come in where all places are taken do not
// keep an administrator out, and come in as soon as places are given back.
func TestSeatsUnderLoad(t *testing.T) {
	const most = 4
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := wire.NewListener(inner, wire.Config{MaxConnections: most, MaxLogins: 20 * most})
	s := wire.NewServer(l, &echo{}, func(l *wire.Login) (mysql.Getter, error) {
		l.Account, l.MaxConnections = l.User, most
		l.Administrator = func() bool { return l.User == "root" }
		return someone{}, nil
	}, "8.0.0-test", wire.NativePassword)
	go s.Accept()
	t.Cleanup(func() { s.Close(); l.CloseConnections() })

	var open []*raw
	for range most {
		open = append(open, connect(t, l).login(0))
	}
	stop := make(chan struct{})
	var trying sync.WaitGroup
	for range 3 {
		trying.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := ask(t, l, "native", "secret", "false"); err == nil || !strings.Contains(err.Error(), "1040") {
					t.Errorf("where all places are taken: got %v, want error 1040", err)
					return
				}
			}
		})
	}
	for range 20 {
		// The place of the administrator before is given back a moment after its client has gone.
		testenv.Succeeds(t, time.Minute, "an administrator where all places are taken", func() error {
			_, err := ask(t, l, "root", "secret", "false")
			return err
		})
	}
	close(stop)
	trying.Wait()
	settled(t, l, most)
	for _, c := range open {
		c.alive()
		c.command(0x01)
		c.gone()
	}
	settled(t, l, 0)
	for range most {
		connect(t, l).login(0)
	}
}

// settled waits until n connections are open.
func settled(t *testing.T, l *wire.Listener, n int) {
	t.Helper()
	testenv.Until(t, time.Minute, fmt.Sprint(n, " open connections"), func() bool { return l.Connections() <= n })
}

// TestLoginsOfOneAddress: connections of one address that say nothing keep nobody out, neither of
// that address nor of others: the oldest of them make room. Those that have logged in do not count,
// nor do they when they log in as another user, and none of them is closed.
func TestLoginsOfOneAddress(t *testing.T) {
	const from = 3
	l := serve(t, wire.Config{MaxConnections: 40, MaxLogins: from, AuthTimeout: time.Hour})
	var in []*raw
	for range 2 * from {
		in = append(in, connect(t, l).login(0))
	}
	var silent []net.Conn
	for range 50 {
		silent = append(silent, greeting(t, l))
	}
	settled(t, l, 3*from)
	if _, err := ask(t, l, "native", "secret", "false"); err != nil {
		t.Errorf("beside those that say nothing: %v", err)
	}
	for n, c := range silent[:len(silent)-from] {
		if !ended(c) {
			t.Errorf("the silent connection %d of %d is open", n+1, len(silent))
		}
	}
	for _, c := range in {
		c.alive()
	}
}

// TestLoginsOfManyAddresses: where one address holds all the places to log in, one of another
// address is the first to come in, and stays.
func TestLoginsOfManyAddresses(t *testing.T) {
	l := serve(t, wire.Config{MaxConnections: 6, AuthTimeout: time.Hour})
	for range 10 {
		greeting(t, l)
	}
	settled(t, l, 6)
	other, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).Dial("tcp", l.Addr().String())
	if err != nil {
		t.Skipf("there is no second address on this machine: %v", err)
	}
	defer other.Close()
	_ = other.SetDeadline(time.Now().Add(time.Minute))
	var head [5]byte
	if _, err := io.ReadFull(other, head[:]); err != nil || head[4] != 10 {
		t.Fatalf("another address is not greeted: %v, %x", err, head)
	}
	for range 10 {
		greeting(t, l)
	}
	if _, err := io.CopyN(io.Discard, other, int64(head[0])-1); err != nil {
		t.Fatal(err)
	}
	_ = other.SetDeadline(time.Now().Add(50 * time.Millisecond))
	if ended(other) {
		t.Error("the connection of another address made room for those of the one that has most")
	}
}

// TestNetworks: of IPv6 a customer's network is one address, an address of IPv4 is one in either
// form.
func TestNetworks(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64", "localhost": "localhost", "::ffff:10.0.0.1": "::ffff:10.0.0.1",
	} {
		if got := wire.Network(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
