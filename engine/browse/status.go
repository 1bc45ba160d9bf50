package browse

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// told are the counters of the whole server that every account may see: they follow from
// connections, and from no row. The others count statements and bytes, which at an importer are
// rows, or the size of what a DBA reads.
var told = map[string]bool{
	"uptime": true, "uptime_since_flush_status": true, "threads_connected": true, "threads_running": true, "connections": true, "max_used_connections": true,
	"aborted_connects": true,
}

// counted are the counters that the server keeps. All others of MySQL's have their initial value.
var counted = map[string]bool{
	"queries": true, "questions": true, "com_select": true, "com_insert": true, "com_update": true, "com_delete": true, "slow_queries": true,
}

// status lists the status variables by their names, each once. What is not told of all is the
// session's own.
func (s *Server) status(ctx *sql.Context, all bool) []Variable {
	server := sql.StatusVariables.NewGlobalMap()
	own := ctx.Session.GetAllStatusVariables(ctx)
	mayAll := s.All(ctx)
	values := map[string]any{}
	names := map[string]string{} // by what a client makes of them
	add := func(from map[string]sql.StatusVarValue, take func(lower string) bool) {
		for _, n := range sorted(from) {
			v, key := from[n], strings.ToLower(strings.ReplaceAll(n, ".", "_"))
			if known, ok := names[key]; ok && (known != n || !take(key)) {
				continue
			}
			names[key] = n
			values[key] = v.Value()
			if _, counter := values[key].(uint64); counter && !take(key) {
				values[key] = uint64(0)
			}
		}
	}
	add(server, func(k string) bool { return told[k] || counted[k] && all && mayAll })
	add(own, func(k string) bool { return !told[k] && counted[k] && !(all && mayAll) })
	s.extra(ctx, all && mayAll, names, values)
	list := make([]Variable, 0, len(names))
	for key, n := range names {
		list = append(list, Variable{n, values[key]})
	}
	sortVariables(list)
	return list
}

// extra adds what go-mysql-server does not count.
func (s *Server) extra(ctx *sql.Context, all bool, names map[string]string, values map[string]any) {
	set := func(name string, v any) {
		key := strings.ToLower(name)
		if _, ok := names[key]; !ok {
			names[key] = name
		}
		values[key] = v
	}
	if s.Traffic != nil {
		received, sent := s.Traffic(ctx, all)
		set("Bytes_received", received)
		set("Bytes_sent", sent)
	}
	// Clients divide by it.
	uptime := uint64(1 + time.Since(s.started)/time.Second)
	set("Uptime", uptime)
	set("Uptime_since_flush_status", uptime)
	// Statements that were prepared and those of the protocol count as both.
	set("Queries", max(number64(values["queries"]), number64(values["questions"]), 1))
	set("Questions", max(number64(values["questions"]), 1))
	set("Threads_created", number64(values["connections"]))
	cipher, version := s.tls(ctx)
	set("Ssl_cipher", cipher)
	set("Ssl_version", version)
}

func (s *Server) tls(ctx *sql.Context) (cipher, version string) {
	if s.TLS == nil {
		return "", ""
	}
	return s.TLS(ctx)
}

func number64(v any) uint64 {
	n, _ := v.(uint64)
	return n
}
