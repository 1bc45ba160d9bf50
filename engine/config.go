package engine

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"scrim/engine/audit"
	"scrim/engine/datadir"
	"scrim/engine/monitor"
	"scrim/engine/store/duckdb"
	"scrim/engine/watch"
	"scrim/engine/witness"
)

// Config says how a server runs. Only DataDir is required; DefaultConfig fills in the rest.
type Config struct {
	// DataDir is the data directory. It is created if it does not exist.
	DataDir string
	// Listen is the TCP address, by default 127.0.0.1:3307.
	Listen string
	// TLSCert and TLSKey are PEM files; both or neither. Without them the server makes a certificate of
	// its own in the data directory.
	TLSCert, TLSKey string
	// RequireTLS closes clients that do not use TLS.
	RequireTLS bool
	// RootPassword is the password of the root account that the first start makes. When it is empty
	// one is generated, which Server.RootPassword hands back.
	RootPassword string

	// HTTP is the TCP address of the dashboard, the metrics and the health checks; "" for none.
	HTTP string

	// Threads is the number of threads of the store; 0 means all processors.
	Threads int
	// MemoryLimit is the store's, as in "1GiB" or "800MB"; "" means the store's default.
	MemoryLimit string

	// ReleaseMemory bounds what the public sizes of one private query take, in MiB, by default 2048: groups, coordinates, answers. A query
	// that needs more is refused before its charge.
	ReleaseMemory int64
	// PersonsMemory is how much of the numbers that grow with persons and rows all private queries together keep in memory, in MiB, by
	// default 512. What is more lies in the spill directory: how many persons there are decides nothing but how long a query takes.
	PersonsMemory int64

	// StatementMemory bounds what the running statement of a connection holds in the server's own memory, in MiB, by default 256: rows that are
	// sorted, grouped or joined outside the store, and texts. ConnectionMemory bounds that and what the connection keeps between statements, by
	// default 256, and SessionsMemory all connections together, by default 384. More is refused.
	StatementMemory, ConnectionMemory, SessionsMemory int64

	// ReplayMemory bounds the stored answers that the same queries get again, on disk, in MiB, by default 64. The oldest go first.
	ReplayMemory int64

	// MaxConnections bounds the open connections, by default 256.
	MaxConnections int
	// MaxUserConnections bounds the open connections of one account that is not an administrator's, by default three quarters of
	// MaxConnections. SET GLOBAL max_user_connections changes it, and 0 there means any number.
	MaxUserConnections int
	// AuthTimeout bounds the time from accepting a connection to its login, by default 10 s.
	AuthTimeout time.Duration
	// MaxPreAuthPacket bounds a packet before the login, in bytes, by default 16 KiB.
	MaxPreAuthPacket int
	// MaxPacket bounds one command, in bytes, by default 64 MiB.
	MaxPacket int

	// Audit says what happens to statements while the audit log cannot be written: "refuse" (the default), "count", or "off" for
	// no audit log. See package audit.
	Audit string
	// AuditDir is the directory of the audit log, by default audit in DataDir.
	AuditDir string
	// AuditSize is the size after which a new file of the audit log is begun, in MiB, by default 64.
	AuditSize int64
	// AuditDays is how many days files of the audit log are kept; 0 keeps all. DefaultConfig sets 400.
	AuditDays int

	// BackupDir is where CALL dp_backup may write; "" for nowhere.
	BackupDir string

	// Witness is a file on another disk, or an http(s) URL, that keeps how far the ledger had come: a data directory that is rolled back as
	// a whole is then refused. "" for none. See package witness.
	Witness string

	// Observers are told about every statement that ended.
	Observers watch.Observers

	// Logger receives the operators' log. It never receives values of rows.
	Logger zerolog.Logger
	// DebugErrors adds the store's raw messages, which may hold values of rows, to the log.
	DebugErrors bool
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
	if c.Listen == "" {
		c.Listen = d.Listen
	}
	if c.ReleaseMemory == 0 {
		c.ReleaseMemory = d.ReleaseMemory
	}
	if c.PersonsMemory == 0 {
		c.PersonsMemory = d.PersonsMemory
	}
	for _, m := range c.memories() {
		if *m.value == 0 {
			*m.value = m.standard
		}
	}
	if c.ReplayMemory == 0 {
		c.ReplayMemory = d.ReplayMemory
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = d.MaxConnections
	}
	if c.MaxUserConnections == 0 {
		c.MaxUserConnections = max(1, c.MaxConnections*3/4)
	}
	if c.AuthTimeout == 0 {
		c.AuthTimeout = d.AuthTimeout
	}
	if c.MaxPreAuthPacket == 0 {
		c.MaxPreAuthPacket = d.MaxPreAuthPacket
	}
	if c.MaxPacket == 0 {
		c.MaxPacket = d.MaxPacket
	}
	if c.Audit == "" {
		c.Audit = d.Audit
	}
	if c.AuditSize == 0 {
		c.AuditSize = d.AuditSize
	}
	return c
}

var memoryPattern = regexp.MustCompile(`^([1-9][0-9]*(?:\.[0-9]+)?) ?([KMGT]i?B)$`)

// storeMemory is the store's memory limit in bytes.
func (c Config) storeMemory() int64 {
	limit := c.MemoryLimit
	if limit == "" {
		limit = duckdb.DefaultMemoryLimit
	}
	f := memoryPattern.FindStringSubmatch(limit)
	n, _ := strconv.ParseFloat(f[1], 64) // the pattern's
	step := 1000.0
	if len(f[2]) == 3 { // KiB and the like
		step = 1024
	}
	return int64(n * math.Pow(step, float64(1+strings.IndexByte("KMGT", f[2][0]))))
}

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
		Config.checkPlaces, Config.checkHTTP, Config.checkTLS, Config.checkLimits, Config.checkAudit,
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
}

// checkHTTP refuses an address to which passwords would cross a network in clear. There is no switch
// to allow it.
func (c Config) checkHTTP(bad func(field, format string, args ...any)) {
	host, port, err := net.SplitHostPort(c.HTTP)
	if err == nil && c.TLSCert == "" && !monitor.Loopback(host) {
		bad("HTTP", "HTTP address %q: passwords would cross the network in clear: give a TLS certificate, or a loopback address such as 127.0.0.1:%s", c.HTTP, port)
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

// leastStore is the memory in which all that private statements ask of the store spills, as was measured: a fixed minimum, on one thread, that
// does not grow with rows.
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
	if c.MaxConnections < 1 || c.MaxConnections > 100_000 {
		bad("MaxConnections", "want 1 to 100000 connections, have %d", c.MaxConnections)
	}
	if c.MaxUserConnections < 1 || c.MaxUserConnections > 100_000 {
		bad("MaxUserConnections", "want 1 to 100000 connections of an account, or 0 for three quarters of all, have %d", c.MaxUserConnections)
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

// Place says where the data directory is, and how what belongs to it is opened.
func (c Config) Place() datadir.Place {
	return datadir.Place{Dir: c.DataDir, Audit: c.AuditDir, Witness: c.Witness, Threads: c.Threads, MemoryLimit: c.MemoryLimit}
}

// auditOff is the value of Config.Audit without an audit log.
const auditOff = "off"
