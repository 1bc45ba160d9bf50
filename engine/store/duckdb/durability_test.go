package duckdb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scrim/engine/store"
	"scrim/test/testenv"
)

// child, set in the environment, makes the test binary play a process that is killed or that holds
// the file, or one that sees a small disk. It names the file, or the disk's directory after
// smallDisk.
const child = "SCRIM_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if what := os.Getenv(faultChild); what != "" {
		playFault(what)
		return
	}
	if path := os.Getenv(child); path != "" {
		play := playChild
		if dir, ok := strings.CutPrefix(path, smallDisk); ok {
			path, play = dir, playSmallDisk
		}
		if err := play(path); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// playChild commits rows one transaction after another, telling each number once it is durable, and
// leaves an uncommitted one open. It waits to be killed.
func playChild(path string) error {
	ctx := context.Background()
	s, err := Open(path, Options{Threads: 1})
	if err != nil {
		return err
	}
	c, err := s.Session(ctx)
	if err != nil {
		return err
	}
	for _, sql := range []string{"CREATE SCHEMA shop", "CREATE TABLE shop.people (id BIGINT PRIMARY KEY, name VARCHAR, x DOUBLE)"} {
		if _, err := c.Write(ctx, []store.TableRef{people}, sql); err != nil {
			return err
		}
	}
	open, err := s.Session(ctx)
	if err != nil {
		return err
	}
	if err := open.Begin(ctx); err != nil {
		return err
	}
	if _, err := open.Write(ctx, []store.TableRef{people}, "INSERT INTO shop.people VALUES (-1, 'never', 0)"); err != nil {
		return err
	}
	for i := int64(1); ; i++ {
		if err := c.Begin(ctx); err != nil {
			return err
		}
		if err := c.Append(ctx, people, []string{"id", "name"}, [][]any{{i, "kept"}}); err != nil {
			return err
		}
		if err := c.Meta().Put(ctx, "test", "last", fmt.Append(nil, i)); err != nil {
			return err
		}
		if err := c.Commit(ctx); err != nil {
			return err
		}
		fmt.Println("committed", i)
	}
}

// startChild runs the child until it has committed n rows.
func startChild(t *testing.T, path string, n int) (cmd *exec.Cmd, last func() int64) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), child+"="+path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	var i int64
	read := func() bool {
		if !lines.Scan() {
			return false
		}
		if _, err := fmt.Sscanf(lines.Text(), "committed %d", &i); err != nil {
			t.Fatalf("child: %s", lines.Text())
		}
		return true
	}
	for range n {
		if !read() {
			t.Fatal("the child ended")
		}
	}
	return cmd, func() int64 {
		for read() {
		}
		return i
	}
}

func TestCommittedRowsSurviveAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.duckdb")
	cmd, last := startChild(t, path, 20)
	must(t, cmd.Process.Kill())
	acknowledged := last()
	_ = cmd.Wait() // killed

	s := testReopen(t, path, Options{})
	c := testSession(t, s)
	got := all(t, c, "SELECT count(*), min(id), max(id) FROM shop.people")[0]
	n := got[0].(int64)
	if n < acknowledged || n > acknowledged+1 || got[1] != int64(1) || got[2] != n {
		t.Errorf("count, min, max = %v after %d acknowledged commits", got, acknowledged)
	}
	v, _, err := c.Meta().Get(context.Background(), "test", "last")
	must(t, err)
	equal(t, "entry of the last commit", string(v), fmt.Sprint(n))
	// Two definitions and each row raised the version by one.
	if v := version(t, s, people); !strings.HasPrefix(v, fmt.Sprintf("%d-", n+2)) {
		t.Errorf("version %s after %d rows", v, n)
	}
	_, ok, err := s.Table(context.Background(), people)
	must(t, err)
	equal(t, "table", ok, true)
}

func TestOneProcessAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.duckdb")
	cmd, _ := startChild(t, path, 1)
	if s, err := Open(path, Options{}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("Open: got %v, want ErrInUse", err)
		if err == nil {
			s.Close()
		}
	}
	file := filepath.Join(t.TempDir(), "f.csv")
	must(t, os.WriteFile(file, []byte("a\n1\n"), 0o600))
	_, err := ImportFile(context.Background(), path, file, store.TableRef{Schema: "shop", Name: "f"}, ImportOptions{}, nil)
	if !errors.Is(err, store.ErrInUse) {
		t.Errorf("ImportFile: got %v, want ErrInUse", err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed
	testenv.Succeeds(t, time.Minute, "Open after the kill", func() error {
		s, err := Open(path, Options{})
		if err == nil {
			must(t, s.Close())
		} else if !errors.Is(err, store.ErrInUse) {
			t.Fatal(err)
		}
		return err
	})
}

func TestOneStoreInAProcess(t *testing.T) {
	s, path := testOpen(t, Options{})
	if _, err := Open(path, Options{}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("second Open: got %v, want ErrInUse", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(filepath.Dir(path), link))
	if _, err := Open(filepath.Join(link, filepath.Base(path)), Options{}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("Open by another name: got %v, want ErrInUse", err)
	}
	must(t, s.Close())
	testReopen(t, path, Options{})
}
