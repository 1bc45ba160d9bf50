package main

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"scrim/engine"
	"scrim/internal/lists"
)

// configCommand checks, shows and explains what serve would run with.
func configCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check, show and explain the configuration of serve",
		Long: `The commands take the flags of serve and read the same environment and file. Each value comes from the first of
these that has it: the flag, the environment variable, the file of --config (or SCRIM_CONFIG), the default.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(configCheckCommand(s), configShowCommand(s), configExampleCommand(s))
	return cmd
}

func configCheckCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Tell every problem of the configuration, or that there is none",
		Example: "  scrim config check --config /etc/scrim/scrim.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l := load(cmd.Flags(), os.Environ())
			for _, note := range l.notes {
				fmt.Fprintln(s.err, "scrim:", note)
			}
			if err := l.err(); err != nil {
				return err
			}
			n := 0
			for _, source := range l.source {
				if source != "default" {
					n++
				}
			}
			fmt.Fprintf(s.out, "The configuration is good: %s set, the rest by default.\n", count(n, "value"))
			return nil
		},
	}
	registerSettings(cmd.Flags())
	return cmd
}

func configShowCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Print every value in effect and where it comes from; secrets are hidden",
		Example: "  scrim config show --config /etc/scrim/scrim.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l := load(cmd.Flags(), os.Environ())
			for _, x := range settings {
				line := x.name + " = " + x.shown(l.options)
				fmt.Fprintf(s.out, "%-44s # %s\n", line, l.source[x.name])
			}
			return l.err()
		},
	}
	registerSettings(cmd.Flags())
	return cmd
}

func configExampleCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "example",
		Short:   "Print a configuration file in which every setting is explained",
		Example: "  scrim config example > /etc/scrim/scrim.toml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.out.Write([]byte(exampleFile()))
			return err
		},
	}
}

// exampleFile is a configuration file of defaults. Only data is set.
func exampleFile() string {
	o := defaultOptions()
	o.DataDir = "/var/lib/scrim"
	var b strings.Builder
	b.WriteString("# Configuration of scrim serve, for --config. An environment variable (SCRIM_MAX_CONNECTIONS for max-connections)\n" +
		"# goes before this file, and a flag (--max-connections) before both. Paths are relative to the working directory.\n" +
		"# What is marked with (reload) changes on SIGHUP, the rest with the next start.\n")
	for _, x := range settings {
		if x.secret {
			continue // not for a file that many read
		}
		mark, off := "", "# "
		if x.reload {
			mark = " (reload)"
		}
		if x.name == "data" {
			off = ""
		}
		fmt.Fprintf(&b, "\n# %s%s\n%s%s = %s\n", x.doc, mark, off, x.name, x.shown(o))
	}
	return b.String()
}

// setting is one value that an operator may set: by the flag --name, the environment variable
// SCRIM_NAME, or the key name of the configuration file.
type setting struct {
	name   string
	field  string // of options or of engine.Config
	doc    string
	reload bool // SIGHUP puts a new value into effect
	secret bool
	noFlag bool // a flag would show it to everybody on the machine
}

// options are what serve is configured by.
type options struct {
	engine.Config
	LogLevel         string
	LogFormat        string
	RootPasswordFile string
}

func defaultOptions() options {
	return options{Config: engine.DefaultConfig(""), LogLevel: "info", LogFormat: "json"}
}

// settings lists them in the order of the documentation.
var settings = []setting{
	{name: "data", field: "DataDir", doc: "data directory (required)"},
	{name: "yes", field: "Yes", doc: "open a data directory of an earlier version, after a copy of its store is made in it; without it, the server says what it would do and does not start"},
	{name: "lost-tables", field: "LostTables", doc: "tables, between commas, that the store has lost and that are given up; without it, the server does not start when a policy names a table that is not there and was not dropped (default: none)"},
	{name: "listen", field: "Listen", doc: "TCP address to listen on"},
	{name: "http", field: "HTTP", doc: "TCP address of the dashboard, /metrics, /healthz and /readyz, e.g. 127.0.0.1:8307 (default: none)"},
	{name: "contribute-listen", field: "ContributeListen", doc: "TCP address at which contributors of collections send reports over HTTPS, e.g. :8443; without a certificate of tls-cert a loopback one (default: none)"},
	{name: "contribute-origins", field: "ContributeOrigins", doc: "origins whose pages may send reports from browsers, e.g. https://example.org, between commas; * for all (default: none)"},
	{name: "tls-cert", field: "TLSCert", doc: "PEM file of the TLS certificate; without it the server makes one of its own", reload: true},
	{name: "tls-key", field: "TLSKey", doc: "PEM file of the certificate's key", reload: true},
	{name: "require-tls", field: "RequireTLS", doc: "close connections that do not use TLS"},
	{name: "lake", field: "Lake", doc: "directories, between commas, below which CALL dp_attach may name Parquet files, tables of Iceberg and DuckLake, and catalogues, that are read in place, e.g. /srv/lake; nothing else outside the data directory is ever read (default: none)"},
	{name: "source", field: "Sources", doc: "servers, between commas, whose tables CALL dp_attach may name (mysql, clickhouse), or that have catalogues of lakes (postgres, mysql), e.g. shop=mysql://scrim@db.example:3306?password=file:/etc/scrim/shop.secret; no other server is ever connected to (default: none)"},
	{name: "threads", field: "Threads", doc: "threads of the store (0: all processors)"},
	{name: "memory-limit", field: "MemoryLimit", doc: "memory of the store before it spills to disk, e.g. 4GiB (default 1GiB)"},
	{name: "query-memory", field: "ReleaseMemory", doc: "MiB that the groups, coordinates and answers of one private query may take; more is refused before the charge"},
	{name: "persons-memory", field: "PersonsMemory", doc: "MiB of persons' numbers that all private queries keep in memory; what is more lies in the spill directory"},
	{name: "statement-memory", field: "StatementMemory", doc: "MiB that one statement may hold outside the store: rows that are sorted, grouped or joined there, and texts"},
	{name: "connection-memory", field: "ConnectionMemory", doc: "MiB that one connection may hold: its statement, and user variables"},
	{name: "connections-memory", field: "SessionsMemory", doc: "MiB that all connections together may hold"},
	{name: "replay-size", field: "ReplayMemory", doc: "MiB of stored answers, which the same queries get again for nothing; the oldest go first"},
	{name: "collation-server", field: "CollationServer", doc: "collation of databases that are created without one, and of constants: MySQL's, or utf8mb4_0900_bin, by bytes"},
	{name: "max-connections", field: "MaxConnections", doc: "open connections at most", reload: true},
	{name: "max-user-connections", field: "MaxUserConnections", doc: "open connections of one account at most, but for administrators (0: three quarters of max-connections)", reload: true},
	{name: "statement-time", field: "StatementTime", doc: "time that a statement may take, but for DBAs, importers, collectors and shufflers", reload: true},
	{name: "login-timeout", field: "AuthTimeout", doc: "time from connecting to being logged in", reload: true},
	{name: "audit", field: "Audit", doc: "what happens to statements while the audit log cannot be written: refuse (none runs), count (they run, and the log says how many are missing), or off (no audit log)"},
	{name: "audit-dir", field: "AuditDir", doc: "directory of the audit log (default: audit in the data directory)"},
	{name: "audit-size", field: "AuditSize", doc: "MiB after which a new file of the audit log is begun; a new day begins one, too"},
	{name: "audit-days", field: "AuditDays", doc: "days that files of the audit log are kept; 0 keeps all", reload: true},
	{name: "backup-dir", field: "BackupDir", doc: "directory into which a DBA may CALL dp_backup (default: none)"},
	{name: "witness", field: "Witness", doc: "file on another disk, or http(s) URL, that keeps how far the ledger had come, so that a data directory that is rolled back as a whole is refused (default: none)"},
	{name: "log-level", field: "LogLevel", doc: "debug, info, warn or error", reload: true},
	{name: "log-format", field: "LogFormat", doc: "json, or text for people"},
	{name: "log-store-errors", field: "DebugErrors", doc: "add the store's raw messages, which may hold values of rows, to the log"},
	{name: "root-password", field: "RootPassword", doc: "password of the account root that the first start makes", secret: true, noFlag: true},
	{name: "root-password-file", field: "RootPasswordFile", doc: "file with that password, e.g. a systemd credential or a container's secret"},
}

// find returns the setting of a name.
func find(name string) (setting, bool) {
	return lists.Find(settings, func(s setting) bool { return s.name == name })
}

// ofField returns the setting of a field of engine.Config.
func ofField(field string) (setting, bool) {
	return lists.Find(settings, func(s setting) bool { return s.field == field })
}

// variable is the setting's environment variable.
func (s setting) variable() string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))
}

func (s setting) in(o *options) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName(s.field) }

// kind is what a value is, as help and problems name it.
func (s setting) kind() string {
	o := defaultOptions()
	switch v := s.in(&o); v.Interface().(type) {
	case time.Duration:
		return "duration"
	case bool:
		return "bool"
	case int, int64:
		return "int"
	}
	return "string"
}

// set parses text into o.
func (s setting) set(o *options, text string) error {
	v := s.in(o)
	switch s.kind() {
	case "duration":
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("want a time such as 10s or 2m")
		}
		v.SetInt(int64(d))
	case "bool":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("want true or false")
		}
		v.SetBool(b)
	case "int":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("want a whole number")
		}
		v.SetInt(n)
	default:
		v.SetString(text)
	}
	return nil
}

// text is the value in o.
func (s setting) text(o options) string { return fmt.Sprint(s.in(&o).Interface()) }

// shown is the value in o as a TOML value, if it may be shown.
func (s setting) shown(o options) string {
	switch {
	case s.secret && s.text(o) != "":
		return `"(hidden)"`
	case s.kind() == "string" || s.kind() == "duration":
		return strconv.Quote(s.text(o))
	}
	return s.text(o)
}

// logLevels are the values of --log-level.
var logLevels = map[string]zerolog.Level{
	"debug": zerolog.DebugLevel, "info": zerolog.InfoLevel, "warn": zerolog.WarnLevel, "error": zerolog.ErrorLevel,
}
