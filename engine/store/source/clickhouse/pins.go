package clickhouse

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
)

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
