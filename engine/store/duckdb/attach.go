package duckdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
	"scrim/engine/store/lake"
	"scrim/engine/store/lake/formats"
	"scrim/engine/store/source"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// Attach makes a table of the Parquet files that a path names, or of the table of a format that
// lists them, in a directory. It fails with a *store.Unfit where the files, or the name, will not
// do.
func (s *Store) Attach(ctx context.Context, ref store.TableRef, from lake.From) (*store.Attached, error) {
	s.sources.mu.Lock()
	defer s.sources.mu.Unlock()
	a, pin, err := s.propose(ctx, ref, from)
	if err != nil {
		return nil, err
	}
	opened, err := s.Session(ctx)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	c := opened.(*session)
	made, view, err := c.describeFiles(ctx, a, pin)
	if err != nil {
		return nil, err
	}
	return made, c.record(ctx, a, view)
}

// record attaches a table, whose view is given.
func (s *Store) record(ctx context.Context, a *attached, view string) error {
	opened, err := s.Session(ctx)
	if err != nil {
		return err
	}
	defer opened.Close()
	return opened.(*session).record(ctx, a, view)
}

// record is Store.record on a session.
func (s *session) record(ctx context.Context, a *attached, view string) error {
	before := s.st.sources.now.Load()
	err := s.recorded(ctx, a, view)
	if err == nil {
		s.st.sources.put(a)
		if err = s.Commit(ctx); err != nil {
			s.st.sources.now.Store(before)
		}
	}
	return err
}

// propose checks the name and the path against what is there, and lists the files.
func (s *Store) propose(ctx context.Context, ref store.TableRef, from lake.From) (*attached, *lake.Pin, error) {
	files, like := from.Path, "/srv/lake/orders/**/*.parquet"
	var starred error
	if from.Kind != lake.Parquet {
		files, like = formats.Below(strings.TrimSuffix(from.Path, "/")), "/srv/lake/shop/orders"
		if strings.Contains(from.Path, "*") {
			starred = errors.New("it has a *")
		}
	}
	pattern, err := s.sources.lister.Roots.Pattern(files)
	if err := cmp.Or(err, starred); err != nil {
		return nil, nil, store.Unfitted("Give an absolute path such as "+like+", and start the server with --lake for a directory above it.", "The path %q cannot be attached: %s.", from.Path, err)
	}
	if from.In == nil { // of a lake the path is not yet the table's
		if err := s.claimed(ref, pattern.String()); err != nil {
			return nil, nil, err
		}
	}
	if err := s.Free(ctx, ref, false); err != nil {
		return nil, nil, err
	}
	a := lake.Attachment{Kind: from.Kind, Path: pattern.String(), Hive: from.Hive, In: from.In, Attached: time.Now().UTC().Truncate(time.Second), Variable: "files_" + strings.ToLower(rand.Text())}
	pattern, pin, err := s.sources.lister.First(ctx, &a, pattern)
	if err == nil && from.In != nil {
		if claim := s.claimed(ref, pattern.String()); claim != nil {
			return nil, nil, claim
		}
	}
	if err == nil && from.Hive {
		a.Partitions, err = pin.Partitions()
	}
	var unfit *lake.Unfit
	switch {
	case errors.As(err, &unfit):
		return nil, nil, store.Unfitted(unfit.Remedy, "The table in %s cannot be attached: %s.", from.Path, unfit.Cause)
	case err != nil:
		return nil, nil, store.Unfitted("Correct the path or the files.", "The files cannot be attached: %s.", err)
	}
	if before := (*s.sources.now.Load())[ref]; before != nil {
		a.Paths = slices.Clone(before.Paths)
	}
	if !slices.Contains(a.Paths, a.Path) {
		a.Paths = append(a.Paths, a.Path)
	}
	return newAttached(ref, kept{Attachment: a}), pin, nil
}

// Free refuses a name that a table has, one of no database, and one of what was read otherwise,
// from another server or from files: data are told apart by names of their own sort.
func (s *Store) Free(ctx context.Context, ref store.TableRef, remote bool) error {
	switch before := (*s.sources.now.Load())[ref]; {
	case before == nil:
	case before.Live():
		return store.Unfitted("CALL dp_detach first.", "The table %s is attached already.", ref)
	case remote != (before.Remote != nil):
		return store.Unfitted("Choose another name.", "The table %s was %s.", ref, before.Path)
	}
	schemas, err := s.Schemas(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(schemas, ref.Schema) {
		return store.Unfitted("CREATE DATABASE first.", "There is no database %s.", ref.Schema)
	}
	if _, there, err := s.Table(ctx, ref); err != nil || there {
		return cmp.Or(err, store.Unfitted("Choose another name.", "There is a table %s already.", ref))
	}
	return nil
}

// claimed refuses files that are, or were, a table of another name: what was spent on them is in
// that name's account.
func (s *Store) claimed(ref store.TableRef, path string) error {
	for _, other := range *s.sources.now.Load() {
		if other.ref != ref && other.Claims(path) {
			return store.Unfitted(fmt.Sprintf("Attach them as %s: what was spent on them is in the account of that name.", other.ref),
				"Files of this path are or were the table %s.", other.ref)
		}
	}
	return nil
}

// taken are the types of Parquet's columns that a table here has.
var taken = regexp.MustCompile(`^(BOOLEAN|U?TINYINT|U?SMALLINT|U?INTEGER|U?BIGINT|HUGEINT|FLOAT|DOUBLE|DECIMAL\([0-9]+,[0-9]+\)|VARCHAR|BLOB|DATE|TIME|TIMESTAMP|TIMESTAMP_NS|TIMESTAMP WITH TIME ZONE)$`)

// describeFiles reads the columns of the files, and writes the view.
func (s *session) describeFiles(ctx context.Context, a *attached, pin *lake.Pin) (made *store.Attached, view string, err error) {
	unread := func(err error) error {
		return cmp.Or(ctx.Err(), store.Unfitted("Look at the files: one cannot be read as Parquet, or not by the server's account.",
			"The files of %s cannot be read (%s).", a.Path, store.KindOf(classify(ctx, err))))
	}
	found, err := s.c.footers(ctx, pin.Paths())
	if err != nil {
		return nil, "", unread(err)
	}
	if a.Schema, err = a.fits(found[pin.Files[0].Path]); err != nil {
		return nil, "", store.Unfitted("Rewrite the files of the table, so that all of them have its present columns.", "The table cannot be attached: %s.", err)
	}
	for _, f := range pin.Files {
		if schema, err := a.fits(found[f.Path]); err != nil || schema != a.Schema {
			return nil, "", store.Unfitted("All files of a table have the same columns in the same order.", "The columns of %s are not those of %s.", f.Path, pin.Files[0].Path)
		}
	}
	if _, err := s.c.exec(ctx, a.assign(pin)); err != nil {
		return nil, "", unread(err)
	}
	from := a.scanSQL()
	rows, err := s.c.collect(ctx, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM "+from+")")
	if err != nil {
		return nil, "", unread(err)
	}
	own, err := s.c.collect(ctx, "SELECT column_name FROM (DESCRIBE SELECT * FROM read_parquet("+sqltext.StoreText(pin.Files[0].Path)+", hive_partitioning = false))")
	if err != nil {
		return nil, "", unread(err)
	}
	for _, r := range own {
		for _, p := range a.Partitions {
			if strings.EqualFold(p.Name, r[0].(string)) {
				return nil, "", store.Unfitted("Rename one of them, or attach with \"hive\": false.", "The files have a column %s, and so have the names of their directories.", p.Name)
			}
		}
	}
	made = &store.Attached{}
	var list []string
	for _, r := range rows {
		c := store.Column{Name: r[0].(string), Type: r[1].(string), Nullable: true}
		id := sqltext.StoreName(c.Name)
		read, plain := plainType(id, c.Type)
		switch {
		case a.own(c.Name):
			continue
		case !taken.MatchString(plain):
			made.Left = append(made.Left, c)
			continue
		case plain == "TIMESTAMP_NS":
			plain, read = "TIMESTAMP", "TRY_CAST("+id+" AS TIMESTAMP)"
		}
		if c.Type = plain; read != id {
			id = read + " AS " + id
		}
		made.Columns, list = append(made.Columns, c), append(list, id)
	}
	if len(list) == 0 {
		return nil, "", store.Unfitted("Write numbers, texts, dates or moments.", "No column of the files has a type that a table here has.")
	}
	return made, "CREATE VIEW " + a.quoted + " AS SELECT " + sqltext.List(list) + " FROM " + from, nil
}

// scanSQL reads the files of the connection's list. Footers do not tell of NaN. Statements read NaN
// as NULL, so that it does not matter; can_have_nan keeps DuckDB from leaving out groups of rows
// which may have one, whatever a statement does.
func (a *attached) scanSQL() string {
	hive := "hive_partitioning = false"
	if len(a.Partitions) > 0 {
		types := lists.Map(a.Partitions, func(p lake.Column) string { return sqltext.StoreText(p.Name) + ": " + p.Type })
		hive = "hive_partitioning = true, hive_types = {" + sqltext.List(types) + "}"
	}
	return "read_parquet(getvariable(" + sqltext.StoreText(a.Variable) + "), union_by_name = false, can_have_nan = true, " + hive + ")"
}

// recorded changes the view and what is kept of the table in a transaction, which is left open.
func (s *session) recorded(ctx context.Context, a *attached, view string) error {
	kept, err := json.Marshal(a.kept)
	if err != nil {
		return err
	}
	if err := s.Begin(ctx); err != nil {
		return err
	}
	s.files = true
	if _, err := s.Write(ctx, []store.TableRef{a.ref}, view); err != nil {
		return err
	}
	return s.Meta().Put(ctx, store.BucketSources, store.TableKey(a.ref), kept)
}

// Detach removes an attached table, and keeps which files it was.
func (s *Store) Detach(ctx context.Context, ref store.TableRef) error {
	s.sources.mu.Lock()
	defer s.sources.mu.Unlock()
	a := s.sources.live(ref)
	if a == nil {
		return store.Unfitted("SELECT * FROM dp.sources lists those that are.", "The table %s is not attached.", ref)
	}
	opened, err := s.Session(ctx)
	if err != nil {
		return err
	}
	defer opened.Close()
	gone := newAttached(ref, a.kept)
	gone.Detached = time.Now().UTC().Truncate(time.Second)
	if err := opened.(*session).recorded(ctx, gone, "DROP VIEW "+gone.quoted); err != nil {
		return err
	}
	if err := opened.Commit(ctx); err != nil {
		return err
	}
	s.sources.put(gone)
	return nil
}

// AttachFrom makes a table of a table of another server, which the operator has declared under a
// name. It fails with a *store.Unfit where the server, the table or the name will not do.
func (s *Store) AttachFrom(ctx context.Context, ref store.TableRef, kind, server, database, table string) (*store.Attached, error) {
	s.sources.mu.Lock()
	defer s.sources.mu.Unlock()
	if d, ok := s.sources.lister.Servers[server]; !ok || d.Kind != kind {
		return nil, store.Unfitted(fmt.Sprintf("Whoever runs the server declares it: scrim serve --source %s=%s://USER@HOST:PORT?password=file:PATH.", server, kind),
			"No %s server is declared as %q.", kind, server)
	}
	if err := s.Free(ctx, ref, true); err != nil {
		return nil, err
	}
	found, err := s.sources.lookAt(ctx, server, database, table)
	if err != nil {
		return nil, err
	}
	a := newAttached(ref, kept{
		Attachment: lake.Attachment{Kind: kind, Path: server + ":" + database + "." + table, Attached: time.Now().UTC().Truncate(time.Second)},
		Remote:     &source.Origin{Server: server, Database: database, Table: table, Identities: found.Identities},
	})
	made := &store.Attached{}
	for _, c := range found.Columns {
		if storable(c.Type) {
			a.Remote.Columns = append(a.Remote.Columns, c)
			made.Columns = append(made.Columns, store.Column{Name: c.Name, Type: c.Type, Nullable: true})
		} else {
			found.Left = append(found.Left, c)
		}
	}
	for _, c := range found.Left {
		made.Left = append(made.Left, store.Column{Name: c.Name, Type: c.Type, Nullable: true})
	}
	if len(made.Columns) == 0 {
		return nil, store.Unfitted("Attach a table of numbers, texts, dates or moments.", "No column of %s has a type that a table here has.", a.Path)
	}
	for i, c := range made.Columns {
		if slices.ContainsFunc(made.Columns[:i], func(other store.Column) bool { return strings.EqualFold(other.Name, c.Name) }) {
			return nil, store.Unfitted("Rename one of them there.", "The table %s has two columns whose names differ in nothing but case: %s.", a.Path, c.Name)
		}
	}
	if err := s.claimedData(a); err != nil {
		return nil, err
	}
	if before := (*s.sources.now.Load())[ref]; before != nil {
		a.Remote.Identities = union(before.Remote.Identities, a.Remote.Identities)
	}
	return made, s.record(ctx, a, "CREATE VIEW "+a.quoted+" AS "+standIn(a.Remote.Columns))
}

// lookAt looks a table of a server up.
func (s *sources) lookAt(ctx context.Context, server, database, table string) (*source.Table, error) {
	reading := s.readings()
	defer reading.close()
	snap, err := reading.of(ctx, server)
	var found *source.Table
	if err == nil {
		found, err = snap.Look(ctx, database, table)
	}
	var unfit *source.Unfit
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, classify(ctx, ctx.Err())
	case errors.As(err, &unfit):
		return nil, store.Unfitted(unfit.Remedy, "The table %s.%s of %s cannot be attached: %s.", database, table, server, unfit.Cause)
	}
	return nil, store.Unfitted("Look at that server, and at what the operator has declared of it.", "The source %s cannot be read: %s.", server, err)
}

// claimedData refuses data that are, or were, a table of another name: what was spent on them is in
// that name's account. A name that had other data keeps its account too, which is the safe side.
func (s *Store) claimedData(a *attached) error {
	for _, other := range *s.sources.now.Load() {
		if other.ref != a.ref && other.Remote != nil && other.Remote.Is(a.Remote.Identities) {
			return store.Unfitted(fmt.Sprintf("Attach it as %s: what was spent on it is in the account of that name.", other.ref),
				"The table %s is or was the table %s.", a.Path, other.ref)
		}
	}
	return nil
}

// union returns the texts of both lists.
func union(x, y []string) []string {
	out := append(slices.Clone(x), y...)
	slices.Sort(out)
	return slices.Compact(out)
}

// openForeign opens a database of DuckDB that others keep, to be read. It has no access to other
// files, so that nothing in it, a view for instance, can lead elsewhere.
func openForeign(path string) (*sql.DB, error) {
	c, err := duckdb.NewConnector(path+"?access_mode=READ_ONLY&threads=1&memory_limit=256MB&enable_external_access=false&autoload_known_extensions=false&autoinstall_known_extensions=false", nil)
	switch {
	case err == nil:
		return sql.OpenDB(c), nil
	case strings.Contains(err.Error(), "Could not set lock on file"):
		return nil, &lake.Unfit{Cause: "another process has " + path + " open, and DuckDB lets nobody read what it may write", Remedy: "Let it detach the lake, or keep a catalogue that is written while it is read in SQLite or on a server."}
	}
	return nil, err
}
