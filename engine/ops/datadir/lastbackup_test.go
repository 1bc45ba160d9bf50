package datadir

import (
	"os"
	"testing"
	"time"
)

// TestLastBackup: the note is of the last backup, holds no path, and a damaged one is an error and
// not none.
func TestLastBackup(t *testing.T) {
	p := Place{Dir: t.TempDir()}
	if _, ok, err := p.LastBackup(); ok || err != nil {
		t.Errorf("a directory without backups: got %v, %v", ok, err)
	}
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, name := range []string{"/backup/monday", "tuesday"} {
		if err := p.NoteBackup(LastBackup{Made: made.AddDate(0, 0, i), Name: name, Record: uint64(i)}); err != nil {
			t.Fatal(err)
		}
		got, ok, err := p.LastBackup()
		want := LastBackup{Made: made.AddDate(0, 0, i), Name: []string{"monday", "tuesday"}[i], Record: uint64(i)}
		if got != want || !ok || err != nil {
			t.Errorf("got %+v, %v, %v, want %+v", got, ok, err, want)
		}
	}
	if err := os.WriteFile(p.Path(BackupFile), []byte(`{"made": "20`), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, ok, err := p.LastBackup(); ok || err == nil {
		t.Errorf("a damaged note: got %+v, %v, %v", b, ok, err)
	}
}
