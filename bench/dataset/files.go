package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"scrim/bench/internal/named"
	"scrim/engine/estimator"
)

var files = []Kind{
	{"transactions", "file=NAME,min-items=0", "baskets in FIMI form: FILE.dat or FILE.dat.gz, one line a person, numbers of items between spaces; only persons with at least min-items different ones", openTransactions},
	{"mnist", "digit=0,part=train", "images of a digit, pixels/255, from the idx files train-… or t10k-… [HLY21, Fig. 7]", openMNIST},
}

// File returns the contents of a file, or of the file with .gz after its name, from dir or from
// dir/folder; ErrNoFile where none of them is there.
func File(dir, folder, file string) ([]byte, error) {
	for _, p := range []string{filepath.Join(dir, file), filepath.Join(dir, folder, file)} {
		for _, suffix := range []string{"", ".gz"} {
			b, err := os.ReadFile(p + suffix)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil || suffix == "" {
				return b, err
			}
			if b, err = Unzipped(bytes.NewReader(b)); err != nil {
				return nil, fmt.Errorf("%s: %w", p+suffix, err)
			}
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w: no %s in the data directory %q", ErrNoFile, file, dir)
}

// Unzipped reads a gzip stream to its end.
func Unzipped(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// ErrNoFile says that a set's file is not there.
var ErrNoFile = errors.New("file not found")

func openTransactions(n *named.Name, dir string) (*Set, error) {
	file, least := n.Word("file", ""), n.Int("min-items", 0, 0, 1<<20)
	if !n.OK() {
		return nil, nil
	}
	b, err := File(dir, file, file+".dat")
	if err != nil {
		return nil, err
	}
	rows, dim, err := baskets(b, least)
	if err != nil {
		return nil, fmt.Errorf("%s.dat: %w", file, err)
	}
	return transactions(rows, dim), nil
}

// transactions is the set of given rows.
func transactions(rows [][]int32, dim int) *Set {
	s := &Set{Persons: len(rows), Dim: dim, Sparse: true, Bounded: true, Fixed: true, Observed: true, P: 1}
	s.Grid = estimator.Grid{Step: 1, Decimal: true, Lo: 0, Hi: 1}
	for _, row := range rows {
		s.Entries += len(row)
	}
	s.draw = func(r rng) (*estimator.Block, []float64, error) {
		return s.sparse(r, func(_ int, _ rng, from, persons int, add func([]int32)) {
			for _, row := range rows[from : from+persons] {
				add(row)
			}
		}), nil, nil
	}
	return s
}

// baskets reads rows of item numbers; items are renumbered from 0 in ascending order of those that
// are left.
func baskets(b []byte, least int) (rows [][]int32, dim int, err error) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<24)
	number := map[int64]int32{}
	var raw [][]int64
	for line := 1; lines.Scan(); line++ {
		row, err := items(lines.Text())
		if err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", line, err)
		}
		if len(row) == 0 || len(row) < least {
			continue
		}
		raw = append(raw, row)
		for _, x := range row {
			number[x] = 0
		}
	}
	all := make([]int64, 0, len(number))
	for x := range number {
		all = append(all, x)
	}
	slices.Sort(all)
	for i, x := range all {
		number[x] = int32(i)
	}
	for _, row := range raw {
		r := make([]int32, len(row))
		for e, x := range row {
			r[e] = number[x]
		}
		rows = append(rows, r)
	}
	return rows, max(1, len(all)), lines.Err()
}

// items returns the different numbers of a line, ascending.
func items(line string) ([]int64, error) {
	var row []int64
	for f := range strings.FieldsSeq(line) {
		x, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, err
		}
		row = append(row, x)
	}
	slices.Sort(row)
	return slices.Compact(row), nil
}

func openMNIST(n *named.Name, dir string) (*Set, error) {
	digit, part := n.Int("digit", 0, 0, 9), n.Word("part", "train")
	if !n.OK() {
		return nil, nil
	}
	pixels, size, err := idx(dir, part+"-images-idx3-ubyte", 3)
	if err != nil {
		return nil, err
	}
	labels, _, err := idx(dir, part+"-labels-idx1-ubyte", 1)
	if err != nil {
		return nil, err
	}
	var images [][]byte
	for i, l := range labels {
		if int(l) == digit && (i+1)*size <= len(pixels) {
			images = append(images, pixels[i*size:(i+1)*size])
		}
	}
	return imageSet(images, size), nil
}

func imageSet(images [][]byte, size int) *Set {
	s := &Set{Persons: len(images), Dim: size, Entries: len(images) * size, Fixed: true, Observed: true, P: 2, Sigma: []float64{1}}
	s.Radius = 50 * 28 // R = 50√784
	s.setRange(-s.Radius, s.Radius)
	s.draw = func(r rng) (*estimator.Block, []float64, error) {
		return s.dense(r, func(_ int, _ rng, from int, x []float64) {
			for i := range x {
				x[i] = float64(images[from+i/size][i%size]) / 255
			}
		}), nil, nil
	}
	return s
}

// idx reads a file of bytes in the idx form of the given number of dimensions; size is the number
// of bytes of one entry of the first.
func idx(dir, file string, dims int) (data []byte, size int, err error) {
	b, err := File(dir, "mnist", file)
	if err != nil {
		return nil, 0, err
	}
	header := 4 + 4*dims
	if len(b) < header || b[2] != 8 || int(b[3]) != dims {
		return nil, 0, fmt.Errorf("%s: not an idx file of bytes in %d dimensions", file, dims)
	}
	size = 1
	for i := 1; i < dims; i++ {
		size *= int(binary.BigEndian.Uint32(b[4+4*i:]))
	}
	if want := size * int(binary.BigEndian.Uint32(b[4:])); size < 1 || len(b)-header != want {
		return nil, 0, fmt.Errorf("%s: %d bytes, want %d", file, len(b)-header, want)
	}
	return b[header:], size, nil
}
