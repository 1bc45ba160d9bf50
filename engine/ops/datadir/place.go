package datadir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/internal/durable"
	"scrim/internal/refuse"
)

// Files of a data directory.
const (
	LockFile    = "LOCK"
	IDFile      = "DIRECTORY"
	HostFile    = "HOST"
	BackupFile  = "BACKUP" // a note of the last backup, which is elsewhere
	DataFile    = "data.duckdb"
	SpillDir    = "spill"
	LedgerFile  = "ledger.db"
	CatalogFile = "catalog"
	UsersFile   = "users"
	AuditDir    = "audit"

	CertificateFile    = "server-cert.pem"
	CertificateKeyFile = "server-key.pem"
	LoginKeyFile       = "login-key.pem"
)

// Place says where a data directory is, and how what belongs to it is opened.
type Place struct {
	Dir string
	// Audit is the directory of the audit log, "" for the one in the data directory.
	Audit string
	// Witness is a file or an address that knows how far the ledger had come, "" for none.
	Witness string
	// Threads and MemoryLimit are the store's; zero values are its defaults.
	Threads     int
	MemoryLimit string
	// Lake are the directories below which the store may read files in place.
	Lake []string
	// Servers are those whose tables the store may copy from.
	Servers duckdb.Servers
}

// Path returns the path of a file in the directory.
func (p Place) Path(name string) string { return filepath.Join(p.Dir, name) }

// AuditPath returns the directory of the audit log.
func (p Place) AuditPath() string {
	if p.Audit != "" {
		return p.Audit
	}
	return p.Path(AuditDir)
}

// OpenStore opens the store of the directory with that id. It refuses one of an earlier version.
func (p Place) OpenStore(id string) (*duckdb.Store, error) {
	if err := p.CheckEarlier(); err != nil {
		return nil, err
	}
	s, err := duckdb.Open(p.Path(DataFile), p.StoreOptions(id))
	if errors.Is(err, duckdb.ErrLost) {
		err = fmt.Errorf("%w. Put back what was removed, or a backup by scrim restore --from BACKUP --data %s. "+
			"If there is neither, scrim restore --data %s --accept-lost-changes goes on with what is left", err, p.Dir, p.Dir)
	}
	return s, p.Damaged(err, nil)
}

// StoreOptions are what the store of the directory with that id is opened with.
func (p Place) StoreOptions(id string) duckdb.Options {
	return duckdb.Options{Threads: p.Threads, MemoryLimit: p.MemoryLimit, DirectoryID: id, Lake: p.Lake, Servers: p.Servers}
}

// Size returns how many bytes the files of the directory have, with all that lies below it. It
// follows from how many rows there are, and is for those only who may read them.
func (p Place) Size() (bytes int64, err error) {
	err = filepath.WalkDir(p.Dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var fi fs.FileInfo
			if fi, err = e.Info(); err == nil {
				bytes += fi.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("engine: the size of the data directory: %w", err)
	}
	return bytes, nil
}

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

// CheckPolicies refuses a store that lacks a table which a policy names, unless the table was
// dropped or renamed: its rows are lost, and a server or a backup without them would pass for
// whole.
func CheckPolicies(ctx context.Context, tables Tables, policies *catalog.Snapshot) error {
	there, _ := policies.Declared()
	_, lost, err := part(ctx, tables, there)
	if err != nil || len(lost) == 0 {
		return err
	}
	return refuse.New(refuse.Policy, "The store has lost a table with all of its rows, which a policy names and nobody has dropped: %s.", strings.Join(lost, ", ")).
		With("An operator stops the server and restores a backup by scrim restore. Where the rows are given up, scrim serve --lost-tables %s starts without them; the names stay protected.",
			strings.Join(lost, ","))
}

// SettlePolicies tells the policies which of the tables that may be absent are in the store after
// all, and that those given up are not. It returns which are absent.
func SettlePolicies(ctx context.Context, tables Tables, policies *catalog.Catalog, givenUp []string) (absent []string, err error) {
	there, absent := policies.Snapshot().Declared()
	seen, absent, err := part(ctx, tables, absent)
	if err != nil {
		return nil, err
	}
	_, lost, err := part(ctx, tables, there)
	for _, name := range seen {
		err = errors.Join(err, policies.Seen(name))
	}
	for _, name := range lost {
		if slices.Contains(givenUp, name) {
			err = errors.Join(err, policies.Dropped(name))
		}
	}
	return absent, err
}

// part says which of the tables the store has, and which not.
func part(ctx context.Context, tables Tables, names []string) (has, lacks []string, err error) {
	for _, name := range names {
		schema, table, _ := strings.Cut(name, ".")
		_, ok, err := tables.Table(ctx, store.TableRef{Schema: schema, Name: table})
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("engine: looking for the tables of the policies: %w", err)
		case ok:
			has = append(has, name)
		default:
			lacks = append(lacks, name)
		}
	}
	return has, lacks, nil
}

// Tables looks tables up in a store.
type Tables interface {
	Table(ctx context.Context, ref store.TableRef) (store.Table, bool, error)
}

// Damaged adds to an error that says that the store's file is damaged which file it is, the tables
// that have rows there, where tables can tell, and what to do. It returns other errors as they are.
func (p Place) Damaged(err error, tables func(at int64) []string) error {
	at, ok := duckdb.DamagedAt(err)
	if !ok {
		return err
	}
	where := ""
	if tables != nil {
		if names := tables(at); len(names) > 0 {
			where = ", where rows of " + strings.Join(names, ", ") + " are"
		}
	}
	return fmt.Errorf("%w. %s is damaged at byte %d%s. Nothing was changed. Look at the disk, then restore a backup: scrim restore --from BACKUP --data %s; "+
		"the ledger is another file, and stays", err, p.Path(DataFile), at, where, p.Dir)
}
