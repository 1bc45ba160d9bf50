package catalog

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"scrim/internal/durable"
	"scrim/internal/release"
)

const (
	fileFormat = "scrim-catalog"
	// fileVersion is the version of the file, and with it of the data directory: the policies go
	// wherever the store's file goes, and a program refuses a version that it does not know by
	// name. Version 1 is that of directories whose store no program has opened that has DuckDB 1.5:
	// one with DuckDB 1.4 must not open the others.
	fileVersion = 2
	oldVersion  = 1
	// maxFile bounds what is read at start: far above any real catalogue.
	maxFile = 1 << 30
)

// header is the first line of the file. A program of version 1 calls a file with more fields
// damaged.
type header struct {
	Format    string `json:"format"`
	Version   int    `json:"version"`
	Directory string `json:"directory"`
	Revision  uint64 `json:"revision"`
	SHA256    string `json:"sha256"`
	Ledger    string `json:"ledger,omitempty"` // see Catalog.Follow
}

// sum is the checksum over everything in the file but itself and the constant format.
func (h header) sum(payload []byte) string {
	s := sha256.New()
	fmt.Fprintf(s, "%d\n%s\n%d\n", h.Version, h.Directory, h.Revision)
	if h.Ledger != "" {
		fmt.Fprintf(s, "%s\n", h.Ledger)
	}
	s.Write(payload)
	return hex.EncodeToString(s.Sum(nil))
}

// stored is the JSON form of a table.
type stored struct {
	Name     string               `json:"name"`
	State    string               `json:"state"`
	Account  string               `json:"account,omitempty"`
	Entity   string               `json:"entity,omitempty"`
	Row      bool                 `json:"unit_row,omitempty"`
	Column   string               `json:"unit_column,omitempty"`
	By       string               `json:"unit_collation,omitempty"`
	Period   string               `json:"period,omitempty"`
	Of       string               `json:"period_of,omitempty"`
	Link     *storedLink          `json:"link,omitempty"`
	Also     *storedOwner         `json:"also,omitempty"`
	Relation string               `json:"neighbours,omitempty"` // missing: add-remove
	Sized    bool                 `json:"public_size,omitempty"`
	Domains  map[string]string    `json:"domains,omitempty"`
	Scales   map[string][]float64 `json:"scales,omitempty"`
	Defaults Defaults             `json:"defaults"`
}

type storedLink struct {
	Column       string `json:"column"`
	Parent       string `json:"parent"`
	ParentColumn string `json:"parent_column"`
}

// storedOwner is the JSON form of the second owner of a table's rows.
type storedOwner struct {
	Entity string      `json:"entity"`
	Column string      `json:"unit_column,omitempty"`
	By     string      `json:"unit_collation,omitempty"`
	Link   *storedLink `json:"link,omitempty"`
}

// storedState is the JSON form of a state. In version 1 that of one without disjoint entities and
// periods is the list of its tables alone.
type storedState struct {
	Program  string            `json:"program"` // the version of the program that wrote it
	Tables   []stored          `json:"tables"`
	Periods  map[string]string `json:"entity_periods,omitempty"`
	Disjoint [][2]string       `json:"disjoint_entities,omitempty"`
	Absent   []string          `json:"absent,omitempty"`
}

// link is the link that is kept; nil for none.
func (l *storedLink) link() *Link {
	if l == nil {
		return nil
	}
	return &Link{l.Column, l.Parent, l.ParentColumn}
}

// kept is the JSON form of a link; nil for none.
func (l *Link) kept() *storedLink {
	if l == nil {
		return nil
	}
	return &storedLink{l.Column, l.Parent, l.ParentColumn}
}

func encode(s *Snapshot) ([]byte, error) {
	list := make([]stored, 0, len(s.tables))
	for _, t := range s.All() {
		r := stored{Name: t.Name, State: t.State.String(), Account: t.Account, Entity: t.Entity,
			Row: t.Unit.Row, Column: t.Unit.Column, By: t.Unit.Collation, Period: t.Unit.Period.Every, Of: t.Unit.Period.Of, Sized: t.Sized, Scales: t.Scales, Defaults: t.Defaults}
		if t.Relation != AddRemove {
			r.Relation = t.Relation.String()
		}
		r.Link = t.Unit.Link.kept()
		if o := t.Also; o != nil {
			r.Also = &storedOwner{o.Entity, o.Unit.Column, o.Unit.Collation, o.Unit.Link.kept()}
		}
		if len(t.Domains) > 0 {
			r.Domains = make(map[string]string, len(t.Domains))
			for c, d := range t.Domains {
				r.Domains[c] = d.String()
			}
		}
		list = append(list, r)
	}
	pairs := slices.SortedFunc(maps.Keys(s.disjoint), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return json.MarshalIndent(storedState{release.Version, list, s.periods, pairs, slices.Sorted(maps.Keys(s.absent))}, "", " ")
}

func decode(payload []byte, revision uint64) (*Snapshot, error) {
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.DisallowUnknownFields()
	var state storedState
	var err error
	if bytes.HasPrefix(payload, []byte("{")) {
		err = dec.Decode(&state)
	} else {
		err = dec.Decode(&state.Tables)
	}
	if err != nil {
		return nil, err
	}
	s := &Snapshot{revision: revision, tables: make(map[string]Table, len(state.Tables)), periods: state.Periods}
	for _, p := range state.Disjoint {
		if s.disjoint == nil {
			s.disjoint = map[[2]string]bool{}
		}
		s.disjoint[pairOf(p[0], p[1])] = true
	}
	for _, r := range state.Tables {
		state, ok := parseState(r.State)
		if !ok {
			return nil, fmt.Errorf("table %q has the unknown state %q", r.Name, r.State)
		}
		relation, ok := parseRelation(r.Relation)
		if !ok {
			return nil, fmt.Errorf("table %q has the unknown neighbour relation %q", r.Name, r.Relation)
		}
		t := Table{Name: r.Name, State: state, Account: r.Account, Entity: r.Entity,
			Unit: Unit{Row: r.Row, Column: r.Column, Collation: r.By, Period: Period{r.Period, r.Of}}, Relation: relation, Sized: r.Sized, Scales: r.Scales, Defaults: r.Defaults}
		t.Unit.Link = r.Link.link()
		if o := r.Also; o != nil {
			t.Also = &Owner{o.Entity, Unit{Column: o.Column, Collation: o.By, Link: o.Link.link()}}
		}
		for c, scales := range r.Scales {
			if len(scales) == 0 || slices.ContainsFunc(scales, func(f float64) bool { return !validScale(f) }) {
				return nil, fmt.Errorf("table %q column %q has scales that are not valid", r.Name, c)
			}
		}
		for c, text := range r.Domains {
			d, err := ParseDomain(text)
			if err != nil {
				return nil, fmt.Errorf("table %q column %q: %w", r.Name, c, err)
			}
			if t.Domains == nil {
				t.Domains = map[string]Domain{}
			}
			t.Domains[c] = d
		}
		if _, dup := s.tables[r.Name]; dup || r.Name != strings.ToLower(r.Name) {
			return nil, fmt.Errorf("table %q is there twice or not in lower case", r.Name)
		}
		s.put(t)
	}
	for _, name := range state.Absent {
		s.leave(name)
	}
	return s, s.verify()
}

// load reads the file and checks it to the last byte.
func load(path, directory string) (header, *Snapshot, error) {
	h, payload, err := read(path)
	if err != nil {
		return header{}, nil, err
	}
	if h.Directory != directory {
		return header{}, nil, fmt.Errorf("%w: %s: want directory %q, have %q", ErrForeign, path, directory, h.Directory)
	}
	s, err := decode(payload, h.Revision)
	if err != nil { // it is what was written, see read
		return header{}, nil, fmt.Errorf("%w: %w", newer(path, h, payload), err)
	}
	return h, s, nil
}

func read(path string) (header, []byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return header{}, nil, fmt.Errorf("%w: %s", ErrMissing, path)
	}
	if err != nil {
		return header{}, nil, fmt.Errorf("catalog: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return header{}, nil, fmt.Errorf("catalog: %w", err)
	}
	line, payload, ok := bytes.Cut(data, []byte("\n"))
	h, err := parseHeader(line)
	switch {
	case errors.Is(err, ErrVersion):
		return header{}, nil, newer(path, h, payload)
	case err != nil || !ok || len(data) > maxFile:
		return header{}, nil, fmt.Errorf("%w: %s", ErrDamaged, path)
	case h.SHA256 != h.sum(payload):
		return header{}, nil, fmt.Errorf("%w: %s: checksum does not match", ErrDamaged, path)
	}
	return h, payload, nil
}

// newer is the refusal of a file that a newer program wrote.
func newer(path string, h header, payload []byte) error {
	var by storedState
	_ = json.Unmarshal(payload, &by) // of another form, it may not say which program
	return fmt.Errorf("%w: %s was made by a newer version of scrim (%s): want version %d or before, have %d. Nothing is damaged: use that version",
		ErrVersion, path, cmp.Or(by.Program, "which it does not tell"), fileVersion, h.Version)
}

// parseHeader reads the first line of a file: with ErrVersion where a newer program wrote it, of
// which it reads no more than it knows.
func parseHeader(line []byte) (header, error) {
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return h, err
	}
	if h.Format != fileFormat {
		return h, fmt.Errorf("format %q", h.Format)
	}
	if h.Version > fileVersion {
		return h, ErrVersion
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&h); err != nil || h.Version < oldVersion {
		return h, errors.Join(err, ErrDamaged)
	}
	return h, nil
}

// Older reports whether the file at path is of a version before this program's: it and the store
// beside it were last written by an older program. Errors: ErrMissing, ErrVersion for one of a
// newer program, ErrDamaged.
func Older(path string) (bool, error) {
	h, _, err := read(path)
	return h.Version < fileVersion, err
}

// unchanged checks that the file is still the one with the header: nobody else replaced it.
func unchanged(path string, want header) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 64<<10)).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("catalog: %s: %w", path, err)
	}
	if h, err := parseHeader(line); err != nil || h != want {
		return fmt.Errorf("catalog: %s was changed by another process", path)
	}
	return nil
}

// save replaces the file.
func save(path, directory, ledger string, s *Snapshot) (header, error) {
	payload, err := encode(s)
	if err != nil {
		return header{}, fmt.Errorf("catalog: %w", err)
	}
	h := header{Format: fileFormat, Version: fileVersion, Directory: directory, Revision: s.revision, Ledger: ledger}
	h.SHA256 = h.sum(payload)
	line, err := json.Marshal(h)
	if err != nil {
		return header{}, fmt.Errorf("catalog: %w", err)
	}
	if err := durable.Replace(path, 0o600, durable.Bytes(slices.Concat(line, []byte("\n"), payload))); err != nil {
		return header{}, fmt.Errorf("catalog: %w", err)
	}
	return h, nil
}

// Raise writes the file again in this program's version, with the same policies: programs of before
// refuse it from then on. Which tables were dropped an older file does not say, so any may be
// absent.
func (c *Catalog) Raise() error {
	return c.change(func(s *Snapshot) (bool, error) {
		for name := range s.tables {
			s.leave(name)
		}
		return true, nil
	})
}
