package testenv

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// OwnMounts runs the test's program again with an environment variable, in a process that mounts
// file systems which only it sees. It has to end with a line "well", or to begin with "no mount"
// where it may not mount anything, which skips the test.
func OwnMounts(t testing.TB, variable string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), variable)
	Mounting(cmd)
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || bytes.HasPrefix(out, []byte("no mount")) {
		Skip(t, "no file system can be mounted here: %v %s", err, out)
	}
	if err != nil || !bytes.HasSuffix(out, []byte("well\n")) {
		t.Errorf("%v\n%s", err, out[max(0, len(out)-2000):])
	}
}

// Mounting gives a command that is not started yet mounts that only it and its children see.
func Mounting(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if id := os.Getuid(); id != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
}
