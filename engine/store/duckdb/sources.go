package duckdb

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"scrim/engine/lake"
	"scrim/engine/lake/formats"
	"scrim/engine/source"
	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// A table of files is a view over read_parquet(getvariable('…')): every connection sets the
// variable to a list of files that the server has made itself (package lake), before each
// statement that names the table, so that DuckDB opens those files and nothing else.
//
// A table of another server is a view that cannot be read. Statements that name it are run with the
// name of a temporary table in its place, which has what they need of its rows (copies.go).

// kept is what is kept of an attached table.
type kept struct {
	lake.Attachment
	// Remote is set for a table of another server, which has no files.
	Remote *source.Origin `json:"remote,omitempty"`
}

// attached is a table that is or was read from files of others, or from another server.
type attached struct {
	kept
	ref    store.TableRef
	quoted string // as generated statements name it
	// checked are the files, lake.File, whose footers have the table's columns.
	checked *sync.Map
}

// sources are all of them, attached and detached.
type sources struct {
	lister formats.Lister
	mu     sync.Mutex // one change at a time
	now    atomic.Pointer[map[store.TableRef]*attached]
}

// load reads what is kept of them.
func (s *sources) load(ctx context.Context, keeper *conn) error {
	entries, err := keeper.list(ctx, store.BucketSources)
	if err != nil {
		return err
	}
	all := map[store.TableRef]*attached{}
	for _, e := range entries {
		schema, name, _ := strings.Cut(e.Key, "\x1f")
		var a kept
		if err := json.Unmarshal(e.Value, &a); err != nil {
			return fmt.Errorf("duckdb: what is kept of the attached table %s.%s is damaged: %w", schema, name, err)
		}
		ref := store.TableRef{Schema: schema, Name: name}
		all[ref] = newAttached(ref, a)
	}
	s.now.Store(&all)
	return nil
}

func newAttached(ref store.TableRef, a kept) *attached {
	return &attached{a, ref, quoteRef(ref), &sync.Map{}}
}

// put makes a the present one of its name.
func (s *sources) put(a *attached) {
	all := maps.Clone(*s.now.Load())
	all[a.ref] = a
	s.now.Store(&all)
}

// live returns the attached table of a name, or nil.
func (s *sources) live(ref store.TableRef) *attached {
	if a := (*s.now.Load())[ref]; a != nil && a.Live() {
		return a
	}
	return nil
}

// promise says what of a statement is of one moment.
func (s *sources) promise(a *attached) string {
	if a.Remote == nil {
		return "files pinned for the statement"
	}
	if k := s.lister.Kinds[a.Kind]; k != nil {
		return k.Promise() + ", copied for the statement"
	}
	return "nothing: there is no such kind of source"
}

// mentioned lists the attached tables that a generated statement names.
func (s *sources) mentioned(sql string) (list []*attached) {
	for _, a := range *s.now.Load() {
		if a.Live() && strings.Contains(sql, a.quoted) {
			list = append(list, a)
		}
	}
	return list
}

// Attachments lists the tables that are or were attached.
func (s *Store) Attachments() map[store.TableRef]lake.Attachment {
	out := map[store.TableRef]lake.Attachment{}
	for ref, a := range *s.sources.now.Load() {
		out[ref] = a.Attachment
	}
	return out
}

// State looks at the files of an attached table, or at its server, as they are now.
func (s *Store) State(ctx context.Context, ref store.TableRef) (now store.SourceState, err error) {
	a := s.sources.live(ref)
	if a == nil {
		return now, &store.Error{Kind: store.NotFound}
	}
	if a.Remote != nil {
		reading := s.sources.readings()
		defer reading.close()
		return now, reading.look(ctx, a)
	}
	pin, err := s.pin(ctx, a)
	if err != nil {
		return now, err
	}
	return store.SourceState{Files: len(pin.Files), Bytes: pin.Size()}, nil
}

// pin lists the files of a table and checks that all of them have its columns.
func (s *Store) pin(ctx context.Context, a *attached) (*lake.Pin, error) {
	pattern, err := s.sources.lister.Roots.Pattern(a.Path)
	if err != nil {
		return nil, lost(fmt.Errorf("%s: %w", a.Path, err))
	}
	pin, err := s.sources.lister.Again(ctx, a.Attachment, pattern)
	if err == nil && a.Hive {
		err = pin.Partitioned(a.Partitions)
	}
	if err == nil {
		err = s.alike(ctx, a, pin)
	}
	if err != nil {
		return nil, lost(err)
	}
	return pin, nil
}

// lost is the error of a statement whose files are not what they have to be.
func lost(err error) error {
	if store.KindOf(err) == store.Interrupted {
		return err
	}
	return &store.Error{Kind: store.Source, Detail: err.Error()}
}

// alike fails where a file's footer does not have the table's columns, in their order. A file that
// was looked at is not looked at again.
func (s *Store) alike(ctx context.Context, a *attached, pin *lake.Pin) error {
	var fresh []lake.File
	var paths []string
	for _, f := range pin.Files {
		if _, ok := a.checked.Load(f); !ok {
			fresh, paths = append(fresh, f), append(paths, f.Path)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	c, err := s.in.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	found, err := c.footers(ctx, paths)
	if err != nil {
		return classify(ctx, err)
	}
	for _, f := range fresh {
		if schema, err := a.fits(found[f.Path]); err != nil || schema != a.Schema {
			return fmt.Errorf("duckdb: the columns of %s are not those of the table", f.Path)
		}
		a.checked.Store(f, true)
	}
	return nil
}

// listText writes a list of texts in SQL.
func listText(list []string) string {
	quoted := make([]string, len(list))
	for i, t := range list {
		quoted[i] = sqltext.StoreText(t)
	}
	return "[" + sqltext.List(quoted) + "]"
}

// assign is the statement that hands a list of files to a connection.
func (a *attached) assign(pin *lake.Pin) string {
	return "SET VARIABLE " + a.Variable + " = " + listText(pin.Paths())
}

// pins are the lists that a statement reads.
type pins map[*attached]*lake.Pin

// unchanged fails where a file of them is not what it was.
func (p pins) unchanged() error {
	for _, pin := range p {
		if err := pin.Unchanged(); err != nil {
			return lost(err)
		}
	}
	return nil
}
