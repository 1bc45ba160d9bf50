package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Follow has every later record say where the ledger ended when it was written, where that is not
// what the record before says.
func (l *Log) Follow(ledger func() string) {
	if l != nil {
		l.follow.Store(&ledger)
	}
}

// LastLedger returns what the last record in dir that speaks of the ledger says of it; "" where
// none does, or where there is no log.
func LastLedger(dir string) (string, error) {
	all, err := files(dir)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, f := range slices.Backward(all) {
		if last, err := lastLedger(filepath.Join(dir, f.name)); err != nil || last != "" {
			return last, err
		}
	}
	return "", nil
}

// lastLedger is LastLedger of one file. A line that a crash has torn says nothing.
func lastLedger(path string) (last string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", err // a device has no end
	}
	for in := bufio.NewReaderSize(f, 1<<16); ; {
		line, err := in.ReadBytes('\n')
		var r struct{ Ledger string }
		if bytes.Contains(line, []byte(`"ledger":`)) && json.Unmarshal(line, &r) == nil && r.Ledger != "" {
			last = r.Ledger
		}
		switch {
		case err == io.EOF:
			return last, nil
		case err != nil:
			return "", fmt.Errorf("audit: %w", err)
		}
	}
}
