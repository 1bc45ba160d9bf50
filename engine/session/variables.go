package session

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner"
)

// CollectionLowN is the variable that says what functions over collections answer from too few reports.
const CollectionLowN = "dp_collection_low_n"

// NullIfFew reports whether they answer NULL.
func NullIfFew(ctx *sql.Context) bool {
	s, ok := From(ctx)
	if !ok {
		return false
	}
	v, _ := s.Parameter(CollectionLowN)
	return v == "null"
}

// Variable documents one of our session variables. docs/reference.md is made from Variables.
type Variable struct {
	Name    string
	Default any
	Range   string
	Doc     string
}

// Variables lists our session variables.
var Variables = []Variable{
	{"dp_epsilon", 0.0, "1e-6 to 100", "The ε of one statement on each protected table that it touches. 0, the initial value, means: the table's default."},
	{"dp_delta", 0.0, "1e-30 to 0.001", "The δ of one statement. 0, the initial value, means: the table's default."},
	{"dp_rho", 0.0, "1e-12 to 1000", "The zCDP loss ρ of one statement, instead of dp_epsilon. Setting one of the two unsets the other."},
	{"dp_max_groups_contributed", int64(0), "1 to 100000", "The number of groups to which one person may contribute. 0, the initial value, means: the table's default."},
	{"dp_group_by", "", "auto, vector, separate", "How a GROUP BY is answered: vector: counts, sums and means of all groups in one release, in which no person is left out of any group; separate: each group by itself, with the groups of a person bounded by dp_max_groups_contributed; auto: what promises the smaller error. Empty, the initial value, means: the table's default, else auto."},
	{"dp_method", "", "auto, clipped, shifted, plan, coinpress, person, friendly, cover", "The method of means; person and cover are for numbers, too, the others for vectors; the option method goes before it. Empty, the initial value, means: the table's default, else auto."},
	{"dp_target_error", 0.0, "1e-9 to 1e18", "The error that every aggregate without a cost of its own is asked to have, in the place of dp_epsilon: the standard deviation of its noise. Its cost is solved for before anything is spent. 0, the initial value, means: none."},
	{"dp_pilot", 0.0, "0.001 to 1", "The share of a statement's usual cost that a first run may be charged, where only an answer tells what dp_target_error costs. 0, the initial value, means: no pilot."},
	{"dp_rewrite", int8(1), "ON, OFF", "Whether plain SQL aggregates on protected tables are rewritten to their DP forms, or refused."},
	{"dp_preview", "refuse", "refuse, empty", "What the preview of a protected table (SELECT columns FROM t … LIMIT n, without an aggregate) gets: an error, or no rows and a warning, for tools that read the names of columns so. No row is read either way. A DBA may SET GLOBAL it for sessions to come."},
	{CollectionLowN, "refuse", "refuse, null", "What LDP_ and SHUFFLE_ functions answer while a collection has fewer reports than its protocol needs: an error, or NULL and a warning."},
	{"dp_raw", int8(0), "ON, OFF", "Whether a DBA's session may read raw rows of protected tables. Switching it on is recorded in the ledger."},
}

var register sync.Once

// RegisterVariables makes our variables known to GMS. It must run before the first session starts;
// only the first call does anything.
func RegisterVariables() {
	register.Do(func() {
		vars := make([]sql.SystemVariable, len(Variables))
		for i, v := range Variables {
			vars[i] = &sql.MysqlSystemVariable{
				Name:              v.Name,
				Scope:             sql.GetMysqlScope(scopeOf(v)),
				Dynamic:           true,
				SetVarHintApplies: v.Name != "dp_raw",
				Type:              variableType(v),
				Default:           v.Default,
			}
		}
		sql.SystemVariables.AddSystemVariables(vars)
		registerMySQL()
	})
}

// scopeOf is the scope of a variable: what touches no budget and no rows may be set for all sessions to come.
func scopeOf(v Variable) sql.MysqlSVScopeType {
	if v.Name == "dp_preview" {
		return sql.SystemVariableScope_Both
	}
	return sql.SystemVariableScope_Session
}

func variableType(v Variable) sql.Type {
	switch v.Default.(type) {
	case float64:
		return types.NewSystemDoubleType(v.Name, 0, math.MaxFloat64)
	case int64:
		return types.NewSystemIntType(v.Name, 0, planner.MaxMaxGroups, false)
	case string:
		if v.Name == planner.ParamPreview {
			return types.NewSystemEnumType(v.Name, "refuse", "empty")
		}
		if v.Name == CollectionLowN {
			return types.NewSystemEnumType(v.Name, "refuse", "null")
		}
		return types.NewSystemStringType(v.Name)
	default:
		return types.NewSystemBoolType(v.Name)
	}
}

// IsVariable reports whether name (lower case) is one of our variables.
func IsVariable(name string) bool {
	for _, v := range Variables {
		if v.Name == name {
			return true
		}
	}
	return false
}

// CheckVariable returns the value under which a setting of one of our variables is kept, or the
// refusal: NaN, ±Inf, zero, negative numbers, text, NULL and what is out of range are refused.
// name is lower case.
func CheckVariable(ctx *sql.Context, name string, value any) (any, error) {
	switch name {
	case "dp_epsilon":
		return checkReal(ctx, name, value, planner.MinEpsilon, planner.MaxEpsilon)
	case "dp_delta":
		return checkReal(ctx, name, value, planner.MinDelta, planner.MaxDelta)
	case "dp_rho":
		return checkReal(ctx, name, value, planner.MinRho, planner.MaxRho)
	case "dp_target_error":
		return checkReal(ctx, name, value, planner.MinTargetError, planner.MaxTargetError)
	case "dp_pilot":
		return checkReal(ctx, name, value, planner.MinPilot, 1)
	case "dp_max_groups_contributed":
		x, err := checkReal(ctx, name, value, 1, planner.MaxMaxGroups)
		if err != nil {
			return nil, err
		}
		if f := x.(float64); f == math.Trunc(f) {
			return int64(f), nil
		}
		return nil, badValue(name, value, fmt.Sprintf("a whole number from 1 to %d", planner.MaxMaxGroups))
	case "dp_method":
		text, ok := value.(string)
		if ok && text == "" || functions.IsMethod(strings.ToLower(text)) {
			return strings.ToLower(text), nil
		}
		return nil, badValue(name, value, functions.MethodList+", or '' for the table's default")
	case "dp_group_by":
		text, ok := value.(string)
		if ok && text == "" || planner.ValidGroupBy(strings.ToLower(text)) {
			return strings.ToLower(text), nil
		}
		return nil, badValue(name, value, "auto, vector, separate, or '' for the table's default")
	case "dp_preview":
		text, ok := value.(string)
		if text = strings.ToLower(text); ok && planner.ValidPreview(text) {
			return text, nil
		}
		return nil, badValue(name, value, "refuse or empty")
	case CollectionLowN:
		text, ok := value.(string)
		if text = strings.ToLower(text); ok && (text == "refuse" || text == "null") {
			return text, nil
		}
		return nil, badValue(name, value, "refuse or null")
	case "dp_rewrite", "dp_raw":
		return checkSwitch(ctx, name, value)
	}
	return nil, sql.ErrUnknownSystemVariable.New(name)
}

func checkReal(ctx *sql.Context, name string, value any, lo, hi float64) (any, error) {
	want := fmt.Sprintf("a number from %g to %g", lo, hi)
	switch value.(type) {
	case nil, string, []byte, bool:
		return nil, badValue(name, value, want)
	}
	c, in, err := types.Float64.Convert(ctx, value)
	if err != nil || in != sql.InRange {
		return nil, badValue(name, value, want)
	}
	f, ok := c.(float64)
	if !ok || math.IsNaN(f) || !(f >= lo && f <= hi) {
		return nil, badValue(name, value, want)
	}
	return f, nil
}

func checkSwitch(_ *sql.Context, name string, value any) (any, error) {
	switch strings.ToUpper(fmt.Sprint(value)) {
	case "1", "ON", "TRUE":
		return int8(1), nil
	case "0", "OFF", "FALSE":
		return int8(0), nil
	}
	return nil, badValue(name, value, "ON or OFF")
}

func badValue(name string, value any, want string) error {
	have := "NULL"
	switch v := value.(type) {
	case nil:
	case string:
		have = fmt.Sprintf("%q", truncate(v))
	case []byte:
		have = fmt.Sprintf("%q", truncate(string(v)))
	default:
		have = truncate(fmt.Sprint(v))
	}
	return refuse.New(refuse.Parameter, "%s is %s.", name, have).With("Set it to %s.", want)
}

func truncate(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

// SetSessionVariable implements sql.Session: our variables are checked before they change, and
// turning autocommit on commits what is open.
func (s *Session) SetSessionVariable(ctx *sql.Context, name string, value any) error {
	switch lower := strings.ToLower(name); {
	case IsVariable(lower):
		return s.setOwn(ctx, lower, value)
	case lower == sql.AutoCommitSessionVar:
		if err := s.BaseSession.SetSessionVariable(ctx, name, value); err != nil {
			return err
		}
		return s.autocommitChanged(ctx)
	case twins[lower] != "":
		if err := s.BaseSession.SetSessionVariable(ctx, twins[lower], value); err != nil {
			return err
		}
		return s.BaseSession.SetSessionVariable(ctx, name, value)
	default:
		return s.BaseSession.SetSessionVariable(ctx, name, value)
	}
}

func (s *Session) autocommitChanged(ctx *sql.Context) error {
	v, err := s.GetSessionVariable(ctx, sql.AutoCommitSessionVar)
	if err != nil {
		return err
	}
	on, err := sql.ConvertToBool(ctx, v)
	if err != nil || ctx.GetIgnoreAutoCommit() {
		return err
	}
	if !on {
		// The statement's own transaction commits by itself; the next one begins a lasting one.
		s.SetTransaction(nil)
		return nil
	}
	if err := s.CommitTransaction(ctx, s.GetTransaction()); err != nil {
		return err
	}
	s.SetTransaction(nil)
	return nil
}

func (s *Session) setOwn(ctx *sql.Context, name string, value any) error {
	// SET x = DEFAULT arrives as the default value; a 0 that was typed is refused below.
	if value == defaultOf(name) && strings.Contains(strings.ToUpper(ctx.Query()), "DEFAULT") {
		return s.BaseSession.SetSessionVariable(ctx, name, value)
	}
	v, err := CheckVariable(ctx, name, value)
	if err != nil {
		return err
	}
	if name == "dp_raw" && v == int8(1) && !s.Raw() {
		if !s.isDBA(ctx) {
			return refuse.New(refuse.NotDBA, "dp_raw may be switched on by a DBA only.")
		}
		if err := s.opts.NoteRaw(ctx, s.Principal()); err != nil {
			return err
		}
	}
	if err := s.BaseSession.SetSessionVariable(ctx, name, v); err != nil {
		return err
	}
	switch name {
	case "dp_epsilon":
		return s.BaseSession.SetSessionVariable(ctx, "dp_rho", 0.0)
	case "dp_rho":
		return s.BaseSession.SetSessionVariable(ctx, "dp_epsilon", 0.0)
	}
	return nil
}

func defaultOf(name string) any {
	for _, v := range Variables {
		if v.Name == name {
			return v.Default
		}
	}
	return nil
}

func (s *Session) own(name string) any {
	v, err := s.GetSessionVariable(nil, name)
	if err != nil {
		return defaultOf(name)
	}
	return v
}

// Raw reports whether the session may read raw rows of protected tables.
func (s *Session) Raw() bool { return s.own("dp_raw") == int8(1) }

// Raw reports whether the session in ctx may read raw rows of protected tables: dp_raw is on and the
// account is still a DBA.
func Raw(ctx *sql.Context) bool {
	s, ok := From(ctx)
	return ok && s.Raw() && s.isDBA(ctx)
}

// Parameter returns one of the session's own variables; set is false where the client leaves the
// choice to the table's defaults.
func (s *Session) Parameter(name string) (value any, set bool) {
	if !IsVariable(name) {
		return nil, false
	}
	v := s.own(name)
	switch v {
	case 0.0, int64(0), "":
		return nil, false
	}
	return v, true
}
