package engine

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"scrim/internal/panics"
)

// What the processes of this test binary are told that are not the test itself: the directory to
// serve, and the server to ask hostile statements.
const (
	servedDirectory = "SCRIM_HOSTILE_SERVES"
	attackedServer  = "SCRIM_HOSTILE_ATTACKS"
)

// TestHostileServer is the process of the server. By itself it does nothing.
func TestHostileServer(t *testing.T) {
	if dir := os.Getenv(servedDirectory); dir != "" {
		i := start(t, dir, hostileConfig)
		fmt.Println(i.Addr())
		_, _ = io.Copy(io.Discard, os.Stdin)
		if panics.Total() > i.before {
			t.Logf("the log of the server, with stacks of panics:\n%s", i.log)
		}
	}
}

// TestHostileCrowd is the process of eight accounts that run hostile statements until its input
// ends, each statement at least once, half of them for a second at most and half for four: what
// grows takes time. By itself it does nothing.
func TestHostileCrowd(t *testing.T) {
	address, number, attacked := strings.Cut(os.Getenv(attackedServer), " ")
	if !attacked {
		return
	}
	server, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	at := endpoint{t, address}
	root := at.root()
	var clients [8]*client
	limited := func(c *client, n int) *client {
		c.exec("USE h", fmt.Sprintf("SET max_execution_time = %d", limitOf(n).Milliseconds()))
		return c
	}
	for n := range clients {
		clients[n] = limited(at.analyst(root, "mallory"+strconv.Itoa(n), "h"), n)
	}
	fmt.Println("begins")
	over := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(over) }()
	queue := make(chan string)
	var crowd sync.WaitGroup
	for n, c := range clients {
		crowd.Go(func() {
			for q := range queue {
				if attack(c, server, q, limitOf(n)) {
					c = limited(at.client("mallory"+strconv.Itoa(n), "pw-mallory"+strconv.Itoa(n)), n)
				}
			}
		})
	}
	for ended, k := false, 0; k < len(hostile) || !ended; k++ {
		queue <- hostile[k%len(hostile)]
		select {
		case <-over:
			ended = true
		default:
		}
	}
	close(queue)
	crowd.Wait()
}

// limitOf is the time limit of a hostile client.
func limitOf(client int) time.Duration { return time.Duration(1+client%2*3) * time.Second }

// child is such a process.
type child struct {
	t     *testing.T
	pid   int
	first string // the first line that it said
	input io.Closer
	ended chan struct{}
}

// begin starts a process that runs one test, and waits for its first line.
func begin(t *testing.T, test, variable, value string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+test+"$", "-test.timeout", "0")
	cmd.Env = append(os.Environ(), variable+"="+value)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, pid: cmd.Process.Pid, input: in, ended: make(chan struct{})}
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	c.first = strings.TrimSpace(first)
	go func() {
		defer close(c.ended)
		rest, _ := io.ReadAll(lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s%s", test, err, first, rest)
		}
	}()
	t.Cleanup(c.end)
	if err != nil {
		t.Fatalf("%s: said %q, %v", test, first, err)
	}
	return c
}

// end ends the process's input, and waits for its end.
func (c *child) end() {
	_ = c.input.Close()
	<-c.ended
}

// beginServer serves a new directory in a process of its own.
func beginServer(t *testing.T) (*child, endpoint) {
	t.Helper()
	c := begin(t, "TestHostileServer", servedDirectory, filepath.Join(t.TempDir(), "data"))
	return c, endpoint{t, c.first}
}

// mostMiB is the most memory that the process ever had.
func (c *child) mostMiB() int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(c.pid) + "/status")
	if err != nil {
		c.t.Skip("needs /proc")
	}
	for l := range strings.Lines(string(b)) {
		if f := strings.Fields(l); len(f) > 1 && f[0] == "VmHWM:" {
			n, _ := strconv.Atoi(f[1])
			return n >> 10
		}
	}
	c.t.Fatal("no VmHWM")
	return 0
}

// hostileConfig is of a small server.
func hostileConfig(c *Config) { c.MemoryLimit = "256MiB" }
