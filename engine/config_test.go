package engine

import (
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	good := DefaultConfig(t.TempDir())
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   []string // nil when it is fine
	}{
		{"defaults", func(*Config) {}, nil},
		{"zero values", func(c *Config) { *c = Config{DataDir: c.DataDir} }, nil},
		{"memory", func(c *Config) { c.MemoryLimit = "1.5GiB" }, nil},
		{"no directory", func(c *Config) { c.DataDir = "" }, []string{"data directory"}},
		{"listen", func(c *Config) { c.Listen = "nowhere" }, []string{"host:port"}},
		{"port", func(c *Config) { c.Listen = "127.0.0.1:70000" }, []string{"port"}},
		{"half a certificate", func(c *Config) { c.TLSCert = "x" }, []string{"both"}},
		{"no such certificate", func(c *Config) { c.TLSCert, c.TLSKey = "x", "y" }, []string{"certificate"}},
		{"memory text", func(c *Config) { c.MemoryLimit = "lots'; SET x" }, []string{"memory"}},
		{"everything", func(c *Config) {
			*c = Config{Listen: "x", TLSCert: "x", Threads: -1, MemoryLimit: "x", MaxConnections: -1, CollationServer: "utf8mb4_danish_ci", StatementTime: time.Millisecond, AuthTimeout: time.Nanosecond, MaxPreAuthPacket: 1, MaxPacket: 1}
		}, []string{"data directory", "host:port", "both", "threads", "memory", "connections", "statement time", "login timeout", "login packet", "packet limit", "collation utf8mb4_danish_ci"}},
	} {
		cfg := good
		c.change(&cfg)
		err := cfg.Validate()
		if c.want == nil && err != nil {
			t.Errorf("%s: got %v, want no problem", c.name, err)
		}
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got %v, want a problem with %q", c.name, err, w)
			}
		}
	}
}

func TestStoreMemory(t *testing.T) {
	for limit, want := range map[string]int64{"": 1 << 30, "800MB": 800_000_000, "1.5GiB": 3 << 29, "64 KB": 64000, "2TiB": 2 << 40} {
		if got := (Config{MemoryLimit: limit}).storeMemory(); got != want {
			t.Errorf("%q: got %d bytes, want %d", limit, got, want)
		}
	}
}
