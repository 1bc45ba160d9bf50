package clickhouse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"scrim/engine/store/source"
	"scrim/internal/lists"
)

// Kind is the kind of ClickHouse servers.
type Kind struct{}

// Port implements source.Kind.
func (Kind) Port() string { return "9000" }

// Promise implements source.Kind.
func (Kind) Promise() string {
	return "each table is read once, each of its servers as it is when it begins to read"
}

// Open implements source.Kind.
func (Kind) Open(ctx context.Context, at source.Endpoint) (source.Snapshot, error) {
	s, err := open(ctx, at)
	if err != nil {
		return nil, err
	}
	n := &snapshot{s: s, address: at.Address, tables: map[[2]string]*table{}}
	if n.pins, err = s.pin(ctx); err != nil {
		s.close()
		return nil, err
	}
	return n, nil
}

// snapshot implements source.Snapshot on one connection, whose settings are pinned. They are looked
// up again for each table, on every server that has rows of it.
type snapshot struct {
	s       *session
	address string
	pins    map[string]string
	tables  map[[2]string]*table
}

// table returns a table that was looked up on this connection.
func (n *snapshot) table(ctx context.Context, database, name string) (*table, error) {
	key := [2]string{database, name}
	if t := n.tables[key]; t != nil {
		return t, nil
	}
	t, err := n.s.lookUp(ctx, n.address, database, name)
	if err != nil {
		return nil, err
	}
	if err := n.s.pinned(ctx, t, n.pins); err != nil {
		return nil, err
	}
	n.tables[key] = t
	return t, nil
}

// Look implements source.Snapshot.
func (n *snapshot) Look(ctx context.Context, database, name string) (*source.Table, error) {
	t, err := n.table(ctx, database, name)
	if err != nil {
		return nil, err
	}
	out := &source.Table{}
	if out.Identities, err = n.s.places(ctx, t); err != nil {
		return nil, err
	}
	for _, c := range t.columns {
		out.Columns = append(out.Columns, source.Column{Name: c.name, Type: c.as.store, Null: c.null || c.as.partial()})
	}
	for _, c := range t.left {
		out.Left = append(out.Left, source.Column{Name: c.name, Type: c.typ, Null: true})
	}
	return out, nil
}

// Version implements source.Snapshot: it is a digest of the list of parts.
func (n *snapshot) Version(ctx context.Context, database, name string) (string, error) {
	t, err := n.table(ctx, database, name)
	if err != nil {
		return "", err
	}
	parts, err := n.s.state(ctx, t)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:16]), nil
}

// Rows implements source.Snapshot.
func (n *snapshot) Rows(ctx context.Context, database, name string, columns []source.Column, each func(*source.Batch) error) error {
	t, err := n.table(ctx, database, name)
	if err != nil {
		return err
	}
	var list []column
	for _, want := range columns {
		list = append(list, lists.Filter(t.columns, func(c column) bool { return c.name == want.Name && c.as.store == want.Type })...)
	}
	if len(list) != len(columns) || len(list) == 0 {
		return unfit("%s.%s has not all of the %d columns that are to be read, as they were", database, name, len(columns))
	}
	return n.s.read(ctx, t, list, columns, each)
}

// Close implements source.Snapshot.
func (n *snapshot) Close() error {
	n.s.close()
	return nil
}

// unfit says why a table cannot be read.
func unfit(format string, args ...any) error {
	return &source.Unfit{Cause: fmt.Sprintf(format, args...), Remedy: "See docs/sources/clickhouse.md for what can be read."}
}

// table is a table of a ClickHouse server, as it is at the moment.
type table struct {
	database, name string
	// base is the table that the rows are in: the table itself, or what a Distributed table names,
	// which is on each shard of a cluster.
	base struct{ database, name string }
	// cluster is "" for a table of one server.
	cluster string
	// shards are the servers that rows are on, as host:port; one for a table of one server.
	shards  []string
	columns []column
	left    []column // of types that no column here has
}

// column is a column of a table.
type column struct {
	name, typ string // as ClickHouse says them
	as        *kind  // nil for a column that is left out
	null      bool
}

// plainName is what databases, tables and clusters may be called: such names need no quoting.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// distributed is how a Distributed table is defined. The names have no quotes in old versions.
var distributed = regexp.MustCompile(`^Distributed\('?([A-Za-z0-9_]+)'?, '?([A-Za-z0-9_]+)'?, '?([A-Za-z0-9_]+)'?[,)]`)

// why says of engines why their tables cannot be read.
var why = map[string]string{
	"View":             "what a view reads may be anything",
	"MaterializedView": "attach the table that it fills",
	"Merge":            "attach the tables that it reads",
	"Buffer":           "attach the table behind the buffer",
}

func engineUnfit(engine, of string) error {
	reason, ok := why[engine]
	switch {
	case ok:
	case strings.HasPrefix(engine, "Replicated"), strings.HasPrefix(engine, "Shared"):
		reason = "a replica may lag behind the others"
	case strings.HasSuffix(engine, "MergeTree"):
		reason = "such tables replace or add up rows, so that one person's row may decide about another's"
	default:
		reason = "only MergeTree keeps rows as they were written"
	}
	return unfit("the engine of %s is %s: %s", of, engine, reason)
}

// lookUp looks up how a table is stored, and its columns.
func (s *session) lookUp(ctx context.Context, address, database, name string) (*table, error) {
	t := &table{database: database, name: name, shards: []string{address}}
	if n, ok := lists.Find([]string{database, name}, func(n string) bool { return !plainName.MatchString(n) }); ok {
		return nil, unfit("the name %q is not made of letters, digits and _", n)
	}
	t.base.database, t.base.name = database, name
	rows, err := s.texts(ctx, 2, "SELECT engine, engine_full FROM system.tables WHERE database = '%s' AND name = '%s'", database, name)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, unfit("there is no table %s.%s, or the account does not see it", database, name)
	}
	if engine := rows[0][0]; engine == "Distributed" {
		err = s.distribution(ctx, t, rows[0][1])
	} else if engine != "MergeTree" {
		err = engineUnfit(engine, database+"."+name)
	}
	if err != nil {
		return nil, err
	}
	return t, s.describe(ctx, t)
}

// distribution looks up where the rows of a Distributed table are.
func (s *session) distribution(ctx context.Context, t *table, definition string) error {
	m := distributed.FindStringSubmatch(definition)
	if m == nil {
		return unfit("the definition of %s.%s names no cluster, database and table: %s", t.database, t.name, definition)
	}
	t.cluster, t.base.database, t.base.name = m[1], m[2], m[3]
	rows, err := s.texts(ctx, 4, "SELECT toString(shard_num), toString(replica_num), host_name, toString(port) FROM system.clusters WHERE cluster = '%s' ORDER BY shard_num, replica_num", t.cluster)
	if err != nil {
		return err
	}
	t.shards = nil
	for _, r := range rows {
		if r[1] != "1" {
			return unfit("a shard of the cluster %s has more than one replica, which may lag behind another", t.cluster)
		}
		t.shards = append(t.shards, r[2]+":"+r[3])
	}
	if len(t.shards) == 0 {
		return unfit("there is no cluster %s", t.cluster)
	}
	engines, err := s.texts(ctx, 1, "SELECT engine FROM %s WHERE database = '%s' AND name = '%s'", t.everywhere("tables"), t.base.database, t.base.name)
	if err != nil {
		return err
	}
	if r, ok := lists.Find(engines, func(r []string) bool { return r[0] != "MergeTree" }); ok {
		return engineUnfit(r[0], t.base.database+"."+t.base.name)
	}
	if len(engines) != len(t.shards) {
		return unfit("%s.%s is not on all shards of %s", t.base.database, t.base.name, t.cluster)
	}
	return nil
}

// everywhere names a table of the database system on all servers that the rows are on.
func (t *table) everywhere(system string) string {
	if t.cluster == "" {
		return "system." + system
	}
	return fmt.Sprintf("cluster('%s', system, %s)", t.cluster, system)
}

// describe reads the columns, which have to be the same on all servers.
func (s *session) describe(ctx context.Context, t *table) error {
	const columns = "SELECT name, type, default_kind FROM %s WHERE database = '%s' AND table = '%s'"
	rows, err := s.texts(ctx, 3, columns, "system.columns", t.database, t.name)
	if err != nil {
		return err
	}
	on, computed := map[string]int{}, map[string]bool{}
	below, err := s.texts(ctx, 3, columns, t.everywhere("columns"), t.base.database, t.base.name)
	if err != nil {
		return err
	}
	for _, r := range below {
		on[strings.Join(r[:2], "\x00")]++
		computed[r[0]] = computed[r[0]] || r[2] == "ALIAS"
	}
	for _, r := range rows {
		c := column{name: r[0], typ: r[1]}
		c.as, c.null = kindOf(c.typ)
		switch {
		case r[2] == "ALIAS", computed[c.name], strings.ContainsAny(c.name, "`\\\x00"), c.as == nil:
			c.as = nil
			t.left = append(t.left, c)
		case on[c.name+"\x00"+c.typ] != len(t.shards):
			return unfit("the column %s is not %s on all servers", c.name, c.typ)
		default:
			t.columns = append(t.columns, c)
		}
	}
	if len(t.columns) == 0 {
		return unfit("no column of %s.%s has a type that a table here has", t.database, t.name)
	}
	return nil
}

// state lists the parts that the rows lie in, on all servers. Every insert, merge and change of
// rows makes other parts.
func (s *session) state(ctx context.Context, t *table) ([]string, error) {
	rows, err := s.texts(ctx, 1, `SELECT concat(hostName(), ' ', path, ' ', toString(rows), ' ', toString(max_block_number), ' ', toString(bytes_on_disk), ' ', toString(toUInt32(modification_time)))
		FROM %s WHERE active AND database = '%s' AND table = '%s'`, t.everywhere("parts"), t.base.database, t.base.name)
	if err != nil {
		return nil, err
	}
	parts := lists.Map(rows, func(r []string) string { return r[0] })
	slices.Sort(parts)
	return parts, nil
}

// places names the data themselves, whatever the address is that a server is reached by: its host's
// own name and the directory there, and each server's address and the table there.
func (s *session) places(ctx context.Context, t *table) ([]string, error) {
	// Later versions have a list of directories.
	there, err := s.texts(ctx, 1, "SELECT name FROM system.columns WHERE database = 'system' AND table = 'tables' AND name = 'data_paths'")
	if err != nil {
		return nil, err
	}
	directory := "data_path"
	if len(there) > 0 {
		directory = "arrayStringConcat(data_paths, ' ')"
	}
	rows, err := s.texts(ctx, 1, "SELECT concat(hostName(), ':', %s) FROM %s WHERE database = '%s' AND name = '%s'", directory, t.everywhere("tables"), t.base.database, t.base.name)
	if err != nil {
		return nil, err
	}
	if len(rows) != len(t.shards) {
		return nil, unfit("not all servers of %s.%s answer", t.database, t.name)
	}
	var out []string
	for i, r := range rows {
		out = append(out, r[0], t.shards[i]+"/"+t.base.database+"/"+t.base.name)
	}
	slices.Sort(out)
	return out, nil
}
