package engine

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/rs/zerolog"

	"scrim/engine/collections/intake"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/watch"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/monitor"
	"scrim/engine/ops/witness"
	"scrim/engine/store/duckdb"
	"scrim/engine/store/source"
	"scrim/engine/store/source/clickhouse"
	"scrim/engine/store/source/mysql"
	"scrim/engine/store/source/postgres"
	"scrim/internal/collation"
)

// Config says how a server runs. Only DataDir is required; DefaultConfig fills in the rest.
type Config struct {
	// DataDir is the data directory. It is created if it does not exist.
	DataDir string
	// Yes has a data directory of an earlier version opened, after a copy of its store is made in
	// it.
	Yes bool
	// LostTables lists, between commas, the tables that the store has lost, as schema.table, and
	// that are given up: without it the server does not start.
	LostTables string
	// Listen is the TCP address, by default 127.0.0.1:3307.
	Listen string
	// TLSCert and TLSKey are PEM files; both or neither. Without them the server makes a
	// certificate of its own in the data directory.
	TLSCert, TLSKey string
	// RequireTLS closes clients that do not use TLS.
	RequireTLS bool
	// RootPassword is the password of the root account that the first start makes. When it is empty
	// one is generated, which Server.RootPassword hands back.
	RootPassword string

	// HTTP is the TCP address of the dashboard, the metrics and the health checks; "" for none.
	HTTP string
	// ContributeListen is the TCP address at which contributors of collections send reports over
	// HTTP; "" for none. ContributeOrigins lists, between commas, the origins whose pages may do so
	// from a browser, or is "*".
	ContributeListen, ContributeOrigins string

	// Lake lists, between commas, the directories below which dp_attach may name files that are
	// read in place; "" for none.
	Lake string
	// Sources declares the servers of others whose tables dp_attach may name, as
	// source.ParseServers reads them.
	Sources string

	// Threads is the number of threads of the store; 0 means all processors.
	Threads int
	// MemoryLimit is the store's, as in "1GiB" or "800MB"; "" means the store's default.
	MemoryLimit string

	// ReleaseMemory bounds what the public sizes of one private query take, in MiB, by default
	// 2048: groups, coordinates, answers. A query that needs more is refused before its charge.
	ReleaseMemory int64
	// PersonsMemory is how much of the numbers that grow with persons and rows all private queries
	// together keep in memory, in MiB, by default 512. What is more lies in the spill directory:
	// how many persons there are decides nothing but how long a query takes.
	PersonsMemory int64

	// StatementMemory bounds what the running statement of a connection holds in the server's own
	// memory, in MiB, by default 256: rows that are sorted, grouped or joined outside the store,
	// and texts. ConnectionMemory bounds that and what the connection keeps between statements, by
	// default 256, and SessionsMemory all connections together, by default 384. More is refused.
	StatementMemory, ConnectionMemory, SessionsMemory int64

	// ReplayMemory bounds the stored answers that the same queries get again, on disk, in MiB, by
	// default 64. The oldest go first.
	ReplayMemory int64

	// CollationServer is the collation of databases that are created without one, and of constants,
	// by default utf8mb4_0900_ai_ci, as in MySQL 8. SET collation_server changes it for a session.
	// Databases that are there keep theirs.
	CollationServer string

	// MaxConnections bounds the open connections, by default 256.
	MaxConnections int
	// MaxUserConnections bounds the open connections of one account that is not an administrator's,
	// by default three quarters of MaxConnections. SET GLOBAL max_user_connections changes it, and
	// 0 there means any number.
	MaxUserConnections int
	// StatementTime ends a statement, in whole seconds, by default 10 min, unless the account is a
	// DBA's or has the role importer, collector or shuffler.
	StatementTime time.Duration
	// AuthTimeout bounds the time from accepting a connection to its login, by default 10 s.
	AuthTimeout time.Duration
	// MaxPreAuthPacket bounds a packet before the login, in bytes, by default 16 KiB.
	MaxPreAuthPacket int
	// MaxPacket bounds one command, in bytes, by default 64 MiB.
	MaxPacket int

	// Audit says what happens to statements while the audit log cannot be written: "refuse" (the
	// default), "count", or "off" for no audit log. See package audit.
	Audit string
	// AuditDir is the directory of the audit log, by default audit in DataDir.
	AuditDir string
	// AuditSize is the size after which a new file of the audit log is begun, in MiB, by default
	// 64.
	AuditSize int64
	// AuditDays is how many days files of the audit log are kept; 0 keeps all. DefaultConfig sets
	// 400.
	AuditDays int

	// BackupDir is where CALL dp_backup may write; "" for nowhere.
	BackupDir string

	// Witness is a file on another disk, or an http(s) URL, that keeps how far the ledger had come:
	// a data directory that is rolled back as a whole is then refused. "" for none. See package
	// witness.
	Witness string

	// Observers are told about every statement that ended.
	Observers watch.Observers
	// Steps makes the server note the steps of statements for them.
	Steps bool

	// Logger receives the operators' log. It never receives values of rows.
	Logger zerolog.Logger
	// DebugErrors adds the store's raw messages, which may hold values of rows, to the log.
	DebugErrors bool

	now func() time.Time // of the ledger; nil: time.Now
}

// DefaultConfig returns the configuration of a server on dataDir.
func DefaultConfig(dataDir string) Config {
	return Config{
		DataDir:          dataDir,
		Listen:           "127.0.0.1:3307",
		ReleaseMemory:    2048,
		PersonsMemory:    512,
		StatementMemory:  256,
		ConnectionMemory: 256,
		SessionsMemory:   384,
		ReplayMemory:     64,
		CollationServer:  "utf8mb4_0900_ai_ci",
		MaxConnections:   256,
		StatementTime:    10 * time.Minute,
		AuthTimeout:      10 * time.Second,
		MaxPreAuthPacket: 16 << 10,
		MaxPacket:        64 << 20,
		Audit:            string(audit.Refuse),
		AuditSize:        64,
		AuditDays:        400,
		Logger:           zerolog.Nop(),
	}
}

// withDefaults replaces the zero values of c.
func (c Config) withDefaults() Config {
	d := DefaultConfig(c.DataDir)
	c.Listen = cmp.Or(c.Listen, d.Listen)
	c.ReleaseMemory = cmp.Or(c.ReleaseMemory, d.ReleaseMemory)
	c.PersonsMemory = cmp.Or(c.PersonsMemory, d.PersonsMemory)
	c.StatementMemory = cmp.Or(c.StatementMemory, d.StatementMemory)
	c.ConnectionMemory = cmp.Or(c.ConnectionMemory, d.ConnectionMemory)
	c.SessionsMemory = cmp.Or(c.SessionsMemory, d.SessionsMemory)
	c.ReplayMemory = cmp.Or(c.ReplayMemory, d.ReplayMemory)
	c.CollationServer = cmp.Or(c.CollationServer, d.CollationServer)
	c.MaxConnections = cmp.Or(c.MaxConnections, d.MaxConnections)
	c.MaxUserConnections = cmp.Or(c.MaxUserConnections, max(1, c.MaxConnections*3/4))
	c.StatementTime = cmp.Or(c.StatementTime, d.StatementTime)
	c.AuthTimeout = cmp.Or(c.AuthTimeout, d.AuthTimeout)
	c.MaxPreAuthPacket = cmp.Or(c.MaxPreAuthPacket, d.MaxPreAuthPacket)
	c.MaxPacket = cmp.Or(c.MaxPacket, d.MaxPacket)
	c.Audit = cmp.Or(c.Audit, d.Audit)
	c.AuditSize = cmp.Or(c.AuditSize, d.AuditSize)
	return c
}

// Place says where the data directory is, and how what belongs to it is opened.
func (c Config) Place() datadir.Place {
	return datadir.Place{Dir: c.DataDir, Audit: c.AuditDir, Witness: c.Witness, Threads: c.Threads, MemoryLimit: c.MemoryLimit, Lake: c.roots(), Servers: duckdb.Servers{Declared: c.Sources, Kinds: kinds}}
}

// kinds are the kinds of servers whose tables can be read.
var kinds = map[string]source.Kind{"mysql": mysql.Kind{}, "clickhouse": clickhouse.Kind{}, "postgres": postgres.Kind{}}

// lostTables are the tables of LostTables.
func (c Config) lostTables() (names []string) {
	for name := range strings.SplitSeq(c.LostTables, ",") {
		names = append(names, strings.ToLower(strings.TrimSpace(name)))
	}
	return names
}

// roots are the directories of Lake.
func (c Config) roots() (dirs []string) {
	for d := range strings.SplitSeq(c.Lake, ",") {
		if d = strings.TrimSpace(d); d != "" {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// auditOff is the value of Config.Audit without an audit log.
const auditOff = "off"

// Problem is what is wrong with one value of a Config.
type Problem struct {
	Field string // of Config
	Text  string
}

func (p *Problem) Error() string { return "engine: " + p.Text }

// Validate reports every problem of c at once; nil when there is none. Zero values stand for
// defaults. What it joins are Problems.
func (c Config) Validate() error {
	c = c.withDefaults()
	var problems []error
	for _, check := range []func(Config, func(field, format string, args ...any)){
		Config.checkPlaces, Config.checkHTTP, Config.checkContribute, Config.checkTLS, Config.checkLimits, Config.checkAudit,
	} {
		check(c, func(field, format string, args ...any) {
			problems = append(problems, &Problem{field, fmt.Sprintf(format, args...)})
		})
	}
	return errors.Join(problems...)
}

// checkPlaces looks at directories and addresses.
func (c Config) checkPlaces(bad func(field, format string, args ...any)) {
	directory := func(field, what, path string) {
		if fi, err := os.Stat(path); err == nil && !fi.IsDir() {
			bad(field, "%s %s is not a directory", what, path)
		}
	}
	if c.DataDir == "" {
		bad("DataDir", "no data directory")
	}
	directory("DataDir", "data directory", c.DataDir)
	directory("AuditDir", "directory of the audit log", c.AuditDir)
	directory("BackupDir", "directory of backups", c.BackupDir)
	address := func(field, what, address string) {
		if _, port, err := net.SplitHostPort(address); err != nil {
			bad(field, "%s %q: want host:port", what, address)
		} else if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			bad(field, "%s %q: want a port from 0 to 65535", what, address)
		}
	}
	address("Listen", "listen address", c.Listen)
	if c.Witness != "" {
		if err := witness.Check(c.Witness, c.DataDir); err != nil {
			bad("Witness", "%v", err)
		}
	}
	if c.HTTP != "" {
		address("HTTP", "HTTP address", c.HTTP)
	}
	if c.ContributeListen != "" {
		address("ContributeListen", "address for contributors", c.ContributeListen)
	}
}

// checkHTTP refuses an address to which passwords would cross a network in clear. There is no
// switch to allow it.
func (c Config) checkHTTP(bad func(field, format string, args ...any)) {
	host, port, err := net.SplitHostPort(c.HTTP)
	if err == nil && c.TLSCert == "" && !monitor.Loopback(host) {
		bad("HTTP", "HTTP address %q: passwords would cross the network in clear: give a TLS certificate, or a loopback address such as 127.0.0.1:%s", c.HTTP, port)
	}
}

// checkContribute refuses an address to which tokens would cross a network in clear.
func (c Config) checkContribute(bad func(field, format string, args ...any)) {
	host, port, err := net.SplitHostPort(c.ContributeListen)
	if err == nil && c.TLSCert == "" && !monitor.Loopback(host) {
		bad("ContributeListen", "address for contributors %q: tokens would cross the network in clear: give a TLS certificate, or a loopback address such as 127.0.0.1:%s", c.ContributeListen, port)
	}
	if _, err := intake.ParseOrigins(c.ContributeOrigins); err != nil {
		bad("ContributeOrigins", "origins of contributors' pages: %v", err)
	}
}

func (c Config) checkTLS(bad func(field, format string, args ...any)) {
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		bad("TLSCert", "want both a TLS certificate and its key, or neither")
	case c.TLSCert != "":
		if _, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey); err != nil {
			bad("TLSCert", "TLS certificate: %v", err)
		}
	}
}

// leastStore is the memory in which all that private statements ask of the store spills, as was
// measured: a fixed minimum, on one thread, that does not grow with rows.
const leastStore = 256_000_000

func (c Config) checkLimits(bad func(field, format string, args ...any)) {
	if c.Threads < 0 || c.Threads > 1024 {
		bad("Threads", "want 0 to 1024 threads, have %d", c.Threads)
	}
	if c.MemoryLimit != "" && !memoryPattern.MatchString(c.MemoryLimit) {
		bad("MemoryLimit", "memory limit %q: want a number with KB, MB, GB, TB, KiB, MiB, GiB or TiB", c.MemoryLimit)
	}
	if c.MemoryLimit != "" && memoryPattern.MatchString(c.MemoryLimit) && c.storeMemory() < leastStore {
		bad("MemoryLimit", "memory limit %q: the store needs 256MiB, so that no statement on protected tables fails for the number of its rows", c.MemoryLimit)
	}
	if c.ReleaseMemory < 16 || c.ReleaseMemory > 1<<24 {
		bad("ReleaseMemory", "want 16 MiB to 16 TiB of memory for a private query, have %d MiB", c.ReleaseMemory)
	}
	if c.PersonsMemory < 16 || c.PersonsMemory > 1<<24 {
		bad("PersonsMemory", "want 16 MiB to 16 TiB of memory for persons' numbers, have %d MiB", c.PersonsMemory)
	}
	c.checkMemories(bad)
	if c.ReplayMemory < 1 || c.ReplayMemory > 1<<20 {
		bad("ReplayMemory", "want 1 MiB to 1 TiB of stored answers, have %d MiB", c.ReplayMemory)
	}
	if id, err := sql.ParseCollation("", c.CollationServer, false); err != nil {
		bad("CollationServer", "there is no collation %q", c.CollationServer)
	} else if err := collation.Check(id); err != nil {
		bad("CollationServer", "%s", err)
	}
	if c.MaxConnections < 1 || c.MaxConnections > 100_000 {
		bad("MaxConnections", "want 1 to 100000 connections, have %d", c.MaxConnections)
	}
	if c.MaxUserConnections < 1 || c.MaxUserConnections > 100_000 {
		bad("MaxUserConnections", "want 1 to 100000 connections of an account, or 0 for three quarters of all, have %d", c.MaxUserConnections)
	}
	if c.StatementTime < time.Second || c.StatementTime > 366*24*time.Hour || c.StatementTime%time.Second != 0 {
		bad("StatementTime", "want a statement time of whole seconds from 1s to 8784h, have %v", c.StatementTime)
	}
	if c.AuthTimeout < 100*time.Millisecond || c.AuthTimeout > 10*time.Minute {
		bad("AuthTimeout", "want a login timeout from 100ms to 10m, have %v", c.AuthTimeout)
	}
	if c.MaxPreAuthPacket < 1<<10 || c.MaxPreAuthPacket > 1<<20 {
		bad("MaxPreAuthPacket", "want a login packet limit from 1 KiB to 1 MiB, have %d", c.MaxPreAuthPacket)
	}
	if c.MaxPacket < 1<<16 || c.MaxPacket > 1<<30 {
		bad("MaxPacket", "want a packet limit from 64 KiB to 1 GiB, have %d", c.MaxPacket)
	}
}

func (c Config) checkAudit(bad func(field, format string, args ...any)) {
	switch c.Audit {
	case string(audit.Refuse), string(audit.Count), auditOff:
	default:
		bad("Audit", "audit %q: want refuse, count or off", c.Audit)
	}
	if c.AuditSize < 1 || c.AuditSize > 1<<20 {
		bad("AuditSize", "want files of the audit log of 1 MiB to 1 TiB, have %d MiB", c.AuditSize)
	}
	if c.AuditDays < 0 || c.AuditDays > 36_500 {
		bad("AuditDays", "want to keep the audit log for 0 (for ever) to 36500 days, have %d", c.AuditDays)
	}
}

// checkMemories looks at what connections may hold: no part more than what holds it.
func (c Config) checkMemories(bad func(field, format string, args ...any)) {
	least, of := int64(1), ""
	for _, m := range []struct {
		field, of string
		value     int64
	}{
		{"StatementMemory", "a statement", c.StatementMemory},
		{"ConnectionMemory", "a connection", c.ConnectionMemory},
		{"SessionsMemory", "all connections", c.SessionsMemory},
	} {
		switch {
		case m.value < least && of != "":
			bad(m.field, "want at least as much memory for %s as for %s, %d MiB, have %d MiB", m.of, of, least, m.value)
		case m.value < least || m.value > 1<<24:
			bad(m.field, "want 1 MiB to 16 TiB of memory for %s, have %d MiB", m.of, m.value)
		}
		least, of = max(m.value, 1), m.of
	}
}
