package backup

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/rs/zerolog"

	"scrim/engine/audit"
	"scrim/internal/refuse"
)

// Server makes the backups that DBAs ask for of the data directory that a server has open.
type Server struct {
	Source Source
	// Into is the directory in which backups are made, "" for none.
	Into string
	// Settle sorts what the store has of collections, see settled.
	Settle func(context.Context) error
	Audit  *audit.Log
	Log    zerolog.Logger

	making sync.Mutex // one at a time
}

// namePattern is what a client may call a backup: a name in the directory of backups, nothing else.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Make makes a backup for CALL dp_backup(name) of a principal, and returns its path and its size in
// bytes.
func (s *Server) Make(ctx context.Context, principal, name string) (path string, size int64, err error) {
	if s.Into == "" {
		return "", 0, refuse.New(refuse.Unsupported, "The server has no directory for backups.").
			With("An operator sets backup-dir in its configuration, or runs scrim backup while it is stopped.")
	}
	if !namePattern.MatchString(name) {
		return "", 0, refuse.New(refuse.Policy, "A backup cannot be called %q.", name).
			With("Use letters, digits, points, hyphens and underscores.")
	}
	path = filepath.Join(s.Into, name)
	if _, err := os.Lstat(path); err == nil {
		return "", 0, refuse.New(refuse.Policy, "There is a backup called %s.", name).With("Use a name that is new.")
	}
	s.making.Lock()
	defer s.making.Unlock()
	if err := s.Source.Ledger.Note(principal, "backup", "CALL dp_backup: "+name); err != nil {
		return "", 0, err
	}
	if err := s.Settle(ctx); err != nil {
		return "", 0, err
	}
	m, err := s.Source.CopyTo(ctx, path, nil)
	if err != nil {
		return "", 0, err
	}
	if err := s.Source.note(path, m); err != nil {
		s.Log.Warn().Err(err).Msg("the dashboard will not show the last backup") // the backup itself is whole
	}
	s.Audit.Write(audit.Record{Kind: audit.Backup, Principal: principal, Note: name})
	s.Log.Info().Str("path", path).Int64("bytes", m.Bytes()).Uint64("ledger", m.Ledger.Record).Msg("backup")
	return path, m.Bytes(), nil
}
