package duckdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"scrim/engine/lake"
	"scrim/engine/source"
	"scrim/engine/store"
)

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
