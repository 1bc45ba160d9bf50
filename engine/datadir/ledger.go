package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"scrim/accounting"
)

// LedgerOf takes a data directory that nobody serves, and says where its ledger is and what opens
// it. The directory is not served before unlock is called.
func LedgerOf(dataDir string) (path string, o accounting.Options, unlock func() error, err error) {
	if _, err := os.Stat(filepath.Join(dataDir, IDFile)); errors.Is(err, fs.ErrNotExist) {
		return "", o, nil, fmt.Errorf("engine: %s is not a data directory: it has no file %s", dataDir, IDFile)
	}
	d, err := Open(dataDir)
	if err != nil {
		return "", o, nil, err
	}
	return filepath.Join(dataDir, LedgerFile), accounting.Options{DirectoryID: d.ID}, d.Close, nil
}
