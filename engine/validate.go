package engine

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"scrim/engine/audit"
	"scrim/engine/intake"
	"scrim/engine/monitor"
	"scrim/engine/witness"
)

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
