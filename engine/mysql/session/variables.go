package session

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	_ "github.com/dolthub/go-mysql-server/sql/variables" // makes sql.SystemVariables

	"scrim/accounting/privacy"
	"scrim/internal/collation"
	"scrim/internal/params"
	"scrim/internal/refuse"
)

// NullIfFew reports whether functions over collections answer NULL from too few reports.
func NullIfFew(ctx *sql.Context) bool {
	s, ok := From(ctx)
	if !ok {
		return false
	}
	v, _ := s.Parameter(params.CollectionLowN)
	return v.Word == params.LowNNull
}

var register sync.Once

// RegisterVariables makes our variables known to GMS. It must run before the first session starts;
// only the first call does anything.
func RegisterVariables() {
	register.Do(func() {
		var vars []sql.SystemVariable
		for _, p := range params.At(params.Session) {
			vars = append(vars, &sql.MysqlSystemVariable{
				Name:              p.Name,
				Scope:             sql.GetMysqlScope(scopeOf(p)),
				Dynamic:           true,
				SetVarHintApplies: p != params.Raw,
				Type:              variableType(p),
				Default:           p.Initial,
			})
		}
		sql.SystemVariables.AddSystemVariables(vars)
		registerMySQL()
	})
}

// scopeOf is the scope of a variable: what touches no budget and no rows may be set for all
// sessions to come.
func scopeOf(p *params.Parameter) sql.MysqlSVScopeType {
	if p.Places&params.Global != 0 {
		return sql.SystemVariableScope_Both
	}
	return sql.SystemVariableScope_Session
}

func variableType(p *params.Parameter) sql.Type {
	switch {
	case p.Kind == params.Switch:
		return types.NewSystemBoolType(p.Name)
	case p.Kind == params.Words && p.Initial == "":
		return types.NewSystemStringType(p.Name)
	case p.Kind == params.Words:
		return types.NewSystemEnumType(p.Name, p.Words...)
	case p.Whole:
		return types.NewSystemIntType(p.Name, 0, int64(p.Max), false)
	}
	return types.NewSystemDoubleType(p.Name, 0, math.MaxFloat64)
}

// variable finds one of our variables by its name in lower case.
func variable(name string) (*params.Parameter, bool) { return params.ByName(name, params.Session) }

// checked returns the value under which a setting of one of our variables is kept, or the refusal:
// NaN, ±Inf, zero, negative numbers, NULL, what is out of range and what is of another kind are
// refused.
func checked(ctx *sql.Context, p *params.Parameter, value any) (any, error) {
	switch p.Kind {
	case params.Switch:
		if v, ok := p.Read(fmt.Sprint(value)); ok {
			return stored(p, v), nil
		}
	case params.Words:
		text, ok := value.(string)
		if ok && text == p.Initial {
			return text, nil
		}
		if v, is := p.Word(text); ok && is {
			return v.Word, nil
		}
	default:
		if v, ok := number(ctx, p, value); ok {
			return stored(p, v), nil
		}
	}
	want := p.Want()
	if p.Initial == "" {
		want += ", or '' for the table's default"
	}
	return nil, badValue(p.Name, value, want)
}

// number reads a number that is no text.
func number(ctx *sql.Context, p *params.Parameter, value any) (params.Value, bool) {
	switch value.(type) {
	case nil, string, []byte, bool:
		return params.Value{}, false
	}
	c, in, err := types.Float64.Convert(ctx, value)
	f, ok := c.(float64)
	if err != nil || in != sql.InRange || !ok {
		return params.Value{}, false
	}
	return p.Number(f)
}

// stored is a value in the type of its variable.
func stored(p *params.Parameter, v params.Value) any {
	switch {
	case p.Kind == params.Words:
		return v.Word
	case p.Kind == params.Switch && v.On():
		return int8(1)
	case p.Kind == params.Switch:
		return int8(0)
	case p.Whole:
		return int64(v.Number)
	}
	return v.Number
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
	lower := strings.ToLower(name)
	if p, ok := variable(lower); ok {
		return s.setOwn(ctx, p, value)
	}
	switch {
	case strings.HasPrefix(lower, "character_set_"):
		set, err := sql.ParseCharacterSet(fmt.Sprint(value))
		switch {
		case lower == "character_set_results": // which go-mysql-server writes
		case value == nil:
			return sql.ErrInvalidSystemVariableValue.New(name, "NULL")
		case err == nil && !collation.SupportedCharset(set):
			return collation.Check(set.DefaultCollation())
		}
		return s.BaseSession.SetSessionVariable(ctx, name, value)
	case strings.HasPrefix(lower, "collation_"):
		if c, err := sql.ParseCollation("", fmt.Sprint(value), false); err == nil {
			if err := collation.Check(c); err != nil {
				return err
			}
		}
		return s.BaseSession.SetSessionVariable(ctx, name, value)
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

func (s *Session) setOwn(ctx *sql.Context, p *params.Parameter, value any) error {
	// SET x = DEFAULT arrives as the default value; a 0 that was typed is refused below.
	if value == p.Initial && strings.Contains(strings.ToUpper(ctx.Query()), "DEFAULT") {
		return s.BaseSession.SetSessionVariable(ctx, p.Name, value)
	}
	v, err := checked(ctx, p, value)
	if err != nil {
		return err
	}
	if p == params.Raw && v == int8(1) && !s.Raw() {
		if !s.isDBA(ctx) {
			return refuse.New(refuse.NotDBA, "dp_raw may be switched on by a DBA only.")
		}
		if err := s.opts.NoteRaw(ctx, s.Principal()); err != nil {
			return err
		}
	}
	if err := s.BaseSession.SetSessionVariable(ctx, p.Name, v); err != nil {
		return err
	}
	switch p {
	case params.Epsilon:
		return s.BaseSession.SetSessionVariable(ctx, params.Rho.Name, params.Rho.Initial)
	case params.Rho:
		return s.BaseSession.SetSessionVariable(ctx, params.Epsilon.Name, params.Epsilon.Initial)
	}
	return nil
}

func (s *Session) own(p *params.Parameter) any {
	v, err := s.BaseSession.GetSessionVariable(nil, p.Name)
	if err != nil {
		return p.Initial
	}
	return v
}

// inForce is what SELECT @@name shows: what the session sets, else what holds where no table has a
// default. Of dp_epsilon and dp_rho, the one that is not set is the other one's equal at dp_delta.
func (s *Session) inForce(p *params.Parameter) any {
	v := s.own(p)
	if v != p.Initial {
		return v
	}
	delta := func() privacy.Delta { d, _ := s.inForce(params.Delta).(float64); return privacy.Delta(d) }
	switch p {
	case params.Epsilon:
		if rho, set := s.Parameter(params.Rho); set {
			return float64(privacy.EpsilonOf(privacy.Loss{Rho: privacy.RhoOf(rho.Number)}, delta()))
		}
	case params.Rho:
		epsilon, _ := s.inForce(params.Epsilon).(float64)
		return privacy.RhoFor(privacy.Epsilon(epsilon), delta()).Float()
	}
	return p.BuiltIn()
}

// Raw reports whether the session may read raw rows of protected tables.
func (s *Session) Raw() bool { return s.own(params.Raw) == int8(1) }

// Raw reports whether the session in ctx may read raw rows of protected tables: dp_raw is on and
// the account is still a DBA.
func Raw(ctx *sql.Context) bool {
	s, ok := From(ctx)
	return ok && s.Raw() && s.isDBA(ctx)
}

// Parameter returns one of the session's own variables; set is false where the client leaves the
// choice to the table's defaults.
func (s *Session) Parameter(p *params.Parameter) (value params.Value, set bool) {
	switch v := s.own(p).(type) {
	case float64:
		return params.Value{Number: v}, v != 0
	case int64:
		return params.Value{Number: float64(v)}, v != 0
	case string:
		return params.Value{Word: v}, v != ""
	case int8:
		return p.Switch(v == 1)
	}
	return params.Value{}, false
}

// CharacterSetClient is the character set that the client writes in.
func (s *Session) CharacterSetClient() sql.CharacterSetID {
	v, _ := s.GetSessionVariable(nil, "character_set_client")
	name, _ := v.(string)
	set, err := sql.ParseCharacterSet(name)
	if err != nil || set == sql.CharacterSet_Unspecified {
		return sql.CharacterSet_utf8mb4
	}
	return set
}

// CharacterSetResults is the character set that the client reads, unspecified where it wants texts
// as they are stored.
func (s *Session) CharacterSetResults() sql.CharacterSetID {
	return s.BaseSession.GetCharacterSetResults()
}

// GetCharacterSetResults implements sql.Session. Where the client reads a narrow set,
// go-mysql-server, which fails a statement at the first character that a set does not have, writes
// UTF-8, and package result what the client reads.
func (s *Session) GetCharacterSetResults() sql.CharacterSetID {
	if c := s.CharacterSetResults(); !collation.Narrow(c) {
		return c
	}
	return sql.CharacterSet_utf8mb4
}
