package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Result is what one client did.
type Result struct {
	Client   Client
	Version  string
	Outcomes map[string]Outcome // by the check's name
	Order    []string           // of the extra checks
	Output   string             // everything it wrote
	Err      error              // it did not end well
	Took     time.Duration
}

// Try runs one client in a copy of its folder under dir. Results worth a look go to out.
func (s *Server) Try(ctx context.Context, c Client, dir, out string) Result {
	r := Result{Client: c, Outcomes: map[string]Outcome{}}
	work := filepath.Join(dir, c.Name)
	if r.Err = prepare(c, work, out); r.Err != nil {
		return r
	}
	env := s.environment(c, out)
	v, err := command(ctx, defaultTimeout, work, env, c.Version)
	if err != nil {
		r.Err = fmt.Errorf("it is not installed (%s): %w\n%s", c.install(), err, v)
		return r
	}
	if r.Version = firstLine(v); r.Version == "" {
		r.Err = errors.New("its version command printed nothing")
		return r
	}
	start := time.Now()
	r.Output, r.Err = command(ctx, c.timeout(), work, env, c.Run)
	r.Took = time.Since(start)
	r.read()
	return r
}

// prepare copies the client's folder, and makes npm's packages visible where modules look for them.
func prepare(c Client, work, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.CopyFS(work, os.DirFS(c.dir)); err != nil {
		return err
	}
	if len(c.NPM) == 0 {
		return nil
	}
	return os.Symlink(nodeModules(), filepath.Join(work, "node_modules"))
}

// variables are what a client is told about the server.
func (s *Server) variables() [][2]string {
	return [][2]string{
		{"SCRIM_HOST", s.host}, {"SCRIM_PORT", s.port}, {"SCRIM_DB", database}, {"SCRIM_CA", s.ca},
		{"SCRIM_USER", analyst}, {"SCRIM_PASSWORD", analystPassword}, {"SCRIM_SHA2_USER", newer},
		{"SCRIM_DBA", dba}, {"SCRIM_DBA_PASSWORD", dbaPassword},
		{"SCRIM_BINARY", s.cmd.Path},
	}
}

// environment is the process's, with what a client is told. Its home is empty, so that no
// configuration of the machine's user has a say.
func (s *Server) environment(c Client, out string) []string {
	lib := filepath.Join(filepath.Dir(c.dir), "lib")
	env := os.Environ()
	for _, v := range s.variables() {
		env = append(env, v[0]+"="+v[1])
	}
	return append(env, "SCRIM_OUT="+out, "SCRIM_LIB="+lib, "SCRIM_MODULE="+filepath.Join(lib, "..", "..", "..", ".."),
		"NODE_PATH="+nodeModules(), "PYTHONPATH="+lib, "PYTHONDONTWRITEBYTECODE=1",
		"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC", "HOME="+filepath.Dir(out))
}

// nodeModules is where .ci/checks/clients.sh puts npm's packages.
func nodeModules() string {
	if d := os.Getenv("SCRIM_CLIENTS_NODE"); d != "" {
		return d
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "scrim-clients", "node_modules")
}

// command runs a command in a process group of its own, which ends with it, and returns all that it
// wrote.
func command(ctx context.Context, limit time.Duration, work string, env, line []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	name := line[0]
	if name == "self" {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		name, env = self, append(env, selfVariable+"="+strings.Join(line[1:], " "))
		line = line[:1]
	}
	cmd := exec.CommandContext(ctx, name, line[1:]...)
	var b bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = work, env, &b, &b
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not end in %v", limit)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // something that it left behind held its output
	}
	return b.String(), err
}

// selfVariable tells this test's binary which client to be.
const selfVariable = "SCRIM_CLIENTS_SELF"

// read takes the checks out of the output.
func (r *Result) read() {
	for line := range strings.Lines(r.Output) {
		name, value, tabbed := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if !tabbed {
			continue
		}
		o, is := judge(name, value)
		if !is {
			continue
		}
		if _, again := r.Outcomes[name]; again {
			o = Outcome{Why: "printed twice"}
		} else if strings.HasPrefix(name, extra) {
			r.Order = append(r.Order, name)
		}
		r.Outcomes[name] = o
	}
	for _, c := range checks {
		if _, ok := r.Outcomes[c.name]; !ok {
			r.Outcomes[c.name] = Outcome{Why: "nothing printed"}
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
