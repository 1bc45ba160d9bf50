package lake

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"scrim/internal/lists"
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

// File is a file as it was at one moment. Two equal ones have the same bytes, unless somebody set
// the machine's clock back.
type File struct {
	Path            string
	Size            int64
	Device, Inode   uint64
	Written, Status int64 // times of the last write, and of the last change of its inode, in ns
}

// Pin is the list of the files that are a table at one moment. It is immutable.
type Pin struct {
	pattern Pattern
	again   func() ([]File, error) // lists them as they are now
	Files   []File                 // sorted by path
}

// maxFiles bounds a list: it becomes part of a statement.
const maxFiles = 100_000

// Pin lists the files of the pattern. What fails is the operator's matter: the error names files.
func (p Pattern) Pin() (*Pin, error) {
	return newPin(p, func() ([]File, error) {
		w := &walk{pattern: p}
		if err := w.below(p.Root, p.Below); err != nil {
			return nil, err
		}
		if len(w.files) == 0 {
			return nil, fmt.Errorf("lake: no file matches %s", p)
		}
		return w.files, nil
	})
}

// newPin lists files for the first time.
func newPin(p Pattern, list func() ([]File, error)) (*Pin, error) {
	pin := &Pin{pattern: p, again: func() ([]File, error) {
		files, err := list()
		slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		// a file matches a pattern with two ** in more than one way
		return slices.Compact(files), err
	}}
	var err error
	if pin.Files, err = pin.again(); err != nil {
		return nil, err
	}
	return pin, nil
}

// walk looks for the files that match a pattern.
type walk struct {
	pattern Pattern
	files   []File
}

// below adds the files below a directory that match the segments.
func (w *walk) below(dir string, below []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("lake: %w", err)
	}
	if err := lists.Each(entries, func(e os.DirEntry) error { return w.entry(filepath.Join(dir, e.Name()), e, below) }); err != nil {
		return err
	}
	if below[0] == "**" {
		return w.below(dir, below[1:])
	}
	return nil
}

// entry looks at one name in a directory.
func (w *walk) entry(path string, e os.DirEntry, below []string) error {
	any := below[0] == "**"
	if !any && !within(below[0], e.Name()) {
		return nil
	}
	switch {
	case e.Type()&os.ModeSymlink != 0:
		return fmt.Errorf("lake: %s is a symbolic link, which is not followed", path)
	case any && e.IsDir():
		return w.below(path, below)
	case any:
		return nil // the walk with the next segment looks at it
	case len(below) > 1 && e.IsDir():
		return w.below(path, below[1:])
	case len(below) > 1:
		return nil
	case !e.Type().IsRegular():
		return fmt.Errorf("lake: %s is not a regular file", path)
	case strings.ContainsAny(path, special):
		return fmt.Errorf("lake: %q has a letter in its name that the store would misread", path)
	}
	f, err := stat(path)
	if err != nil {
		return err
	}
	if w.files = append(w.files, f); len(w.files) > maxFiles {
		return fmt.Errorf("lake: %s names more than %d files", w.pattern, maxFiles)
	}
	return nil
}

func stat(path string) (File, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return File{}, fmt.Errorf("lake: %w", err)
	}
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || !fi.Mode().IsRegular() {
		return File{}, fmt.Errorf("lake: %s is not a regular file", path)
	}
	return File{Path: path, Size: fi.Size(), Device: uint64(s.Dev), Inode: s.Ino, Written: s.Mtim.Nano(), Status: s.Ctim.Nano()}, nil
}

// Paths are the paths of the files.
func (p *Pin) Paths() []string {
	return lists.Map(p.Files, func(f File) string { return f.Path })
}

// Size is how many bytes the files have.
func (p *Pin) Size() (bytes int64) {
	return lists.Sum(p.Files, func(f File) int64 { return f.Size })
}

// Version is a text that differs when the list does.
func (p *Pin) Version() string {
	h := sha256.New()
	for _, f := range p.Files {
		fmt.Fprintf(h, "%q %d %d %d %d %d\n", f.Path, f.Size, f.Device, f.Inode, f.Written, f.Status)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Unchanged fails where the list, made anew, is not of the very same files any more.
func (p *Pin) Unchanged() error {
	now, err := p.again()
	if err != nil {
		return err
	}
	if !slices.Equal(p.Files, now) {
		return fmt.Errorf("lake: files of %s were added, removed or written meanwhile", p.pattern)
	}
	return nil
}

// Column is a column that stands in the names of directories: day=2025-06-01.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // BIGINT, DATE or VARCHAR
}

// hiveNull is the value of a directory that stands for NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

var (
	hiveName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	hiveWhole = regexp.MustCompile(`^-?[0-9]{1,18}$`)
)

// Partitions are the columns in the names of the files' directories, with types that all values
// have.
func (p *Pin) Partitions() ([]Column, error) {
	var columns []Column
	for i, f := range p.Files {
		parts := p.parts(f)
		if i == 0 {
			columns = append(columns, lists.Map(parts, func(part [2]string) Column { return Column{part[0], "BIGINT"} })...)
		}
		if err := p.named(f, parts, columns); err != nil {
			return nil, err
		}
		for j, part := range parts {
			for !fits(columns[j].Type, part[1]) {
				columns[j].Type = map[string]string{"BIGINT": "DATE", "DATE": "VARCHAR"}[columns[j].Type]
			}
		}
	}
	return p.mixed(columns)
}

// mixed makes a text of a column whose values have no common type: a whole number may have come
// before a date.
func (p *Pin) mixed(columns []Column) ([]Column, error) {
	for j := range columns {
		for _, f := range p.Files {
			if !fits(columns[j].Type, p.parts(f)[j][1]) {
				columns[j].Type = "VARCHAR"
			}
		}
	}
	return columns, nil
}

// Partitioned fails where a file's directories do not have the columns, with values of their types.
func (p *Pin) Partitioned(columns []Column) error {
	for _, f := range p.Files {
		parts := p.parts(f)
		if err := p.named(f, parts, columns); err != nil {
			return err
		}
		for j, part := range parts {
			if !fits(columns[j].Type, part[1]) {
				return fmt.Errorf("lake: %s: %s is no %s", f.Path, part[0], columns[j].Type)
			}
		}
	}
	return nil
}

func (p *Pin) named(f File, parts [][2]string, columns []Column) error {
	ok := len(parts) == len(columns)
	for j := 0; ok && j < len(parts); j++ {
		ok = parts[j][0] == columns[j].Name && hiveName.MatchString(parts[j][0]) && !strings.Contains(parts[j][1], "=")
	}
	if !ok {
		return fmt.Errorf("lake: the directories of %s do not name the same columns as others", f.Path)
	}
	return nil
}

// parts are the names and values in the directories of a file.
func (p *Pin) parts(f File) (out [][2]string) {
	segments := strings.Split(strings.TrimPrefix(f.Path, p.pattern.Root+"/"), "/")
	for _, s := range segments[:len(segments)-1] {
		if name, value, ok := strings.Cut(s, "="); ok {
			out = append(out, [2]string{name, value})
		}
	}
	return out
}

func fits(typ, value string) bool {
	switch {
	case value == hiveNull || typ == "VARCHAR":
		return true
	case typ == "BIGINT":
		return hiveWhole.MatchString(value)
	}
	_, err := time.Parse("2006-01-02", value)
	return err == nil
}
