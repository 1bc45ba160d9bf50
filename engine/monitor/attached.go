package monitor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"scrim/engine/store"
	"scrim/engine/store/duckdb"
)

// sourcesEvery is how often it is looked whether attached tables can be read, and sourceTimeout how
// long one of them may take to say so.
const (
	sourcesEvery  = 30 * time.Second
	sourceTimeout = 10 * time.Second
)

// WatchSources tells of attached tables that cannot be read, until ctx ends.
func (w *Warnings) WatchSources(ctx context.Context, st *duckdb.Store) {
	tick := time.NewTicker(sourcesEvery)
	defer tick.Stop()
	for {
		w.LookAtSources(ctx, st)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// LookAtSources looks once.
func (w *Warnings) LookAtSources(ctx context.Context, st *duckdb.Store) {
	all := st.Attachments()
	refs := slices.SortedFunc(maps.Keys(all), func(a, b store.TableRef) int { return strings.Compare(a.String(), b.String()) })
	var problems []string
	for _, ref := range refs {
		if !all[ref].Live() {
			continue
		}
		within, cancel := context.WithTimeout(ctx, sourceTimeout)
		_, err := st.State(within, ref)
		cancel()
		if ctx.Err() != nil {
			return
		}
		var failed *store.Error
		switch {
		case err == nil:
		case errors.As(err, &failed) && failed.Kind == store.Source:
			problems = append(problems, "the attached table "+ref.String()+" cannot be read: "+failed.Detail)
		case within.Err() != nil:
			problems = append(problems, "the attached table "+ref.String()+" cannot be read: its source does not answer")
		}
	}
	w.sources(problems)
}

// sources hears which attached tables cannot be read, and why.
func (w *Warnings) sources(problems []string) {
	text := strings.Join(problems, "; ")
	if text != "" && !slices.Contains(w.Texts(), text) {
		w.Log.Warn().Msg(text)
	}
	w.set(warnSources, text)
}
