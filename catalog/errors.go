package catalog

import "errors"

// The sentinels that callers tell apart with errors.Is. They are for operators: their text may name
// the file. What a client may read is always a *refuse.Error.
var (
	// ErrMissing says that the file does not exist and must not be created.
	ErrMissing = errors.New("catalog: file missing")
	// ErrForeign says that the file belongs to another data directory.
	ErrForeign = errors.New("catalog: file of another data directory")
	// ErrVersion says that the file was written in a format that this program does not know.
	ErrVersion = errors.New("catalog: unknown format")
	// ErrDamaged says that the file is not what was written.
	ErrDamaged = errors.New("catalog: file damaged")
	// ErrUnavailable says that a change could not be made durable. It lasts until the catalogue is
	// opened again.
	ErrUnavailable = errors.New("catalog: cannot be changed")
)
