package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"scrim/internal/durable"
)

// LastBackup is what a data directory knows of the last backup that was made of it. It has no size:
// that would follow from how many rows there are.
type LastBackup struct {
	Made time.Time `json:"made"`
	// Name is that of the backup's directory, without the way to it.
	Name string `json:"name"`
	// Record is the ledger's last record in it.
	Record uint64 `json:"record"`
}

// NoteBackup notes that a backup is whole and verified. It replaces the note of the one before, as
// a whole: after a crash there is one of them.
func (p Place) NoteBackup(b LastBackup) error {
	b.Name = filepath.Base(b.Name)
	text, err := json.Marshal(b)
	if err == nil {
		err = durable.Replace(p.Path(BackupFile), 0o600, durable.Bytes(append(text, '\n')))
	}
	if err != nil {
		return fmt.Errorf("engine: the backup is complete, but it cannot be noted in the data directory: %w", err)
	}
	return nil
}

// LastBackup reads the note of the last backup; ok is false where there is none.
func (p Place) LastBackup() (b LastBackup, ok bool, err error) {
	text, err := os.ReadFile(p.Path(BackupFile))
	if errors.Is(err, fs.ErrNotExist) {
		return b, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return LastBackup{}, false, fmt.Errorf("engine: the note of the last backup: %w", err)
	}
	return b, true, nil
}
