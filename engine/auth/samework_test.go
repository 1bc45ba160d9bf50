package auth

import (
	"math"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"scrim/engine/wire"
)

// TestSameWork: a wrong password for an account, for one that was logged in to before, and for a
// name without an account take the same steps, which are counted by what they allocate, and about
// the same time.
func TestSameWork(t *testing.T) {
	for _, plugin := range []string{wire.NativePassword, wire.CachingSHA2} {
		u, nobody := stored(t, plugin, "secret"), nobody(plugin)
		s := NewServer(mysql_db.CreateEmptyMySQLDb(), nil, nil)
		l := &wire.Login{Salt: salt, Response: fast("wrong")}
		if plugin == wire.NativePassword {
			l.Response = l.Response[:20]
		}
		other := u
		other.User = "seen"
		s.seen.add(other, "secret")
		work := func(u mysql_db.User) func() {
			return func() {
				if checkNative(l, u) == nil || s.seen.matches(l, u) || Matches(&u, "wrong") {
					t.Error("a wrong password is right")
				}
			}
		}
		want := testing.AllocsPerRun(10, work(u))
		for name, x := range map[string]mysql_db.User{"seen": other, "nobody": nobody} {
			if got := testing.AllocsPerRun(10, work(x)); math.Abs(got-want) > want/100 {
				t.Errorf("%s, %s: got %v allocations, want %v as for an account", plugin, name, got, want)
			}
		}
		if plugin == wire.CachingSHA2 {
			known, unknown := fastest(work(u)), fastest(work(nobody))
			if unknown < known/2 || unknown > 2*known {
				t.Errorf("a wrong password takes %v for an account and %v for none", known, unknown)
			}
		}
	}
}

// fastest is the shortest time of several runs, which noise makes no shorter.
func fastest(f func()) time.Duration {
	best := time.Hour
	for range 20 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}
