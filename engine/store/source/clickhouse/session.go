package clickhouse

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"scrim/engine/store/source"
)

// silence is how long a server that runs a query may send nothing. It tells of its progress several
// times a second.
const silence = time.Minute

// reach is how long a connection may take to be made.
const reach = 10 * time.Second

// session is one connection. The settings that are set on it hold for as long as it lives: where it
// breaks, no other takes its place.
type session struct {
	driver.Conn
	net *wire
}

var errBroken = errors.New("clickhouse: the connection broke")

// errBusy is the library's pool asking for another connection because the query before is over, but
// its connection is not back yet. Nothing was sent then.
var errBusy = errors.New("clickhouse: the connection is busy")

// dial connects to a server.
func dial(ctx context.Context, at source.Endpoint) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, reach)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.Address)
	if err != nil || at.TLS == nil {
		return conn, err
	}
	t := tls.Client(conn, at.TLS)
	if err := t.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return t, nil
}

// wire is the connection of a session. Its reads fail when the other side sends nothing for too
// long: the library's own deadlines are of a whole query.
type wire struct {
	net.Conn
	used, broken atomic.Bool
}

// Read implements net.Conn.
func (w *wire) Read(p []byte) (n int, err error) {
	if err = w.Conn.SetReadDeadline(time.Now().Add(silence)); err == nil {
		n, err = w.Conn.Read(p)
	}
	if err != nil {
		w.broken.Store(true)
	}
	return n, err
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.broken.Store(true)
	return w.Conn.Close()
}

// SetReadDeadline implements net.Conn: Read sets its own.
func (*wire) SetReadDeadline(time.Time) error { return nil }

// SetDeadline implements net.Conn.
func (w *wire) SetDeadline(t time.Time) error { return w.Conn.SetWriteDeadline(t) }

// dialled hands the connection to the library, once.
func (w *wire) dialled(context.Context, string) (net.Conn, error) {
	switch {
	case !w.used.Swap(true):
		return w, nil
	case w.broken.Load():
		return nil, errBroken
	}
	return nil, errBusy
}

// open connects.
func open(ctx context.Context, at source.Endpoint) (*session, error) {
	made, err := dial(ctx, at)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: made}
	conn, err := clickhouse.Open(&clickhouse.Options{
		Addr:         []string{at.Address},
		Auth:         clickhouse.Auth{Username: at.User, Password: at.Password},
		DialContext:  w.dialled,
		DialTimeout:  reach,
		MaxOpenConns: 1, MaxIdleConns: 1,
		ConnMaxLifetime: 24 * time.Hour,
		Compression:     &clickhouse.Compression{Method: clickhouse.CompressionLZ4},
	})
	if err != nil {
		made.Close()
		return nil, err
	}
	out := &session{conn, w}
	if err := out.run(ctx, conn.Ping); err != nil {
		out.close()
		return nil, err
	}
	return out, nil
}

// close ends the connection, and what runs on it.
func (s *session) close() {
	s.net.Close()
	s.Conn.Close()
}

// run does something that is over when the connection is. Its context is never cancelled: when ctx
// ends, the connection is closed instead. A cancelled context makes clickhouse-go close a channel
// that its reader may still send to, which would end the process (its pull request 1677).
func (s *session) run(ctx context.Context, f func(context.Context) error) error {
	stop := context.AfterFunc(ctx, func() { s.net.Close() })
	err := f(context.WithoutCancel(ctx))
	for errors.Is(err, errBusy) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
		err = f(context.WithoutCancel(ctx))
	}
	if !stop() { // ctx has ended: whatever f says, it may have had only a part
		return ctx.Err()
	}
	return err
}

// rows runs a query, and calls each with a function that reads the columns of the row that it is
// at. It fails unless the server has said that there are no more rows.
func (s *session) rows(ctx context.Context, query string, each func(scan func(...any) error) error) error {
	return s.run(ctx, func(ctx context.Context) error {
		rows, err := s.Conn.Query(ctx, query)
		if err != nil {
			return err
		}
		for rows.Next() {
			if err := each(rows.Scan); err != nil {
				s.net.Close() // or the rest of the rows would be read first
				rows.Close()
				return err
			}
		}
		return rows.Err()
	})
}

// texts returns the rows of a query whose columns are all texts.
func (s *session) texts(ctx context.Context, columns int, query string, args ...any) (all [][]string, err error) {
	err = s.rows(ctx, fmt.Sprintf(query, args...), func(scan func(...any) error) error {
		row, into := make([]string, columns), make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		all = append(all, row)
		return scan(into...)
	})
	return all, err
}

// always are settings that every server has to know, and what they are for each of our queries: an
// answer is of all rows, or it is an error.
var always = map[string]string{
	"skip_unavailable_shards":                            "0", // a shard that is away is an error
	"distributed_group_by_no_merge":                      "0",
	"fallback_to_stale_replicas_for_distributed_queries": "0",
	"max_replica_delay_for_distributed_queries":          "1", // seconds; 0 would not look
	"max_parallel_replicas":                              "1", // more of them read a sample each
	"extremes":                                           "0", // they come as two more rows
	"max_execution_time":                                 "0", // the statement's own time ends it
}

// known are settings that are pinned on those servers that know them.
var known = map[string]string{
	"optimize_skip_unused_shards":                       "0",
	"parallel_replicas_count":                           "0",
	"parallel_replica_offset":                           "0",
	"enable_parallel_replicas":                          "0",
	"allow_experimental_parallel_reading_from_replicas": "0",
	"use_query_cache":                                   "0",
	"final":                                             "0",
	"limit":                                             "0",
	"offset":                                            "0",
	"apply_deleted_mask":                                "1",
	"min_execution_speed":                               "0",
	"min_execution_speed_bytes":                         "0",
	"low_cardinality_allow_in_native_format":            "0",
	"additional_table_filters":                          "{}",
	"additional_result_filter":                          "",
}

// A limit on how many rows are read, sorted or sent would count them exactly: whether a statement
// fails would tell on which side they are. What happens beyond a limit is an error wherever a
// setting says so.
var (
	unlimited = regexp.MustCompile(`^max_((rows|bytes)_to_(read|transfer|sort|group_by)|(rows|bytes)_in_\w+|result_(rows|bytes))(_leaf)?$`)
	throwing  = regexp.MustCompile(`_overflow_mode(_leaf)?$`)
)

// wanted lists the pinned settings of those that a server knows.
func wanted(there []string) (map[string]string, error) {
	out := maps.Clone(always)
	for name := range always {
		if !slices.Contains(there, name) {
			return nil, unfit("the server does not know the setting %s", name)
		}
	}
	for _, name := range there {
		value, pinned := known[name]
		switch {
		case pinned:
			out[name] = value
		case unlimited.MatchString(name):
			out[name] = "0"
		case throwing.MatchString(name):
			out[name] = "throw"
		}
	}
	return out, nil
}

// pin sets the pinned settings on the connection, and makes it one that cannot write.
func (s *session) pin(ctx context.Context) (map[string]string, error) {
	rows, err := s.texts(ctx, 2, "SELECT name, value FROM system.settings")
	if err != nil {
		return nil, err
	}
	var there []string
	readonly := ""
	for _, r := range rows {
		there = append(there, r[0])
		if r[0] == "readonly" {
			readonly = r[1]
		}
	}
	pins, err := wanted(there)
	if err != nil {
		return nil, err
	}
	if readonly == "1" {
		return nil, unfit("the account may not change settings: its readonly is 1 and has to be 2")
	}
	names := slices.Sorted(maps.Keys(pins))
	if err := s.set(ctx, pins, names...); err != nil {
		return nil, err
	}
	pins["readonly"] = "2"
	if readonly == "2" {
		return pins, nil
	}
	return pins, s.set(ctx, pins, "readonly")
}

// set sets some of the settings.
func (s *session) set(ctx context.Context, pins map[string]string, names ...string) error {
	var list []string
	for _, name := range names {
		text := pins[name]
		if strings.Trim(text, "0123456789") != "" || text == "" {
			text = "'" + text + "'"
		}
		list = append(list, name+" = "+text)
	}
	err := s.run(ctx, func(ctx context.Context) error { return s.Exec(ctx, "SET "+strings.Join(list, ", ")) })
	var refused *clickhouse.Exception
	if errors.As(err, &refused) {
		return unfit("the account may not change a setting: %s", refused.Message)
	}
	return err
}

// pinned fails unless the settings are in force on each of the servers that a table's rows are on,
// as they are for a query of this connection.
func (s *session) pinned(ctx context.Context, t *table, pins map[string]string) error {
	rows, err := s.texts(ctx, 2, "SELECT name, value FROM %s", t.everywhere("settings"))
	if err != nil {
		return err
	}
	seen := map[string]int{}
	for _, r := range rows {
		want, ok := pins[r[0]]
		if !ok {
			continue
		}
		if r[1] != want && (want != "{}" || r[1] != "") {
			return unfit("the setting %s does not stay at %s", r[0], want)
		}
		seen[r[0]]++
	}
	for name := range pins {
		if seen[name] != len(t.shards) {
			return unfit("the setting %s is not known on all servers", name)
		}
	}
	return nil
}
