package datadir

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"scrim/internal/durable"
)

// MachineFile names the machine; tests replace it.
var MachineFile = "/etc/machine-id"

// home is where a data directory is served; HostFile has the machine hashed with the directory's
// id.
type home struct {
	machine string // "-" where the machine has no id
	place   string // device and inode of the directory
	life    string // a random name of what was served there; see Directory.Life
}

// here is the home of a directory at present.
func (d *Directory) here() (home, error) {
	h := home{machine: "-"}
	if id, err := os.ReadFile(MachineFile); err == nil && strings.TrimSpace(string(id)) != "" {
		sum := sha256.Sum256([]byte("scrim host\n" + d.ID + "\n" + strings.TrimSpace(string(id))))
		h.machine = hex.EncodeToString(sum[:16])
	}
	fi, err := os.Stat(d.Path)
	if err != nil {
		return h, fmt.Errorf("engine: %w", err)
	}
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		h.place = fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return h, nil
}

// lastHome reads where a directory was last served; ok is false where that is not known.
func (d *Directory) lastHome() (h home, ok bool) {
	text, err := os.ReadFile(filepath.Join(d.Path, HostFile))
	f := strings.Fields(string(text))
	switch {
	case err != nil || len(f) < 2 || len(f) > 3:
		return h, false
	case len(f) == 2: // of a program that named no lives
		return home{f[0], f[1], ""}, true
	}
	return home{f[0], f[1], f[2]}, true
}

// NoteHome notes where the directory is served now, and says how that differs from where it was
// served last; "" where it does not, or where the last place is not known. A copy that is started
// beside the original spends the same budgets a second time.
func (d *Directory) NoteHome() (moved string, err error) {
	now, err := d.here()
	if err != nil {
		return "", err
	}
	last, ok := d.lastHome()
	switch {
	case ok && last.machine == now.machine && last.place == now.place:
		if d.Life = last.life; d.Life != "" {
			return "", nil
		}
	case ok && last.machine != now.machine:
		moved = "on another machine"
	case ok:
		moved = "at another place on this machine's disks"
	}
	b := make([]byte, 16)
	rand.Read(b) // it never fails
	d.Life = hex.EncodeToString(b)
	text := durable.Bytes([]byte(now.machine + " " + now.place + " " + d.Life + "\n"))
	return moved, durable.Replace(filepath.Join(d.Path, HostFile), 0o600, text)
}
