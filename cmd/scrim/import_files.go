package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// parseTypes reads name=TYPE,name=TYPE; commas in parentheses belong to a type.
func parseTypes(text string) (map[string]string, error) {
	out := map[string]string{}
	depth := 0
	for _, item := range strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth == 0
	}) {
		name, typ, ok := strings.Cut(item, "=")
		if name, typ = strings.TrimSpace(name), strings.TrimSpace(typ); !ok || name == "" || typ == "" {
			return nil, fmt.Errorf("--types: %q: want name=TYPE", item)
		}
		out[name] = typ
	}
	return out, nil
}

// matches are the files that the arguments name, patterns replaced by what is there.
func matches(args []string) ([]string, error) {
	var files []string
	var problems []error
	for _, a := range args {
		fi, err := os.Stat(a)
		switch {
		case a == "-" && len(args) > 1:
			problems = append(problems, errors.New("- for standard input is the only FILE"))
		case a == "-":
			files = append(files, a)
		case err == nil && fi.IsDir():
			problems = append(problems, fmt.Errorf("%s is a directory; want files, or a pattern in quotes: '%s'", a, filepath.Join(a, "*.csv")))
		case err == nil:
			files = append(files, a)
		case strings.ContainsAny(a, "*?["):
			found, badPattern := filepath.Glob(a)
			if badPattern != nil || len(found) == 0 {
				problems = append(problems, fmt.Errorf("%s: there is no such file", a))
			}
			files = append(files, found...)
		default:
			problems = append(problems, err)
		}
	}
	return files, errors.Join(problems...)
}

// spool puts standard input into a file, where that is asked for; remove takes it away. The file
// lies where other users cannot read it.
func (im *importing) spool(in io.Reader) (remove func() error, err error) {
	remove = func() error { return nil }
	if im.files[0] != "-" {
		return remove, nil
	}
	dir, err := os.MkdirTemp("", "scrim-import-")
	if err != nil {
		return nil, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	if im.o.Format == "" {
		im.o.Format = "csv"
	}
	file := filepath.Join(dir, "stdin."+im.o.Format)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.Copy(f, in)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("standard input: %w", err), remove())
	}
	im.files = []string{file}
	return remove, nil
}
