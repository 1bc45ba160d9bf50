package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Client is one client of the matrix, as its client.json tells.
type Client struct {
	Name    string            `json:"name"`    // the folder's
	Group   string            `json:"group"`   // heading in the report
	Version []string          `json:"version"` // command that prints the version, in its first line
	Apt     []string          `json:"apt"`     // Debian packages
	NPM     map[string]string `json:"npm"`     // npm packages with their exact versions
	Scripts bool              `json:"npm_scripts"`
	// by PREPARE and EXECUTE, not by the protocol's own packets
	InSQL bool `json:"prepares_in_sql"`
	// command; "self" is this test's binary, see TestMain
	Run     []string `json:"run"`
	Timeout int      `json:"timeout_seconds"`
	Limits  string   `json:"limits"` // what it cannot do, and why

	dir string
}

// defaultTimeout bounds a client that names none.
const defaultTimeout = 60 * time.Second

// Load reads the folders of dir that have a client.json, in the order of groups and names.
func Load(dir string) ([]Client, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "client.json"))
	if err != nil {
		return nil, err
	}
	var out []Client
	var bad []error
	for _, f := range files {
		c, err := read(f)
		bad = append(bad, err)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Client) int {
		return strings.Compare(a.Group+"\x00"+a.Name, b.Group+"\x00"+b.Name)
	})
	return out, errors.Join(bad...)
}

func read(file string) (Client, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return Client{}, err
	}
	var c Client
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	if c.dir, err = filepath.Abs(filepath.Dir(file)); err != nil {
		return c, err
	}
	switch {
	case c.Name != filepath.Base(c.dir):
		return c, fmt.Errorf("%s: name %q is not the folder's", file, c.Name)
	case c.Group == "" || len(c.Version) == 0 || len(c.Run) == 0:
		return c, fmt.Errorf("%s: group, version and run are needed", file)
	}
	for p, v := range c.NPM {
		if v == "" || strings.ContainsAny(v, "^~*<>|x ") {
			return c, fmt.Errorf("%s: npm package %s wants an exact version, has %q", file, p, v)
		}
	}
	return c, nil
}

func (c Client) timeout() time.Duration {
	if c.Timeout == 0 {
		return defaultTimeout
	}
	return time.Duration(c.Timeout) * time.Second
}

// install says how to get what the client needs.
func (c Client) install() string {
	var out []string
	if len(c.Apt) > 0 {
		out = append(out, "apt-get install --no-install-recommends "+strings.Join(c.Apt, " "))
	}
	if len(c.NPM) > 0 {
		var names []string
		for p, v := range c.NPM {
			names = append(names, p+"@"+v)
		}
		slices.Sort(names)
		out = append(out, "npm install --prefix "+filepath.Dir(nodeModules())+" "+strings.Join(names, " "))
	}
	return strings.Join(out, "; ")
}

// Choose returns the clients of a comma-separated list of names, or all.
func Choose(all []Client, list string) ([]Client, error) {
	if list == "all" {
		return all, nil
	}
	var out []Client
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no client %q under testdata", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}
