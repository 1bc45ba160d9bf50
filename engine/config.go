package engine

import (
	"cmp"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"scrim/engine/audit"
	"scrim/engine/datadir"
	"scrim/engine/source"
	"scrim/engine/source/clickhouse"
	"scrim/engine/source/mysql"
	"scrim/engine/source/postgres"
	"scrim/engine/store/duckdb"
	"scrim/engine/watch"
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
