package witness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"scrim/internal/durable"
)

// mostFile is the size from which a file is cut down to the newest line of each directory: some
// 5000 lines, far more than is ever read.
const mostFile = 1 << 20

// compacted replaces a file that has grown by the newest line of each directory and a further one;
// ok is false where it has not: the file is small, is no file that can be replaced, or holds no
// position.
//
// The new file is whole and durable before it takes the old one's name, so a crash leaves one of
// the two, and each of them ends with a newest line. What another process adds to the old file
// between the two is lost; the next line that either writes tells both of each other.
func (f file) compacted(line []byte) (ok bool, err error) {
	path, err := filepath.EvalSymlinks(string(f))
	if err != nil {
		return false, err
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() <= mostFile || !info.Mode().IsRegular() {
		return false, err
	}
	kept, err := newest(path)
	if err != nil || len(kept) == 0 {
		return false, err
	}
	if err := durable.Replace(path, info.Mode().Perm(), durable.Bytes(append(bytes.Join(kept, nil), line...))); err != nil {
		return false, err
	}
	return true, nil
}

// newest returns the last line of each directory, the last of all at the end.
func newest(path string) (lines [][]byte, err error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	last, order := map[string][]byte{}, []string(nil)
	s := bufio.NewScanner(in)
	s.Buffer(nil, tailSize)
	for s.Scan() {
		var e Entry
		if json.Unmarshal(s.Bytes(), &e) != nil || e.Position == "" {
			continue // torn by a crash
		}
		if _, known := last[e.Directory]; known {
			order = slices.DeleteFunc(order, func(d string) bool { return d == e.Directory })
		}
		order = append(order, e.Directory)
		last[e.Directory] = append(bytes.Clone(s.Bytes()), '\n')
	}
	for _, d := range order {
		lines = append(lines, last[d])
	}
	return lines, s.Err()
}
