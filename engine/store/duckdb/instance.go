package duckdb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	duckdb "github.com/marcboeker/go-duckdb/v2"
	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// instance is one DuckDB database instance, reached in two ways: by the driver's connector and by
// the C interface's handle that the driver's instance cache shares with it.
type instance struct {
	path      string
	catalog   string // DuckDB's name of the database, from the file's name
	connector *duckdb.Connector
	db        mapping.Database
	helpers   *helperThreads
	// what was acknowledged of it; nil before setUp
	acknowledged *acknowledged
}

// held are the files that this process has open: DuckDB would quietly share an instance.
var held = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

func openInstance(path string) (*instance, error) {
	path, err := cleanPath(path)
	if err != nil {
		return nil, err
	}
	held.Lock()
	defer held.Unlock()
	if held.paths[path] {
		return nil, store.ErrInUse
	}
	connector, err := duckdb.NewConnector(path, nil)
	if err != nil {
		if strings.Contains(err.Error(), "Could not set lock on file") {
			return nil, store.ErrInUse
		}
		return nil, fmt.Errorf("duckdb: open: %w", err)
	}
	base := strings.ToLower(filepath.Base(path))
	in := &instance{path: path, connector: connector, catalog: strings.TrimSuffix(base, filepath.Ext(base))}
	if err := in.share(); err != nil {
		connector.Close()
		return nil, err
	}
	in.helpers = newHelperThreads(in.db)
	held.paths[path] = true
	return in, nil
}

// share takes the C handle of the instance that the connector opened. Its configuration must be the
// one that the connector used, or the cache refuses.
func (in *instance) share() error {
	var config mapping.Config
	if mapping.CreateConfig(&config) == mapping.StateError {
		return errors.New("duckdb: no memory for a configuration")
	}
	defer mapping.DestroyConfig(&config)
	if mapping.SetConfig(config, "duckdb_api", "go") == mapping.StateError {
		return errors.New("duckdb: configuration refused")
	}
	var msg string
	if mapping.GetOrCreateFromCache(duckdb.GetInstanceCache(), in.path, &in.db, config, &msg) == mapping.StateError {
		return fmt.Errorf("duckdb: share instance: %s", msg)
	}
	return nil
}

// connect opens a driver connection.
func (in *instance) connect(ctx context.Context) (*conn, error) {
	dc, err := in.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{dc: dc.(*duckdb.Conn), helpers: in.helpers}
	handle, err := handleOf(c.dc)
	if err != nil {
		c.close()
		return nil, err
	}
	c.pooled = &pooledConn{raw: &raw{c: handle, helpers: in.helpers}, plans: map[string]plan{}, room: sessionPlans}
	return c, nil
}

// handleOf returns the C interface's handle of a driver connection, which the driver has in a field
// of its own: only so do the statements of one transaction get written by the driver's appender and
// read column by column.
func handleOf(dc *duckdb.Conn) (mapping.Connection, error) {
	var c mapping.Connection
	own := reflect.ValueOf(dc).Elem().FieldByName("conn")
	if !own.IsValid() || own.Type() != reflect.TypeOf(c) || own.Field(0).UnsafePointer() == nil {
		return c, errors.New("duckdb: the driver's connection has another form than that of the version which this was written for")
	}
	c.Ptr = own.Field(0).UnsafePointer()
	return c, nil
}

func (in *instance) close() {
	held.Lock()
	defer held.Unlock()
	in.helpers.close()
	mapping.Close(&in.db)
	in.connector.Close()
	if a := in.acknowledged; a != nil {
		_ = errors.Join(a.sync(), a.file.Close())
	}
	delete(held.paths, in.path)
}
