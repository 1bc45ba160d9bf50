package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"scrim/engine/store"
	"scrim/internal/spill"
	"scrim/test/testenv"
)

func TestRoom(t *testing.T) {
	spill := filepath.Join(t.TempDir(), "here")
	s, _ := testOpen(t, Options{TempDirectory: spill})
	must(t, s.Room())
	left, err := os.ReadDir(spill)
	must(t, err)
	equal(t, "files left", len(left), 0)

	greedy, _ := testOpen(t, Options{Reserve: 1 << 60})
	e := wantKind(t, "an unmeetable reserve", greedy.Room(), store.NoRoom)
	equal(t, "public text", e.Error(), "store: the server's directory for temporary files cannot be used: its disk has too little free space")
	if !strings.Contains(e.Detail, "MiB are free, 1099511627776 MiB are to stay free") || !strings.Contains(e.Detail, "spill") {
		t.Errorf("detail %q", e.Detail)
	}
	// Small scans go on, what would have to spill does not.
	testPeople(t, testSession(t, greedy))
	n, _ := total(t, testSnapshot(t, greedy))
	equal(t, "rows", n, int64(3))

	must(t, os.Remove(spill))
	e = wantKind(t, "no directory", s.Room(), store.NoRoom)
	equal(t, "public text", e.Error(), "store: the server's directory for temporary files cannot be used: it is missing")

	if _, err := Open(filepath.Join(t.TempDir(), "rows.duckdb"), Options{TempDirectory: "/dev/null/spill"}); err == nil {
		t.Error("opened without a directory for temporary files")
	}
}

// The default reserve is a share of a small disk.
func TestDefaultReserve(t *testing.T) {
	s := spilled{spill.Disk{Dir: t.TempDir()}}
	free, reserve, err := s.Free()
	must(t, err)
	var st syscall.Statfs_t
	must(t, syscall.Statfs(s.Dir, &st))
	if want := min(1<<30, int64(st.Blocks)*int64(st.Bsize)/20); reserve > want || reserve < want-int64(st.Bsize) || free <= 0 {
		t.Errorf("%d bytes are free and %d reserved, want %d", free, reserve, want)
	}
	limit, err := s.limit()
	must(t, err)
	equal(t, "limit", limit, fmt.Sprintf("SET GLOBAL max_temp_directory_size = '%dKiB'", max(0, free-reserve-reserve/8)>>10))
}

// TestSmallDisk spills to a file system of a few megabytes, which only the child sees.
func TestSmallDisk(t *testing.T) {
	testenv.OwnMounts(t, child+"="+smallDisk+t.TempDir())
}

// smallDisk begins what names the directory of TestSmallDisk's child.
const smallDisk = "small disk "

// playSmallDisk spills until the reserve is met, fills the rest, and makes the file system a
// read-only one.
func playSmallDisk(dir string) error {
	const size, reserve = 64 << 20, 16 << 20
	if err := syscall.Mount("scrim", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		fmt.Println("no mount:", err)
		return nil
	}
	path, err := os.MkdirTemp("", "small")
	if err != nil {
		return err
	}
	defer os.RemoveAll(path)
	o := Options{Threads: 2, MemoryLimit: "128MB", TempDirectory: filepath.Join(dir, "spill"), Reserve: reserve}
	s, err := Open(filepath.Join(path, "rows.duckdb"), o)
	if err != nil {
		return err
	}
	defer func() { s.Close() }()
	if err := s.Room(); err != nil {
		return err
	}

	// Of 200 MB the memory takes half, the disk the rest of what it may.
	least := int64(size)
	err = materialise(s, 20, func() error {
		var st syscall.Statfs_t
		if err := syscall.Statfs(dir, &st); err != nil {
			return err
		}
		least = min(least, int64(st.Bavail)*int64(st.Bsize))
		return s.Room()
	})
	if err := full(err, "disk full: wanted "); err != nil {
		return err
	}
	if least < reserve || least > size/2 {
		return fmt.Errorf("%d bytes were free at the least", least)
	}

	// A ballast of others takes what DuckDB counts on.
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, size-1<<20), 0o600); err != nil {
		return err
	}
	if err := s.Room(); store.KindOf(err) != store.NoRoom {
		return fmt.Errorf("no room: got %v", err)
	}
	if err := full(materialise(s, 20, func() error { return nil }), "disk full"); err != nil {
		return err
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	if err := s.Room(); err != nil {
		return err
	}
	if err := materialise(s, 12, func() error { return nil }); err != nil {
		return fmt.Errorf("with room again: %w (%s)", err, detailOf(err))
	}

	// DuckDB 1.5 keeps a file open in which a block could not be written.
	if err := s.Close(); err != nil {
		return err
	}
	if s, err = Open(filepath.Join(path, "rows.duckdb"), o); err != nil {
		return err
	}
	if err := syscall.Mount("scrim", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	if err := s.Room(); store.KindOf(err) != store.NoRoom || !strings.Contains(err.Error(), "cannot be written") {
		return fmt.Errorf("a read-only disk: got %v", err)
	}
	fmt.Println("well")
	return nil
}

// materialise keeps so many times 10 MB in a snapshot, and looks around after each.
func materialise(s *Store, times int, look func() error) error {
	snap, err := s.Snapshot(context.Background())
	if err != nil {
		return err
	}
	defer snap.Close()
	for range times {
		if _, err = snap.Materialise(context.Background(), "SELECT hash(i), hash(-i) FROM range(640000) r(i)", nil, []string{"a", "b"}); err != nil {
			break
		}
		if err := look(); err != nil {
			return err
		}
	}
	return err
}

// full tells what is wrong with an error that should be of a full disk.
func full(err error, detail string) error {
	if store.KindOf(err) != store.DiskFull || !strings.HasPrefix(detailOf(err), detail) || !store.Crowded(err) {
		return fmt.Errorf("a full disk: got %v (%s)", err, detailOf(err))
	}
	return nil
}
