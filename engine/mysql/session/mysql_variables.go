package session

import (
	"math"
	"runtime"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/params"
	"scrim/internal/quota"
)

// missing are variables of MySQL that clients read or set and go-mysql-server lacks. Setting one
// has no effect but to be read again, as is fit for what the server has nothing of: profiles, an
// InnoDB, a query cache.
var missing = []struct {
	name    string
	value   any // its type is the variable's
	settles bool
}{
	{"authentication_policy", "*,,", false},
	{"connection_memory_limit", int64(math.MaxInt64), true},
	{"error_count", int64(0), false},
	{"have_openssl", "YES", false},
	{"have_profiling", "NO", false},
	{"have_query_cache", "NO", false},
	{"have_ssl", "YES", false},
	{"identity", int64(0), true},
	{"innodb_data_home_dir", "", false},
	{"innodb_file_per_table", int8(1), false},
	{"innodb_flush_log_at_trx_commit", int64(1), false},
	{"innodb_lock_wait_timeout", int64(50), true},
	{"innodb_log_file_size", int64(50331648), false},
	{"innodb_log_files_in_group", int64(2), false},
	{"innodb_page_size", int64(16384), false},
	{"innodb_read_only", int8(0), false},
	{"innodb_stats_on_metadata", int8(0), false},
	{"innodb_strict_mode", int8(1), true},
	{"innodb_version", "8.0.36", false},
	{"log_bin_trust_function_creators", int8(0), false},
	{"old_passwords", int64(0), true},
	{"optimizer_switch", "", true},
	{"profiling", int8(0), true},
	{"profiling_history_size", int64(15), true},
	{"query_alloc_block_size", int64(8192), true},
	{"query_cache_limit", int64(0), false},
	{"query_prealloc_size", int64(8192), true},
	{"server_id_bits", int64(32), false},
	{"set_operations_buffer_size", int64(262144), true},
	{"sql_generate_invisible_primary_key", int8(0), true},
	{"storage_engine", "InnoDB", true},
	{"sync_binlog", int64(1), false},
	{"terminology_use_previous", "NONE", true},
	{"thread_stack", int64(1048576), false},
	{"warning_count", int64(0), false},
	{"xa_detach_on_prepare", int8(1), true},
}

// mended are variables whose initial value in go-mysql-server is not true of this server. Names are
// kept in lower case and compared without case (lower_case_table_names = 1), and connections have
// no idle time limit: wait_timeout is MySQL's largest.
var mended = map[string]any{
	"event_scheduler":         "OFF",
	"interactive_timeout":     int64(31536000),
	"lc_time_names":           "en_US",
	"lower_case_table_names":  int64(1),
	"protocol_version":        int64(10),
	"query_cache_size":        int64(0),
	"socket":                  "",
	"tls_version":             "TLSv1.2,TLSv1.3",
	"version_compile_machine": machine(),
	"version_compile_os":      strings.ToUpper(runtime.GOOS[:1]) + runtime.GOOS[1:],
	"wait_timeout":            int64(31536000),
}

func machine() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return runtime.GOARCH
}

// registerMySQL adds what is missing, and mends what is wrong.
func registerMySQL() {
	vars := make([]sql.SystemVariable, len(missing))
	for i, m := range missing {
		vars[i] = &sql.MysqlSystemVariable{
			Name: m.name, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: m.settles, SetVarHintApplies: m.settles,
			Type: typeOf(m.name, m.value), Default: m.value,
		}
	}
	sql.SystemVariables.AddSystemVariables(vars)
	if err := sql.SystemVariables.AssignValues(mended); err != nil {
		panic("session: system variables: " + err.Error()) // names and types are fixed
	}
}

func typeOf(name string, value any) sql.Type {
	switch value.(type) {
	case int64:
		return types.NewSystemIntType(name, 0, math.MaxInt64, false)
	case int8:
		return types.NewSystemBoolType(name)
	}
	return types.NewSystemStringType(name)
}

// twins are the two names that MySQL 5.7's clients and 8.0's have for the same thing.
var twins = map[string]string{
	"tx_isolation": "transaction_isolation", "transaction_isolation": "tx_isolation",
	"tx_read_only": "transaction_read_only", "transaction_read_only": "tx_read_only",
}

// GetSessionVariable implements sql.Session: some variables of MySQL's tell of the statement
// before, and our own show what is in force.
func (s *Session) GetSessionVariable(ctx *sql.Context, name string) (any, error) {
	lower := strings.ToLower(name)
	if p, ok := variable(lower); ok {
		return s.inForce(p), nil
	}
	switch lower {
	case "identity":
		return s.BaseSession.GetSessionVariable(ctx, "last_insert_id")
	case "warning_count":
		return s.diagnostics.warnings, nil
	case "error_count":
		return s.diagnostics.errors, nil
	}
	return s.BaseSession.GetSessionVariable(ctx, name)
}

// GetAllSessionVariables implements sql.Session, as GetSessionVariable.
func (s *Session) GetAllSessionVariables() map[string]any {
	all := s.BaseSession.GetAllSessionVariables()
	for _, p := range params.At(params.Session) {
		all[p.Name] = s.inForce(p)
	}
	return all
}

// variableSize is what a user variable takes besides its name and its value.
const variableSize = 128

// GetUserVariable implements sql.Session. A statement that reads variables over and over ends with
// its context.
func (s *Session) GetUserVariable(ctx *sql.Context, name string) (sql.Type, any, error) {
	if ctx != nil && ctx.Context != nil {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return s.BaseSession.GetUserVariable(ctx, name)
}

// SetUserVariable implements sql.Session: the session's account keeps the value.
func (s *Session) SetUserVariable(ctx *sql.Context, name string, value any, t sql.Type) error {
	_, old, err := s.BaseSession.GetUserVariable(ctx, name)
	if err != nil {
		return err
	}
	if err := s.quota.Keep(kept(name, value) - kept(name, old)); err != nil {
		return err
	}
	return s.BaseSession.SetUserVariable(ctx, name, value, t)
}

// kept is what a variable takes; a name that has no value yet is taken for one without.
func kept(name string, value any) int64 {
	if value == nil {
		return 0
	}
	return variableSize + int64(len(name)) + quota.Size(value)
}
