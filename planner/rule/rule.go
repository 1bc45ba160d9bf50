// Package rule names the refusals of the planner. Tests know each by its rule, and a script takes
// one rule out at a time. The public text of a refusal is package refuse's.
package rule

import (
	"errors"
	"fmt"

	"scrim/internal/refuse"
)

// Rule names one refusal of the planner. The names are stable: tests assert on each, and a script
// takes one rule out at a time to see a test fail.
type Rule string

// The refusal rules.
const (
	Undeclared      Rule = "undeclared-table"
	PolicyEntity    Rule = "policy-entity"
	PolicyLink      Rule = "policy-link"
	PolicyUnit      Rule = "policy-unit"
	RawRows         Rule = "raw-rows"
	UnitKey         Rule = "unit-key"
	Distinct        Rule = "distinct"
	Limit           Rule = "limit"
	Window          Rule = "window"
	Correlated      Rule = "correlated"
	Subquery        Rule = "subquery"
	Recursive       Rule = "recursive"
	Node            Rule = "node"
	Lateral         Rule = "lateral"
	JoinUnit        Rule = "join-unit"
	JoinEntity      Rule = "join-entity"
	JoinKind        Rule = "join-kind"
	Owners          Rule = "owners"
	OwnersAggregate Rule = "owners-aggregate"
	OwnersKeys      Rule = "owners-keys"
	JoinAnswer      Rule = "join-answer"
	JoinForeign     Rule = "join-foreign"
	UnionDistinct   Rule = "union-distinct"
	UnionPublic     Rule = "union-public"
	UnionEntity     Rule = "union-entity"
	UnionRow        Rule = "union-row"
	UnionTypes      Rule = "union-types"
	InnerAggregate  Rule = "inner-aggregate"
	Expression      Rule = "expression"
	Aggregate       Rule = "aggregate"
	DistinctArg     Rule = "distinct-argument"
	Argument        Rule = "argument"
	Option          Rule = "option"
	Bar             Rule = "error-bar"
	RewriteOff      Rule = "rewrite-off"
	GroupSize       Rule = "group-size"
	GroupKey        Rule = "group-key"
	GroupDelta      Rule = "group-delta"
	Parameter       Rule = "parameter"
	Target          Rule = "target-error"
	EpsilonCap      Rule = "epsilon-cap"
	EpsilonShare    Rule = "epsilon-share"
	Hint            Rule = "hint"
	Context         Rule = "context"
	ExplainAnalyze  Rule = "explain-analyze"
	Into            Rule = "into"
	Write           Rule = "write"
	CreateSelect    Rule = "create-select"
	UserVariable    Rule = "user-variable"
	Statistics      Rule = "statistics"
	Domain          Rule = "domain"
	Memory          Rule = "memory"
	Pure            Rule = "pure"
	TooManyReleases Rule = "too-many-releases"
	Sample          Rule = "simulation-source"
	View            Rule = "view"
)

// Disabled is the rule that tests take out; empty outside tests.
var Disabled Rule

// errTakenOut is what a rule that tests took out returns in place of its refusal.
var errTakenOut = errors.New("planner: the refusal rule is taken out")

// Deny refuses by a rule. The remedy, a query or statement that would work, may be empty: then the
// table of codes has it.
func Deny(r Rule, code refuse.Code, remedy, format string, args ...any) error {
	if r == Disabled {
		return errTakenOut
	}
	return &refusal{rule: r, err: &refuse.Error{Code: code, Cause: fmt.Sprintf(format, args...), Remedy: remedy}}
}

// refusal carries the rule beside the public error, which it unwraps to.
type refusal struct {
	rule Rule
	err  *refuse.Error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// Of returns the rule that refused, "" for an error of another kind.
func Of(err error) Rule {
	var r *refusal
	if errors.As(err, &r) {
		return r.rule
	}
	return ""
}

// By gives a refusal of another package its rule; other errors come back as they are.
func By(r Rule, err error) error {
	if e, ok := refuse.As(err); ok {
		return Deny(r, e.Code, e.Remedy, "%s", e.Cause)
	}
	return err
}
