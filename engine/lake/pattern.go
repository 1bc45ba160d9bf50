package lake

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Roots are the directories below which files may be read, absolute and without symbolic links.
type Roots []string

// NewRoots checks the directories that an operator has declared. None may hold the server's own
// directory, or lie in it.
func NewRoots(dirs []string, own string) (Roots, error) {
	var out Roots
	for _, d := range dirs {
		abs, err := filepath.Abs(d)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return nil, fmt.Errorf("lake: root %s: %w", d, err)
		}
		if abs == "/" || strings.ContainsAny(abs, special+"=") {
			return nil, fmt.Errorf("lake: root %s: want a directory below /, without quotes, brackets, * ? = in its name", d)
		}
		if abs == own || strings.HasPrefix(own, abs+"/") || strings.HasPrefix(abs, own+"/") {
			return nil, fmt.Errorf("lake: root %s: want a directory apart from the server's own, %s", d, own)
		}
		out = append(out, abs)
	}
	return out, nil
}

// special are the letters that the store would read as more than a name.
const special = "*?[]{}'\"\\\x00\n"

// Pattern names files: the segments of a path below a root, in which * stands for any letters
// within a segment, and a segment ** for any number of directories.
type Pattern struct {
	Root string // one of the Roots
	// Below are the segments from the root on. The last one names files.
	Below []string
}

// File fails unless a path is that of a regular file below a root, which no symbolic link leads to.
func (r Roots) File(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("it is not absolute, or not in its shortest form")
	}
	if !slices.ContainsFunc(r, func(root string) bool { return strings.HasPrefix(path, root+"/") }) {
		return fmt.Errorf("it is below none of the directories that the server was started with (--lake)")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if fi, err := os.Lstat(path); err != nil || real != path || !fi.Mode().IsRegular() {
		return fmt.Errorf("it is no regular file, or a symbolic link leads to it")
	}
	return nil
}

// Pattern reads a pattern, whose root is the longest of the roots that it lies under.
func (r Roots) Pattern(text string) (Pattern, error) {
	if !filepath.IsAbs(text) {
		return Pattern{}, fmt.Errorf("it is not absolute")
	}
	for _, segment := range strings.Split(text[1:], "/") {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, "?[]{}'\"\\\x00\n") || segment != "**" && strings.Contains(segment, "**") {
			return Pattern{}, fmt.Errorf("the part %q is not a name in which * stands for any letters", segment)
		}
	}
	if !strings.HasSuffix(text, ".parquet") {
		return Pattern{}, fmt.Errorf("it does not end with .parquet")
	}
	best := ""
	for _, root := range r {
		if strings.HasPrefix(text, root+"/") && len(root) > len(best) {
			best = root
		}
	}
	if best == "" {
		return Pattern{}, fmt.Errorf("it is below none of the directories that the server was started with (--lake)")
	}
	return Pattern{best, strings.Split(text[len(best)+1:], "/")}, nil
}

// String returns the whole path.
func (p Pattern) String() string { return p.Root + "/" + strings.Join(p.Below, "/") }

// Overlaps reports whether some path could match two patterns, given by their whole paths.
func Overlaps(a, b string) bool {
	return overlap(strings.Split(a, "/"), strings.Split(b, "/"))
}

func overlap(a, b []string) bool {
	switch {
	case len(a) == 0 && len(b) == 0:
		return true
	case len(a) > 0 && a[0] == "**":
		return overlap(a[1:], b) || len(b) > 0 && overlap(a, b[1:])
	case len(b) > 0 && b[0] == "**":
		return overlap(b, a)
	case len(a) == 0 || len(b) == 0:
		return false
	}
	return within(a[0], b[0]) && overlap(a[1:], b[1:])
}

// within reports whether some name could match two segments.
func within(a, b string) bool {
	switch {
	case a == "" && b == "":
		return true
	case a != "" && a[0] == '*':
		return within(a[1:], b) || b != "" && within(a, b[1:])
	case b != "" && b[0] == '*':
		return within(b, a)
	case a == "" || b == "":
		return false
	}
	return a[0] == b[0] && within(a[1:], b[1:])
}
