package auth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// Persister keeps the grant tables in one file. It is safe for concurrent use.
type Persister struct {
	path string
	mu   sync.Mutex
}

var _ mysql_db.MySQLDbPersistence = (*Persister)(nil)

// NewPersister keeps the grant tables at path.
func NewPersister(path string) *Persister { return &Persister{path: path} }

// Load returns the file's contents; ok is false when there is no file yet.
func (p *Persister) Load() (data []byte, ok bool, err error) {
	data, err = os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil && len(data) == 0 {
		return nil, false, fmt.Errorf("auth: %s is empty", p.path)
	}
	return data, err == nil, err
}

// Persist implements mysql_db.MySQLDbPersistence: when it returns nil, the new state is on disk, and
// a crash at any point leaves either the old state or the new one.
func (p *Persister) Persist(_ *sql.Context, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return replaceFile(p.path, data)
}

// replaceFile writes data beside path, flushes it, renames it over path and flushes the directory.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err = f.Chmod(0o600); err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
