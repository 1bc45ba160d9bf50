package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"scrim/internal/durable"
)

// fileHost says where a data directory was last served: the machine, hashed with the directory's id, and the place on its disks.
const fileHost = "HOST"

// machineFile names the machine; tests replace it.
var machineFile = "/etc/machine-id"

// home is where a data directory is served.
type home struct {
	machine string // "-" where the machine has no id
	place   string // device and inode of the directory
}

// here is the home of a directory at present.
func (d *directory) here() (home, error) {
	h := home{machine: "-"}
	if id, err := os.ReadFile(machineFile); err == nil && strings.TrimSpace(string(id)) != "" {
		sum := sha256.Sum256([]byte("scrim host\n" + d.id + "\n" + strings.TrimSpace(string(id))))
		h.machine = hex.EncodeToString(sum[:16])
	}
	fi, err := os.Stat(d.path)
	if err != nil {
		return h, fmt.Errorf("engine: %w", err)
	}
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		h.place = fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return h, nil
}

// lastHome reads where a directory was last served; ok is false where that is not known.
func (d *directory) lastHome() (h home, ok bool) {
	text, err := os.ReadFile(filepath.Join(d.path, fileHost))
	f := strings.Fields(string(text))
	if err != nil || len(f) != 2 {
		return h, false
	}
	return home{f[0], f[1]}, true
}

// checkHost warns where the directory was last served on another machine or at another place, and notes the present one: a copy that is
// started beside the original spends the same budgets a second time.
func (s *Server) checkHost() error {
	now, err := s.dir.here()
	if err != nil {
		return err
	}
	last, ok := s.dir.lastHome()
	if ok && last == now {
		return nil
	}
	if ok {
		where := "at another place on this machine's disks"
		if last.machine != now.machine {
			where = "on another machine"
		}
		s.elsewhere(warnHost, "this data directory was last served "+where+". If it was moved, all is well, and the next start says nothing. If it was copied, "+
			"what one copy spends the other does not count: serve one of them, and remove the other")
	}
	return durable.Replace(filepath.Join(s.dir.path, fileHost), 0o600, durable.Bytes([]byte(now.machine+" "+now.place+"\n")))
}
