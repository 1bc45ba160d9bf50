package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scrim/test/testenv"

	"github.com/go-sql-driver/mysql"
)

var (
	faultRounds = flag.Int("faults.rounds", 10, "rounds of TestFaults")
	faultSeed   = flag.Uint64("faults.seed", 1, "seed of TestFaults")
	faultServer = flag.String("faults.server", "", "program that TestFaults starts: this one's by default")
)

// faultsMounted, set in the environment, is in the process that may mount file systems.
const faultsMounted = "SCRIM_FAULTS_MOUNTED"

// TestFaults serves a data directory on a small disk, which fills, fails, writes less than it was
// asked to, or is left by a process that is killed, while statements of every kind run. Every one
// that was acknowledged is there whole, and of every one that was refused there is nothing, before
// a restart and after it. Where the server takes nothing any more, it says why, is not ready, and
// takes it after a restart.
func TestFaults(t *testing.T) {
	strace := testenv.Program(t, "strace")
	if os.Getenv(faultsMounted) != "" {
		playFaults(t, strace)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestFaults$", "-test.v", "-test.timeout=0", fmt.Sprintf("-faults.rounds=%d", *faultRounds),
		fmt.Sprintf("-faults.seed=%d", *faultSeed), "-faults.server="+*faultServer)
	cmd.Env = append(withPassword(), faultsMounted+"=1")
	said := &output{}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, said), os.Stderr
	testenv.Mounting(cmd)
	if err := cmd.Run(); errors.Is(err, syscall.EPERM) || strings.Contains(said.String(), "no mount:") {
		testenv.Skip(t, "no file system can be mounted here: %v", err)
	} else if err != nil {
		t.Errorf("%v", err)
	}
}

const faultDisk = 96 << 20

// world is a data directory on a disk of its own, and what it has to hold.
type world struct {
	t      *testing.T
	r      *rand.Rand
	strace string
	disk   string // the small file system
	lake   string
	args   []string
	p      *process
	s      *session
	have   facts
	open   []func(facts) // of deeds of whose end the client was not told
	asked  map[string]bool
	next   int
	said   []string // what the round did
	wrong  error    // a refusal that says nothing, or what is not so
	told   *tally
}

// tally counts what happened.
type tally struct {
	deeds, refused int
	beside         int // rows of a client beside the deeds
	unknown        int // deeds of whose end the client was not told
	injected       int // calls that failed or killed
	unready        int // rounds after which nothing was taken until a restart
	crashed        int // rounds in which the engine ended the process
	held           int // starts that were refused while the disk was not well
	unread         int // looks that were refused before a restart
	kinds          map[string]int
}

func playFaults(t *testing.T, strace string) {
	fmt.Printf("seed %d\n", *faultSeed)
	told := &tally{kinds: map[string]int{}}
	since := time.Now()
	var w *world
	for round := range *faultRounds {
		r := rand.New(rand.NewPCG(*faultSeed, uint64(round)))
		if w == nil || round%20 == 0 {
			if w != nil {
				w.leave()
			}
			w = newWorld(t, strace, r, told)
		}
		w.r, w.said, w.wrong = r, nil, nil
		kind := []string{"full", "full", "error", "error", "short", "kill", "kill", "start"}[r.IntN(8)]
		wrong := errors.Join(w.round(kind), w.wrong)
		if wrong != nil {
			t.Errorf("log: %s\n  %s\nround %d, %s, seed %d: %v", tail(w.p.err.String(), 1500), strings.Join(w.said, "\n  "), round, kind, *faultSeed, wrong)
			w.leave()
			w = nil
		}
		if (round+1)%10 == 0 || round+1 == *faultRounds {
			fmt.Printf("%d rounds in %v: %+v\n", round+1, time.Since(since).Round(time.Second), *told)
		}
		if t.Failed() && os.Getenv("SCRIM_FAULTS_GO_ON") == "" {
			break
		}
	}
	if w != nil {
		w.leave()
	}
	if *faultRounds >= 100 && !t.Failed() && (told.refused == 0 || told.injected == 0 || told.deeds < 5**faultRounds) {
		t.Error("too little happened to say anything")
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

func newWorld(t *testing.T, strace string, r *rand.Rand, told *tally) *world {
	w := &world{t: t, r: r, strace: strace, disk: t.TempDir(), lake: t.TempDir(), told: told, asked: map[string]bool{}, next: 1000}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		fmt.Println("no mount:", err)
		t.FailNow()
	}
	mount := func(dir string, size int) {
		if err := syscall.Mount("scrim", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(w.leave)
	mount(w.disk, faultDisk)
	w.args = []string{"--http", "127.0.0.1:0", "--lake", w.lake, "--audit", []string{"off", "count", "refuse"}[r.IntN(3)]}
	if r.IntN(2) == 0 { // temporary files have room, so that private statements go on to the ledger
		spill := filepath.Join(w.disk, "data", "spill")
		if err := os.MkdirAll(spill, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(spill), 0o700); err != nil {
			t.Fatal(err)
		}
		mount(spill, 64<<20)
	}
	err := w.start()
	if err == nil {
		err = seedFaults(w.s)
	}
	if err == nil {
		w.have, err = observe(w.s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// leave ends a world.
func (w *world) leave() {
	if w.p != nil {
		_ = w.p.cmd.Process.Kill()
	}
	_ = syscall.Unmount(filepath.Join(w.disk, "data", "spill"), syscall.MNT_DETACH)
	_ = syscall.Unmount(w.disk, syscall.MNT_DETACH)
}

func (w *world) data() string { return filepath.Join(w.disk, "data") }

// start serves the directory and connects.
func (w *world) start() error {
	p, err := launch(withPassword(), "", w.data(), w.args...)
	if err != nil {
		return err
	}
	w.p = p
	return w.connect()
}

// connect opens a session in the place of the last. A refusal is noted, and returned.
func (w *world) connect() error {
	if w.s != nil {
		w.s.close()
		w.s = nil
	}
	s, err := connect(w.p.addr, "root", rootPassword)
	if err == nil {
		w.s = s
	} else {
		w.note("no connection: %v", err)
	}
	return err
}

func (w *world) note(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

// inDoubt is the number of the error of a commit of which the server does not know whether it is
// kept. On protected tables that is one with other failures after the charge.
const inDoubt = 1180

// doubtful is what refusals of procedures have that may have been done: an answer was charged for
// and not given, or the ledger's commit failed.
var doubtful = regexp.MustCompile("its charge stands|Whether the charge or the change counts")

// do runs one deed and notes what became of it. It returns the server's refusal.
func (w *world) do(s *session, d deed) *mysql.MySQLError {
	w.told.deeds++
	w.told.kinds[d.kind]++
	if _, rest, ok := strings.Cut(d.sql[0], "LAKE/"); ok {
		name, _, _ := strings.Cut(rest, `"`)
		people, err := os.ReadFile(filepath.Join("testdata", "files", "people.parquet"))
		if err := errors.Join(err, os.WriteFile(filepath.Join(w.lake, name), people, 0o600)); err != nil {
			w.t.Fatal(err)
		}
		d.sql[0] = strings.ReplaceAll(d.sql[0], "LAKE", w.lake)
	}
	err := d.try(s)
	var refusal *mysql.MySQLError
	switch {
	case err == nil:
		d.change(w.have)
		if d.asks != "" {
			w.asked[d.asks] = true
		}
		w.note("%s: done", tail(d.kind+" "+d.sql[0][:min(len(d.sql[0]), 70)], 100))
	case errors.As(err, &refusal):
		w.told.refused++
		if refusal.Number == inDoubt || strings.HasPrefix(d.kind, "dp_") && doubtful.MatchString(refusal.Message) {
			w.told.unknown++
			w.open = append(w.open, d.change)
		}
		if strings.HasPrefix(refusal.Message, "internal error") || strings.HasPrefix(refusal.Message, "Incorrect value") {
			w.wrong = fmt.Errorf("%s is refused by no name: %w", d.kind, refusal)
		}
		w.note("%s: %v", d.kind, refusal)
		if len(d.sql) > 1 { // what refused may have been before the COMMIT
			if _, err := s.ask("ROLLBACK"); err != nil {
				_ = w.connect()
			}
		}
	default:
		w.told.unknown++
		w.open = append(w.open, d.change)
		w.note("%s: not told: %v", d.kind, err)
	}
	return refusal
}

// some runs so many deeds, until the server has gone.
func (w *world) some(n int) {
	for range n {
		if w.p.died(0) || w.s == nil && w.connect() != nil {
			return
		}
		if w.r.IntN(12) == 0 {
			w.conflict()
			continue
		}
		d := deeds[w.r.IntN(len(deeds))](w.r, w.next, w.have)
		w.next += 100
		if d.kind == "" {
			continue
		}
		if unknown := len(w.open); w.do(w.s, d) == nil && len(w.open) > unknown {
			if w.p.died(2*time.Second) || w.connect() != nil {
				return
			}
		}
	}
}

// beside has another client write one row after the other, until the function that it returns is
// called.
func (w *world) beside() (join func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	var sure, unsure []int
	id := w.next * 1000
	go func() {
		defer close(done)
		s, err := connect(w.p.addr, "root", rootPassword)
		if err != nil {
			return
		}
		defer s.close()
		for {
			select {
			case <-stop:
				return
			default:
			}
			id++
			_, err := s.ask(fmt.Sprintf("INSERT INTO d.side VALUES (%d, '%s')", id, text(id, 1)))
			var refusal *mysql.MySQLError
			switch {
			case err == nil:
				sure = append(sure, id)
			case !errors.As(err, &refusal) || refusal.Number == inDoubt:
				unsure = append(unsure, id)
				return
			default:
				time.Sleep(5 * time.Millisecond) // refused; the disk may be well soon
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-done
		for _, id := range sure {
			w.have[fmt.Sprint("side ", id)] = text(id, 1)
		}
		for _, id := range unsure {
			w.open = append(w.open, put(fmt.Sprint("side ", id), text(id, 1)))
		}
		w.told.beside += len(sure)
		w.note("%d rows beside, of %d more nobody was told", len(sure), len(unsure))
	})
}

// conflict has two transactions write one key: what the second wrote is taken back at its commit.
func (w *world) conflict() {
	other, err := connect(w.p.addr, "root", rootPassword)
	if err != nil {
		return
	}
	defer other.close()
	id := w.next
	w.next += 100
	mine, change := rowsFrom(id, 1, id)
	many, changes := rowsFrom(id+1, 60, id)
	theirs, again := rowsFrom(id, 1, id+1)
	for _, q := range []string{"BEGIN", "INSERT INTO d.plain VALUES " + many, "INSERT INTO d.plain VALUES " + theirs} {
		if _, err := other.ask(q); err != nil {
			w.note("conflict: %v", err)
			return
		}
	}
	w.do(w.s, deed{kind: "the first of a key", sql: []string{"INSERT INTO d.plain VALUES " + mine}, change: change})
	w.do(other, deed{kind: "the second of a key", sql: []string{"COMMIT"}, change: func(f facts) { changes(f); again(f) }})
}

// round injects faults of one kind, and tells what is wrong afterwards.
func (w *world) round(kind string) error {
	free, ended := int64(-1), false
	join := func() {}
	if w.r.IntN(2) == 0 {
		join = w.beside()
	}
	switch kind {
	case "full":
		free = int64([]int{0, 1 << 12, 1 << 13, 1 << 15, 1 << 17, 1 << 19, 1 << 21, 1 << 22, 1 << 23}[w.r.IntN(9)])
		w.note("%d bytes are free", free)
		leave(w.t, w.disk, free)
		w.some(4 + w.r.IntN(8))
		if w.r.IntN(2) == 0 {
			w.note("8 KiB come back")
			leave(w.t, w.disk, 8<<10)
			w.some(4)
		}
		ended = w.r.IntN(4) == 0
	case "kill":
		name, calls, what := injection(w.r, kind)
		w.note("%s of %s: %s", calls, name, what)
		end := inject(w.t, w.strace, w.p, w.data(), name, calls, what)
		w.some(12)
		if !w.p.died(0) {
			w.end(syscall.SIGKILL)
		}
		w.told.injected += end()
	case "start": // of what a killed process leaves
		w.some(6)
		w.end(syscall.SIGKILL)
		name, calls, what := injection(w.r, []string{"kill", "error"}[w.r.IntN(2)])
		w.note("%s of %s at the start: %s", calls, name, what)
		if err := w.faultyStart(name, calls, what); err != nil {
			return err
		}
		ended = true
	default:
		name, calls, what := injection(w.r, kind)
		w.note("%s of %s: %s", calls, name, what)
		end := inject(w.t, w.strace, w.p, w.data(), name, calls, what)
		w.some(8)
		if ended = w.r.IntN(4) == 0; ended && !w.p.died(0) {
			w.end(syscall.SIGTERM)
		}
		w.told.injected += end()
	}
	if ended && !w.p.died(0) {
		w.end(syscall.SIGTERM)
	}
	join()
	if ended && kind == "full" { // it may start on a disk that is full, or say why not
		if err := w.restart(); err != nil {
			w.note("not started: %v", err)
			w.told.held++
			if !namesFile.MatchString(err.Error()) {
				return fmt.Errorf("the refusal to start on a full disk names no file: %w", err)
			}
		} else if err := w.check("on a full disk"); err != nil {
			return err
		}
	}
	leave(w.t, w.disk, -1)
	if !w.p.died(0) {
		w.note("the disk is well")
		if err := w.settled(); err != nil {
			return err
		}
		if w.r.IntN(2) == 0 && !w.p.died(0) {
			w.end(syscall.SIGTERM)
		} else {
			w.end(syscall.SIGKILL)
		}
	} else if kind != "kill" && !ended {
		w.told.crashed++
		if said := w.p.err.String(); !engineEnded.MatchString(said) {
			return fmt.Errorf("the server ended by itself: %s", said[:min(len(said), 6000)])
		}
	}
	if err := w.restart(); err != nil {
		return fmt.Errorf("not started on a disk that is well: %w", err)
	}
	if err := w.check("after the restart"); err != nil {
		return err
	}
	values, change := rowsFrom(w.next, 1, w.next)
	w.next += 100
	if e := w.do(w.s, deed{kind: "INSERT", sql: []string{"INSERT INTO d.plain VALUES " + values}, change: change}); e != nil {
		return fmt.Errorf("nothing is taken after the restart: %w", e)
	}
	return nil
}

// namesFile is what an error has to have that tells what is wrong with the disk.
var (
	namesFile   = regexp.MustCompile(`data\.duckdb|ledger|catalog|users|audit|spill|/data`)
	namesReason = regexp.MustCompile(`(?i)disk|restart|opened anew|written|ledger|audit|reserve`)
)

// engineEnded is what the engine says when it ends the process: on a fault that it cannot go on
// after, and where a log cannot be cut back after a write that failed.
var engineEnded = regexp.MustCompile("FatalException|Could not truncate file .*wal")

// end ends the server.
func (w *world) end(s syscall.Signal) {
	_ = w.p.cmd.Process.Signal(s)
	if !w.p.died(patience) {
		w.t.Errorf("%v does not end the server", s)
		_ = w.p.cmd.Process.Kill()
	}
	w.note("%v", s)
}

// restart starts the server after it has ended.
func (w *world) restart() error {
	if !w.p.died(patience) {
		return errors.New("the server did not end")
	}
	return w.start()
}

// faultyStart starts the server while its calls fail, or it is killed in one. It may be ready, or
// end and say why.
func (w *world) faultyStart(name, calls, what string) error {
	args := []string{"-f", "-qq", "-o", filepath.Join(w.lake, "strace"), "-e", "trace=" + calls, "-e", "inject=" + calls + ":" + what}
	if name != "" {
		args = append(args, "-P", filepath.Join(w.data(), name))
	}
	cmd := exec.Command(w.strace, append(append(args, cmp.Or(*faultServer, "scrim")), w.p.cmd.Args[1:]...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p, err := begun(cmd, withPassword())
	if err == nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the server is a child of strace
		_ = p.died(patience)
	} else if w.note("not started: %v", tail(err.Error(), 300)); !strings.HasPrefix(what, "signal") && !namesFile.MatchString(err.Error()) {
		return fmt.Errorf("the refusal to start names no file: %w", err)
	} else {
		w.told.held++
	}
	said, err := os.ReadFile(filepath.Join(w.lake, "strace"))
	w.told.injected += strings.Count(string(said), "INJECTED") + strings.Count(string(said), "killed by SIGKILL")
	return err
}

// settled looks at a server whose disk is well again: it takes what it is told, or it says why not
// and is not ready; and what it shows is right.
func (w *world) settled() error {
	for taken, deadline := 0, time.Now().Add(patience); taken < 3; {
		var e *mysql.MySQLError
		if w.s != nil || w.connect() == nil {
			values, change := rowsFrom(w.next, 1, w.next)
			w.next += 100
			unknown := len(w.open)
			e = w.do(w.s, deed{kind: "INSERT", sql: []string{"INSERT INTO d.plain VALUES " + values}, change: change})
			if e == nil && len(w.open) == unknown {
				taken++
				continue
			}
		}
		if w.p.died(100 * time.Millisecond) {
			return nil
		}
		if e != nil && !namesReason.MatchString(e.Message) {
			return fmt.Errorf("refused by no name: %w", e)
		}
		status, text := w.readyz()
		w.note("/readyz: %d %s", status, text)
		if status == http.StatusServiceUnavailable {
			w.told.unready++
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("changes are refused (%w), and /readyz says %d %s", e, status, text)
		}
		if e == nil {
			_ = w.connect()
		}
	}
	w.some(2)
	if w.p.died(0) {
		return nil
	}
	err := w.check("before the restart")
	if err != nil && w.p.died(patience) { // the engine was ending the process; the restart shows the rest
		return nil
	}
	return err
}

func (w *world) readyz() (int, string) {
	_, rest, _ := strings.Cut(w.p.out.String(), "scrim: dashboard on ")
	addr, _, _ := strings.Cut(rest, "\n")
	resp, err := http.Get("http://" + addr + "/readyz")
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

// check compares what the server shows with what it has acknowledged.
func (w *world) check(when string) error {
	var got facts
	err := w.connect()
	if err == nil {
		got, err = observe(w.s)
	}
	var refusal *mysql.MySQLError
	if errors.As(err, &refusal) && when != "after the restart" && namesReason.MatchString(refusal.Message) {
		w.told.unread++
		w.note("not read %s: %v", when, refusal)
		if status, text := w.readyz(); status != http.StatusServiceUnavailable {
			return fmt.Errorf("%s: refused (%w), and /readyz says %d %s", when, refusal, status, text)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	best := ""
	for subset := range 1 << len(w.open) { // of those that nobody was told of, any may have been
		want := maps.Clone(w.have)
		for i, change := range w.open {
			if subset>>i&1 == 1 {
				change(want)
			}
		}
		diff := want.differ(got)
		if diff == "" {
			w.have, w.open = got, nil
			return w.charged(when)
		}
		if best == "" || len(diff) < len(best) {
			best = diff
		}
	}
	return fmt.Errorf("%s:\n%s", when, best)
}

// charged looks for the charge of every private answer.
func (w *world) charged(when string) error {
	rows, err := w.s.ask("SELECT statement FROM dp.ledger WHERE entry = 'charge' AND account = 'd.people'")
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, r := range rows {
		there[questionName.FindString(r[0])] = true
	}
	for name := range w.asked {
		if !there[name] {
			return fmt.Errorf("%s: the ledger has no charge for the answered %s", when, name)
		}
	}
	return nil
}
