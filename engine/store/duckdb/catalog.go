package duckdb

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// listing is the committed catalogue at some moment. It is immutable.
type listing struct {
	schemas []string
	tables  map[string][]store.Table // by schema, sorted by name
	byRef   map[store.TableRef]store.Table
}

// catalogCache keeps a listing until a session of this process commits a change of definition. No
// other process can change one: DuckDB locks the file.
type catalogCache struct {
	mu         sync.Mutex
	generation uint64
	changing   int // commits under way that change a definition
	now        *listing
}

// change forgets the listing, and keeps none until done is called: a commit shows before it has
// returned, and whoever has seen its rows must not be told the definitions from before.
func (c *catalogCache) change() (done func()) {
	c.turn(1)
	return func() { c.turn(-1) }
}

func (c *catalogCache) turn(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changing += by
	c.generation++
	c.now = nil
}

func (c *catalogCache) get() (*listing, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, c.generation
}

// put keeps a listing unless a definition changed since its generation was read.
func (c *catalogCache) put(l *listing, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changing == 0 && c.generation == generation {
		c.now = l
	}
}

// listing returns the cached catalogue, or reads it.
func (s *Store) listing(ctx context.Context) (*listing, error) {
	if l, _ := s.cache.get(); l != nil {
		return l, nil
	}
	var l *listing
	err := s.use(func(keeper *conn) error {
		var generation uint64
		if l, generation = s.cache.get(); l != nil { // somebody read it while we waited
			return nil
		}
		err := keeper.within(ctx, func() (err error) {
			if l, err = keeper.listing(ctx, s.in); err == nil {
				l.attach(&s.sources)
			}
			return err
		})
		if err == nil {
			s.cache.put(l, generation)
		}
		return err
	})
	return l, classify(ctx, err)
}

// attach makes tables of the views over files of others. The listing is nobody else's yet.
func (l *listing) attach(s *sources) {
	for schema, list := range l.tables {
		for i, t := range list {
			if a := s.live(t.Ref); a != nil && t.View {
				t.View, t.Source, t.Promise = false, a.Kind, s.promise(a)
				l.tables[schema][i], l.byRef[t.Ref] = t, t
			}
		}
	}
}

// Schemas implements store.Store.
func (s *Store) Schemas(ctx context.Context) ([]string, error) {
	l, err := s.listing(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(l.schemas), nil
}

// Tables implements store.Store.
func (s *Store) Tables(ctx context.Context, schema string) ([]store.Table, error) {
	l, err := s.listing(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(l.tables[schema]), nil
}

// Table implements store.Store.
func (s *Store) Table(ctx context.Context, ref store.TableRef) (store.Table, bool, error) {
	l, err := s.listing(ctx)
	if err != nil {
		return store.Table{}, false, err
	}
	t, ok := l.byRef[ref]
	return t, ok, nil
}

// ours restricts a catalogue function to the file's own entries.
const ours = ` WHERE database_name = current_database() AND NOT internal`

// listing reads the catalogue inside a transaction.
func (c *conn) listing(ctx context.Context, in *instance) (*listing, error) {
	l := &listing{tables: map[string][]store.Table{}, byRef: map[store.TableRef]store.Table{}}
	schemas, err := c.collect(ctx, `SELECT lower(schema_name) FROM duckdb_schemas()`+ours+` ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	for _, r := range schemas {
		if name := r[0].(string); !in.reserved(name) {
			l.schemas = append(l.schemas, name)
		}
	}
	columns, err := c.columns(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := c.keys(ctx)
	if err != nil {
		return nil, err
	}
	tables, err := c.collect(ctx, `SELECT lower(schema_name), lower(table_name), false, comment FROM duckdb_tables()`+ours+
		` UNION ALL SELECT lower(schema_name), lower(view_name), true, comment FROM duckdb_views()`+ours+` ORDER BY 1, 2`)
	if err != nil {
		return nil, err
	}
	for _, r := range tables {
		ref := store.TableRef{Schema: r[0].(string), Name: r[1].(string)}
		if in.reserved(ref.Schema) {
			continue
		}
		t := store.Table{Ref: ref, View: r[2].(bool), Keys: spelled(keys[ref], columns[ref]), Comment: str(r[3])}
		t.Columns, t.Hidden = shown(columns[ref])
		l.tables[ref.Schema] = append(l.tables[ref.Schema], t)
		l.byRef[ref] = t
	}
	return l, nil
}

func (c *conn) columns(ctx context.Context) (map[store.TableRef][]store.Column, error) {
	mysql, err := c.mysqlTypes(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.collect(ctx, `SELECT lower(schema_name), lower(table_name), column_name, data_type, is_nullable,
		column_default, comment FROM duckdb_columns()`+ours+` ORDER BY schema_name, table_name, column_index`)
	if err != nil {
		return nil, err
	}
	out := map[store.TableRef][]store.Column{}
	for _, r := range rows {
		ref := store.TableRef{Schema: r[0].(string), Name: r[1].(string)}
		out[ref] = append(out[ref], store.Column{
			Name: r[2].(string), Type: r[3].(string), MySQL: mysql[store.TableKey(ref)][strings.ToLower(r[2].(string))],
			Nullable: r[4].(bool), Default: str(r[5]), Comment: str(r[6]),
		})
	}
	return out, nil
}

// mysqlTypes reads the column types that tables were created with, by table key and column.
func (c *conn) mysqlTypes(ctx context.Context) (map[string]map[string]string, error) {
	entries, err := c.list(ctx, store.BucketColumns)
	if err != nil {
		return nil, err
	}
	out := make(map[string]map[string]string, len(entries))
	for _, e := range entries {
		var types map[string]string
		if err := json.Unmarshal(e.Value, &types); err != nil {
			return nil, internal("columns entry: " + err.Error())
		}
		out[e.Key] = types
	}
	return out, nil
}

// keys reads the constraints and unique indexes, a primary key first.
func (c *conn) keys(ctx context.Context) (map[store.TableRef][]store.Key, error) {
	rows, err := c.collect(ctx, `SELECT lower(schema_name), lower(table_name), constraint_type = 'PRIMARY KEY', constraint_column_names
		FROM duckdb_constraints() WHERE database_name = current_database() AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')
		ORDER BY 1, 2, 3 DESC, constraint_index`)
	if err != nil {
		return nil, err
	}
	out := map[store.TableRef][]store.Key{}
	for _, r := range rows {
		ref := store.TableRef{Schema: r[0].(string), Name: r[1].(string)}
		k := store.Key{Primary: r[2].(bool)}
		k.Columns = append(k.Columns, lists.Map(r[3].([]any), func(n any) string { return n.(string) })...)
		out[ref] = append(out[ref], k)
	}
	return out, c.uniqueIndexes(ctx, out)
}

// uniqueIndexes adds the keys that CREATE UNIQUE INDEX made over plain columns.
func (c *conn) uniqueIndexes(ctx context.Context, keys map[store.TableRef][]store.Key) error {
	rows, err := c.collect(ctx, `SELECT lower(schema_name), lower(table_name), CAST(expressions AS VARCHAR[]) FROM duckdb_indexes()
		WHERE database_name = current_database() AND is_unique AND NOT is_primary ORDER BY 1, 2, index_name`)
	if err != nil {
		return err
	}
	for _, r := range rows {
		ref := store.TableRef{Schema: r[0].(string), Name: r[1].(string)}
		if columns, ok := indexColumns(r[2].([]any)); ok {
			keys[ref] = append(keys[ref], store.Key{Columns: columns})
		}
	}
	return nil
}

// shown parts the columns of a table from the hidden ones.
func shown(columns []store.Column) (shown, hidden []store.Column) {
	for _, c := range columns {
		if strings.HasPrefix(c.Name, store.HiddenColumn) {
			hidden = append(hidden, c)
		} else {
			shown = append(shown, c)
		}
	}
	return shown, hidden
}

// spelled names the columns of keys in the letters that the table's columns have.
func spelled(keys []store.Key, columns []store.Column) []store.Key {
	for _, k := range keys {
		for i, name := range k.Columns {
			for _, c := range columns {
				if strings.EqualFold(c.Name, name) {
					k.Columns[i] = c.Name
				}
			}
		}
	}
	return keys
}

var plainName = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")*")$`)

// indexColumns reads an index's expressions, if all of them are plain columns.
func indexColumns(expressions []any) ([]string, bool) {
	out := make([]string, len(expressions))
	for i, e := range expressions {
		name := str(e)
		if !plainName.MatchString(name) {
			return nil, false
		}
		if inner, ok := strings.CutPrefix(name, `"`); ok {
			name = strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
		}
		out[i] = name
	}
	return out, len(out) > 0
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func quoteRef(r store.TableRef) string { return sqltext.StoreTable(r.Schema, r.Name) }
