package duckdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"scrim/engine/store"
	"scrim/engine/store/lake"
	"scrim/engine/store/lake/formats"
	"scrim/engine/store/source"
	"scrim/internal/lists"
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
	return "[" + sqltext.List(lists.Map(list, sqltext.StoreText)) + "]"
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

// Pin implements store.Pinner.
func (s *snapshot) Pin(ctx context.Context, refs []store.TableRef, statements []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	var tables []*attached
	for _, r := range refs {
		if a := s.st.sources.live(r); a != nil {
			tables = append(tables, a)
		}
	}
	files, remote := split(tables)
	for _, a := range files {
		if _, err := s.pinned(ctx, a); err != nil {
			return err
		}
	}
	if !s.begun || len(s.copies) == len(remote) {
		return s.copy(ctx, remote, statements)
	}
	s.end() // a transaction that fails takes along what was made in it: copies come before it
	s.state = nil
	if err := s.copy(ctx, remote, statements); err != nil {
		return err
	}
	return classify(ctx, s.start())
}

// pinned returns the snapshot's list of an attached table's files, which its connection has from
// then on. s.mu is held.
func (s *snapshot) pinned(ctx context.Context, a *attached) (*lake.Pin, error) {
	if pin := s.pins[a]; pin != nil {
		return pin, nil
	}
	pin, err := s.st.pin(ctx, a)
	if err != nil {
		return nil, err
	}
	if _, err := s.pooled.exec(ctx, a.assign(pin)); err != nil {
		s.broken = true
		return nil, classify(ctx, err)
	}
	if s.pins == nil {
		s.pins = pins{}
	}
	s.pins[a] = pin
	return pin, nil
}

// reading runs f, which executes a statement, on the pinned files and the copies of the tables that
// the statement names, and fails if the files are others afterwards. f gets the statement as it is
// to be run. s.mu is held.
func (s *snapshot) reading(ctx context.Context, sql string, f func(sql string) error) error {
	files, remote := split(s.st.sources.mentioned(sql))
	named := pins{}
	for _, a := range files {
		pin, err := s.pinned(ctx, a)
		if err != nil {
			return err
		}
		named[a] = pin
	}
	if err := s.copy(ctx, remote, []string{sql}); err != nil {
		return err
	}
	err := f(s.copies.in(sql))
	if changed := named.unchanged(); changed != nil && ctx.Err() == nil {
		return changed
	}
	return err
}

// pinFor lists the files of attached tables that a session's statement names, and hands them to its
// connection. Plans that were made of other lists are forgotten.
func (s *session) pinFor(ctx context.Context, tables []*attached) (pins, error) {
	var named pins
	for _, a := range tables {
		pin, err := s.st.pin(ctx, a)
		if err != nil {
			return nil, err
		}
		if _, err := s.c.exec(ctx, a.assign(pin)); err != nil {
			return nil, err
		}
		if named == nil {
			named = pins{}
			s.c.pooled.forget()
		}
		named[a] = pin
	}
	return named, nil
}

// attachedIn pins and copies what a statement names of attached tables, and returns the statement
// as it is to be run.
func (s *session) attachedIn(ctx context.Context, sql string) (string, pins, copies, error) {
	if s.files { // what attaches or detaches a table reads none
		return sql, nil, nil, nil
	}
	files, remote := split(s.st.sources.mentioned(sql))
	named, err := s.pinFor(ctx, files)
	if err != nil {
		return "", nil, nil, err
	}
	copied, err := s.copyFor(ctx, remote, sql)
	if err != nil {
		return "", nil, nil, err
	}
	return copied.in(sql), named, copied, nil
}

// queryAttached is Query where attached tables are named: nothing of it is kept between statements.
func (s *session) queryAttached(ctx context.Context, sql string, args []any) (store.Rows, error) {
	leave, err := s.st.admit(ctx, s.st.work)
	if err != nil {
		return nil, classify(ctx, err)
	}
	defer leave()
	sql, named, copied, err := s.attachedIn(ctx, sql)
	if err != nil {
		return nil, classify(ctx, err)
	}
	r, err := s.query(ctx, sql, args)
	if changed := named.unchanged(); changed != nil && err != nil {
		err = changed
	}
	if err != nil {
		s.drop(copied)
		return nil, classify(ctx, err)
	}
	return &attachedRows{r, s, named, copied}, nil
}

// attachedRows fail at their end where the files that they are of have changed.
type attachedRows struct {
	store.Rows
	s      *session
	pins   pins
	copies copies
}

// Close implements store.Rows.
func (r *attachedRows) Close() error {
	err := r.Rows.Close()
	if len(r.copies) > 0 {
		r.s.mu.Lock()
		defer r.s.mu.Unlock()
		if !r.s.closed {
			r.s.drop(r.copies)
		}
		r.copies = nil
	}
	return err
}

// Batch implements store.Rows.
func (r *attachedRows) Batch() (*store.Batch, error) {
	b, err := r.Rows.Batch()
	if err == nil {
		return b, nil
	}
	if changed := r.pins.unchanged(); changed != nil {
		return nil, changed
	}
	if err == io.EOF {
		return nil, io.EOF
	}
	return nil, err
}

// footer is what a file's footer says of its columns.
type footer struct {
	fields []lake.Field // those that are not within others; ID is 0 where they have no numbers
	texts  []string     // of each, and of what is within it, but for their numbers
	within int          // how many are still to come that are within others
}

// footers returns those of files. Whether a column may be NULL is left aside, and so is the name of
// the whole, which every writer chooses.
func (c *conn) footers(ctx context.Context, paths []string) (map[string]*footer, error) {
	rows, err := c.collect(ctx, `SELECT file_name, "name", "type", duckdb_type, num_children, field_id FROM parquet_schema(`+listText(paths)+`)`)
	if err != nil {
		return nil, err
	}
	out := map[string]*footer{}
	for _, r := range rows {
		file := r[0].(string)
		f := out[file]
		if f == nil { // the first row is the whole
			out[file] = &footer{}
			continue
		}
		text := fmt.Sprintf("%q %v %v %v\n", r[1:5]...)
		children, _ := r[4].(int64)
		if f.within == 0 {
			id, _ := r[5].(int64)
			f.fields, f.texts = append(f.fields, lake.Field{ID: id, Name: r[1].(string)}), append(f.texts, text)
			f.within = int(children)
		} else {
			f.texts[len(f.texts)-1] += text
			f.within += int(children) - 1
		}
	}
	return out, nil
}

// fits digests a footer. It fails where the file does not have exactly the columns, in their order,
// that the table's metadata say it has: under a number a file keeps a name that the table had when
// it was written.
func (a *attached) fits(f *footer) (digest string, err error) {
	if f == nil {
		return "", fmt.Errorf("a file has no columns")
	}
	last := len(f.fields)
	for last > 0 && a.own(f.fields[last-1].Name) {
		last--
	}
	if a.Kind != lake.Parquet && !slices.Equal(f.fields[:last], a.Fields) {
		return "", fmt.Errorf("a file does not have the columns that the table has now, by name and number, in their order: %v and %v", names(f.fields[:last]), names(a.Fields))
	}
	sum := sha256.Sum256([]byte(strings.Join(f.texts[:last], "")))
	return hex.EncodeToString(sum[:]), nil
}

// own reports whether a column is one that the format adds to files for itself: DuckLake tells in
// rewritten ones where a row was before, and of which snapshot it is.
func (a *attached) own(column string) bool {
	return a.Kind == lake.DuckLake && strings.HasPrefix(column, "_ducklake_internal_")
}

// names lists columns with their numbers.
func names(fields []lake.Field) string {
	return "(" + strings.Join(lists.Map(fields, func(f lake.Field) string { return fmt.Sprintf("%s %d", f.Name, f.ID) }), ", ") + ")"
}
