package duckdb

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
	"scrim/engine/store/lake"
	"scrim/engine/store/source"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// copied is a temporary table of a connection with what is needed of another server's table.
type copied struct {
	table   string // as it is written in SQL
	version string
	columns []source.Column
}

// copies are those of a statement, or of a snapshot.
type copies map[*attached]copied

// in returns a generated statement with the temporary tables in the place of those that it names.
// No text of a client is a part of generated SQL, and a quoted name has no other one inside.
func (c copies) in(sql string) string {
	for a, t := range c {
		sql = strings.ReplaceAll(sql, a.quoted, t.table)
	}
	return sql
}

// standIn is the view that stands in the catalogue for another server's table: it has the
// columns and their types, and fails when it is read.
func standIn(columns []source.Column) string {
	const never = "error('a table of another server is read by a copy')"
	list := lists.Map(columns, func(c source.Column) string { return "CAST(NULL AS " + c.Type + ") AS " + sqltext.StoreName(c.Name) })
	return "SELECT " + sqltext.List(list) + " WHERE CAST(" + never + " AS BOOLEAN)"
}

// needed are the columns that statements name, or more: a name may be that of something else. It is
// at least one, for statements that count rows.
func (a *attached) needed(statements []string) (list []source.Column) {
	for _, c := range a.Remote.Columns {
		name := sqltext.StoreName(c.Name)
		if slices.ContainsFunc(statements, func(sql string) bool { return strings.Contains(sql, name) }) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		list = a.Remote.Columns[:1]
	}
	return list
}

// readings are the servers that a statement reads, each by one connection.
type readings struct {
	s    *sources
	open map[string]source.Snapshot
}

func (s *sources) readings() *readings { return &readings{s, map[string]source.Snapshot{}} }

// close ends all of them.
func (r *readings) close() {
	for _, s := range r.open {
		s.Close()
	}
}

// of returns the reading of a server.
func (r *readings) of(ctx context.Context, name string) (source.Snapshot, error) {
	if s := r.open[name]; s != nil {
		return s, nil
	}
	server, ok := r.s.lister.Servers[name]
	if !ok {
		return nil, fmt.Errorf("no source %s is declared: start the server with --source %s=…", name, name)
	}
	s, err := server.Open(ctx, r.s.lister.Kinds)
	if err == nil {
		r.open[name] = s
	}
	return s, err
}

// look fails where a table is not what was attached.
func (r *readings) look(ctx context.Context, a *attached) error {
	s, err := r.of(ctx, a.Remote.Server)
	if err != nil {
		return lostTo(ctx, err)
	}
	t, err := s.Look(ctx, a.Remote.Database, a.Remote.Table)
	switch {
	case err != nil:
		return lostTo(ctx, err)
	case !a.Remote.Same(t.Identities):
		return lost(fmt.Errorf("%s is another table than the one that was attached: CALL dp_detach, and dp_attach it under the same name", a.Path))
	case !a.Remote.Has(t):
		return lost(fmt.Errorf("%s does not have the columns that it was attached with: CALL dp_detach, and dp_attach it under the same name", a.Path))
	}
	return nil
}

// version returns a table's version; where its server tells none, one that no other statement gets.
func (r *readings) version(ctx context.Context, a *attached) (string, error) {
	if err := r.look(ctx, a); err != nil {
		return "", err
	}
	v, err := r.open[a.Remote.Server].Version(ctx, a.Remote.Database, a.Remote.Table)
	if err != nil {
		return "", lostTo(ctx, err)
	}
	if v == "" {
		v = "?" + rand.Text()
	}
	return v, nil
}

// copy makes a temporary table with the columns that statements need of a table.
func (r *readings) copy(ctx context.Context, c *pooledConn, a *attached, name string, statements []string) (copied, error) {
	version, err := r.version(ctx, a)
	if err != nil {
		return copied{}, err
	}
	columns := a.needed(statements)
	out := copied{"temp.main." + name, version, columns}
	err = out.fill(ctx, c, func(into *appending) (failed error) {
		err := r.open[a.Remote.Server].Rows(ctx, a.Remote.Database, a.Remote.Table, columns, func(b *source.Batch) error {
			failed = into.put(b)
			return failed
		})
		if failed == nil && err != nil {
			return lostTo(ctx, err)
		}
		return failed
	})
	return out, classify(ctx, err)
}

// fill makes the table on a connection, of what rows appends.
func (t copied) fill(ctx context.Context, c *pooledConn, rows func(*appending) error) error {
	define := lists.Map(t.columns, func(col source.Column) string { return sqltext.StoreName(col.Name) + " " + col.Type })
	if _, err := c.exec(ctx, "CREATE TEMP TABLE "+t.table+" ("+sqltext.List(define)+")"); err != nil {
		return err
	}
	into, err := c.appendTo(strings.TrimPrefix(t.table, "temp.main."), t.columns)
	if err != nil {
		return err
	}
	defer into.close()
	if err := rows(into); err != nil {
		return err
	}
	return into.end()
}

// takeOver gives the snapshot's connection the lists of files that the snapshot has, and the copies
// that another connection has. s.mu is held.
func (s *snapshot) takeOver(ctx context.Context, other *pooledConn) error {
	for a, pin := range s.pins {
		if _, err := s.pooled.exec(ctx, a.assign(pin)); err != nil {
			return err
		}
	}
	for _, t := range s.copies {
		err := t.fill(ctx, s.pooled, func(into *appending) error {
			rows, err := other.prepare("SELECT * FROM " + t.table)
			if err != nil {
				return err
			}
			defer mapping.DestroyPrepare(&rows)
			return other.stream(ctx, rows, nil, nil, func(*mapping.Result) error { return nil }, into.append)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// versions adds the versions of what others keep to those of attached tables: of files by a list
// that pin makes, of other servers' tables as they were copied, or else as they are now.
func (s *sources) versions(ctx context.Context, versions []string, refs []store.TableRef, pin func(*attached) (*lake.Pin, error), made copies) ([]string, error) {
	reading := s.readings()
	defer reading.close()
	for i, r := range refs {
		a := s.live(r)
		if a == nil {
			continue
		}
		var of string
		if t, there := made[a]; there {
			of = t.version
		} else if a.Remote != nil {
			v, err := reading.version(ctx, a)
			if err != nil {
				return nil, err
			}
			of = v
		} else {
			p, err := pin(a)
			if err != nil {
				return nil, err
			}
			of = p.Version()
		}
		versions[i] += "@" + of
	}
	return versions, nil
}

// lostTo is lost, unless the statement has ended meanwhile.
func lostTo(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return classify(ctx, ctx.Err())
	}
	return lost(err)
}

// copy copies what statements need of tables of other servers that the snapshot has not yet. One
// that fails leaves no copy, so that those of a second try are of one moment. s.mu is held.
func (s *snapshot) copy(ctx context.Context, tables []*attached, statements []string) error {
	reading := s.st.sources.readings()
	defer reading.close()
	for _, a := range tables {
		if _, there := s.copies[a]; there {
			continue
		}
		made, err := reading.copy(ctx, s.pooled, a, fmt.Sprintf("__scrim_copy_%d", len(s.copies)+1), statements)
		if err != nil {
			s.broken, s.copies = true, nil
			return err
		}
		if s.copies == nil {
			s.copies = copies{}
		}
		s.copies[a] = made
	}
	return nil
}

// copyFor copies what a session's statement needs of tables of other servers.
func (s *session) copyFor(ctx context.Context, tables []*attached, sql string) (copies, error) {
	reading := s.st.sources.readings()
	defer reading.close()
	out := copies{}
	for _, a := range tables {
		s.copied++
		made, err := reading.copy(ctx, s.c.pooled, a, fmt.Sprintf("__scrim_copy_%d", s.copied), []string{sql})
		if err != nil {
			s.drop(out)
			return nil, err
		}
		out[a] = made
	}
	return out, nil
}

// drop removes temporary tables of a statement that has ended.
func (s *session) drop(c copies) {
	for _, t := range c {
		s.c.exec(context.Background(), "DROP TABLE IF EXISTS "+t.table) //nolint:errcheck // of a connection that is broken
	}
}

// split parts attached tables into those of files and those of other servers.
func split(tables []*attached) (files, remote []*attached) {
	for _, a := range tables {
		if a.Remote != nil {
			remote = append(remote, a)
		} else {
			files = append(files, a)
		}
	}
	return files, remote
}
