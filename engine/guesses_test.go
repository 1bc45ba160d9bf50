package engine

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// TestGuessing: whoever guesses passwords at one address soon waits, for a name with an account as
// for one without; the account's owner at another address does not, and the metrics and the audit
// log tell of it.
func TestGuessing(t *testing.T) {
	i := start(t, "", func(c *Config) { c.HTTP = "127.0.0.1:0" })
	looked, limited := map[string]int{}, map[string]int{}
	var mu sync.Mutex
	var guessing sync.WaitGroup
	begun := time.Now()
	end, patience := begun.Add(2*time.Second), begun.Add(time.Minute)
	more := func(user string) bool {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		return now.Before(end) || looked[user] < 3 && now.Before(patience)
	}
	for _, user := range []string{"root", "nobody"} {
		for range 4 {
			guessing.Go(func() {
				for more(user) {
					_, err := i.dial(user, "wrong")
					mu.Lock()
					switch {
					case errno(err) != 1045:
						t.Errorf("%s: got %v, want error 1045", user, err)
					case strings.Contains(err.Error(), "too many failed logins from this address; try again in "):
						limited[user]++
					default:
						looked[user]++
					}
					mu.Unlock()
				}
			})
		}
	}
	guessing.Wait()
	most := 9 // in two seconds, and one in each doubling of the time after that
	for took := time.Since(begun) - 3*time.Second; took > 2*time.Second; took /= 2 {
		most++
	}
	for _, user := range []string{"root", "nobody"} {
		if looked[user] < 3 || looked[user] > most {
			t.Errorf("%s: %d guesses were looked at, want 3 to %d; %d were not", user, looked[user], most, limited[user])
		}
	}
	elsewhere := func(c *mysql.Config) { c.Net = "elsewhere" }
	mysql.RegisterDialContext("elsewhere", func(ctx context.Context, address string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
		return d.DialContext(ctx, "tcp", address)
	})
	metrics := func() string {
		page, err := http.Get("http://" + i.HTTPAddr().String() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer page.Body.Close()
		text, _ := io.ReadAll(page.Body)
		return string(text)
	}
	delayed := regexp.MustCompile(`(?m)^scrim_logins_delayed_total .*$`)
	before := delayed.FindString(metrics())
	if _, err := i.dial("root", rootPassword, elsewhere); err != nil {
		t.Errorf("the owner from elsewhere: %v", err)
	}
	text := metrics()
	if after := delayed.FindString(text); after != before {
		t.Errorf("the owner from elsewhere waited: %s, and before %s", after, before)
	}
	for _, want := range []string{`scrim_logins_total{result="accepted"} 1`, "scrim_logins_delayed_total "} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if strings.Contains(text, "scrim_logins_delayed_total 0\n") || strings.Contains(text, `scrim_logins_total{result="refused"} 0`) {
		t.Error("the metrics count no failed or delayed login")
	}
	i.end()
	files, _ := filepath.Glob(filepath.Join(i.place.AuditPath(), "*.jsonl"))
	log := ""
	for _, f := range files {
		b, _ := os.ReadFile(f)
		log += string(b)
	}
	if n := strings.Count(log, `"kind":"login refused"`); n < 6 || n > 40 || !strings.Contains(log, "after a wait of ") {
		t.Errorf("%d records of refused logins, want each that was looked at and few more:\n%s", n, log)
	}
}
