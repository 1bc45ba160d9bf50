package engine

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"scrim/engine/store/duckdb"
	"scrim/internal/quota"
)

// limits bounds the sessions of a server. It makes the pool that they share.
func (c Config) limits() *quota.Limits {
	return &quota.Limits{
		Statement:  c.StatementMemory << 20,
		Connection: c.ConnectionMemory << 20,
		Pool:       quota.NewPool(c.SessionsMemory << 20),
	}
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
