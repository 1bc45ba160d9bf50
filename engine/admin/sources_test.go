package admin

import (
	"context"
	"strings"
	"testing"
	"time"

	"scrim/engine/store"
	"scrim/engine/store/lake"
)

// files are sources of which one is attached, one detached and one broken.
type files struct{}

func (files) Attach(context.Context, store.TableRef, lake.From) (*store.Attached, error) {
	return nil, store.Unfitted("Look elsewhere.", "No file will do.")
}

func (files) Detach(context.Context, store.TableRef) error { return nil }

func (files) Attachments() map[store.TableRef]lake.Attachment {
	a := lake.Attachment{Kind: lake.Parquet, Path: "/l/*.parquet", Attached: time.Unix(0, 0).UTC()}
	gone := a
	gone.Detached = time.Unix(60, 0).UTC()
	return map[store.TableRef]lake.Attachment{{Schema: "l", Name: "a"}: a, {Schema: "l", Name: "b"}: gone, {Schema: "l", Name: "c"}: a}
}

func (files) Free(context.Context, store.TableRef, bool) error { return nil }

func (files) AttachFrom(context.Context, store.TableRef, string, string, string, string) (*store.Attached, error) {
	return nil, store.Unfitted("Declare it.", "There is no such server.")
}

func (files) State(_ context.Context, r store.TableRef) (now store.SourceState, err error) {
	if r.Name == "c" {
		return now, &store.Error{Kind: store.Source, Detail: "no file"}
	}
	return store.SourceState{Files: 3, Bytes: 1000}, nil
}

// TestSources: DBAs see what is attached and what is wrong with it, and others nothing.
func TestSources(t *testing.T) {
	f := newFixture(t)
	f.want(dba, "SELECT table_name, files, bytes, status FROM dp.sources WHERE table_name <> 'l.c'", "l.a|3|1000|attached\nl.b|<nil>|<nil>|detached")
	if rows := f.must(dba, "", "SELECT status FROM dp.sources WHERE table_name = 'l.c'"); len(rows) != 1 || !strings.HasSuffix(rows[0][0].(string), ": no file") {
		t.Errorf("a broken one: %v", rows)
	}
	f.want(ann, "SELECT * FROM dp.sources", "")
}
