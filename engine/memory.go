package engine

import "scrim/internal/quota"

// memory is one of the bounds of what connections hold.
type memory struct {
	field    string
	value    *int64
	standard int64
	of       string
}

// memories lists them, the smaller before those that hold it.
func (c *Config) memories() []memory {
	d := DefaultConfig("")
	return []memory{
		{"StatementMemory", &c.StatementMemory, d.StatementMemory, "a statement"},
		{"ConnectionMemory", &c.ConnectionMemory, d.ConnectionMemory, "a connection"},
		{"SessionsMemory", &c.SessionsMemory, d.SessionsMemory, "all connections"},
	}
}

func (c Config) checkMemories(bad func(field, format string, args ...any)) {
	least, of := int64(1), ""
	for _, m := range c.memories() {
		switch {
		case *m.value < least && of != "":
			bad(m.field, "want at least as much memory for %s as for %s, %d MiB, have %d MiB", m.of, of, least, *m.value)
		case *m.value < least || *m.value > 1<<24:
			bad(m.field, "want 1 MiB to 16 TiB of memory for %s, have %d MiB", m.of, *m.value)
		}
		least, of = max(*m.value, 1), m.of
	}
}

// limits bounds the sessions of a server. It makes the pool that they share.
func (c Config) limits() *quota.Limits {
	return &quota.Limits{
		Statement:  c.StatementMemory << 20,
		Connection: c.ConnectionMemory << 20,
		Pool:       quota.NewPool(c.SessionsMemory << 20),
	}
}
