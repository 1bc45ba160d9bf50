// Package clickhouse starts ClickHouse servers for a test: on the loopback interface, with ports,
// data and accounts of their own, and nothing else of the machine is touched. Several servers make
// a cluster, one shard each. The servers end with the test.
package clickhouse
