package wire_test

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/engine/wire"
)

type someone struct{}

func (someone) Get() *querypb.VTGateCallerID { return nil }

// TestSeatsUnderLoad: those who try again and again to come in where all places are taken do not keep an administrator out, and come in
// as soon as places are given back.
func TestSeatsUnderLoad(t *testing.T) {
	const most = 4
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := wire.NewListener(inner, wire.Config{MaxConnections: most})
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
		for until := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
			_, err := ask(t, l, "root", "secret", "false")
			if err == nil {
				break
			}
			if time.Now().After(until) {
				t.Fatalf("an administrator where all places are taken: %v", err)
			}
		}
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
	for until := time.Now().Add(10 * time.Second); l.Connections() > n; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d connections are open, want %d", l.Connections(), n)
		}
	}
}
