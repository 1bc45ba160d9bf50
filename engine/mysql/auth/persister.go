package auth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"

	"scrim/internal/durable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// Persister keeps the grant tables in one file. It is safe for concurrent use.
//
// The file is a line "scrim-users 1 DIRECTORY SHA256", the data directory's id and the digest of
// the rest, and then the grant tables as go-mysql-server writes them.
type Persister struct {
	path, directoryID string
	mu                sync.Mutex
	db                *mysql_db.MySQLDb // whose tables they are, once loaded
}

// format begins the file; the number is the version.
const format = "scrim-users 1"

// newerFormat is what a file of a newer program begins with.
var newerFormat = regexp.MustCompile(`^scrim-users ([2-9]|[1-9][0-9]+)\b`)

var _ mysql_db.MySQLDbPersistence = (*Persister)(nil)

// NewPersister keeps the grant tables of a data directory at path.
func NewPersister(path, directoryID string) *Persister {
	return &Persister{path: path, directoryID: directoryID}
}

// Load returns the grant tables; ok is false when there is no file yet. A file that is damaged, of
// an unknown version or of another data directory is refused.
func (p *Persister) Load() (data []byte, ok bool, err error) {
	data, err = os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	head, data, _ := bytes.Cut(data, []byte("\n"))
	directory, digest, _ := strings.Cut(strings.TrimPrefix(string(head), format+" "), " ")
	switch {
	case newerFormat.Match(head):
		return nil, false, fmt.Errorf("auth: %s was made by a newer version of scrim (%s; this version knows %q); nothing is damaged: use that version", p.path, newerFormat.Find(head), format)
	case !strings.HasPrefix(string(head), format+" ") || digest != digestOf(data):
		return nil, false, fmt.Errorf("auth: %s is damaged; restore the data directory as a whole from its backup", p.path)
	case directory != p.directoryID:
		return nil, false, fmt.Errorf("auth: %s belongs to another data directory; restore the data directory as a whole from its backup", p.path)
	}
	return data, true, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Persist implements mysql_db.MySQLDbPersistence: when it returns nil, the new state is on disk,
// and a crash at any point leaves either the old state or the new one. When it returns an error,
// the tables in memory, which go-mysql-server has changed before, get the state of the file again.
func (p *Persister) Persist(_ *sql.Context, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	head := fmt.Sprintf("%s %s %s\n", format, p.directoryID, digestOf(data))
	err := durable.Replace(p.path, 0o600, durable.Bytes(append([]byte(head), data...)))
	if err != nil && p.db != nil {
		next := make(chan struct{})
		go func() {
			close(next)
			ed := p.db.Editor() // next after the caller, who holds the tables
			defer ed.Close()
			if data, ok, err := p.Load(); err == nil && ok {
				_ = p.fill(sql.NewEmptyContext(), ed, data)
			}
		}()
		<-next
	}
	return err
}

// fill puts what the file holds into the tables.
func (p *Persister) fill(ctx *sql.Context, ed *mysql_db.Editor, data []byte) error {
	if err := p.db.OverwriteUsersAndGrantData(ctx, ed, data); err != nil {
		return fmt.Errorf("auth: the accounts cannot be read: %w", err)
	}
	repair(ed, data)
	return nil
}
