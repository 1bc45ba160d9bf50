package planner

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
	RuleUndeclared      Rule = "undeclared-table"
	RulePolicyEntity    Rule = "policy-entity"
	RulePolicyLink      Rule = "policy-link"
	RulePolicyUnit      Rule = "policy-unit"
	RuleRawRows         Rule = "raw-rows"
	RuleUnitKey         Rule = "unit-key"
	RuleDistinct        Rule = "distinct"
	RuleLimit           Rule = "limit"
	RuleWindow          Rule = "window"
	RuleCorrelated      Rule = "correlated"
	RuleSubquery        Rule = "subquery"
	RuleRecursive       Rule = "recursive"
	RuleNode            Rule = "node"
	RuleLateral         Rule = "lateral"
	RuleJoinUnit        Rule = "join-unit"
	RuleJoinEntity      Rule = "join-entity"
	RuleJoinKind        Rule = "join-kind"
	RuleJoinAnswer      Rule = "join-answer"
	RuleJoinForeign     Rule = "join-foreign"
	RuleUnionDistinct   Rule = "union-distinct"
	RuleUnionPublic     Rule = "union-public"
	RuleUnionEntity     Rule = "union-entity"
	RuleUnionRow        Rule = "union-row"
	RuleUnionTypes      Rule = "union-types"
	RuleInnerAggregate  Rule = "inner-aggregate"
	RuleExpression      Rule = "expression"
	RuleAggregate       Rule = "aggregate"
	RuleDistinctArg     Rule = "distinct-argument"
	RuleArgument        Rule = "argument"
	RuleOption          Rule = "option"
	RuleBar             Rule = "error-bar"
	RuleRewriteOff      Rule = "rewrite-off"
	RuleGroupSize       Rule = "group-size"
	RuleGroupKey        Rule = "group-key"
	RuleGroupDelta      Rule = "group-delta"
	RuleParameter       Rule = "parameter"
	RuleTarget          Rule = "target-error"
	RuleEpsilonCap      Rule = "epsilon-cap"
	RuleEpsilonShare    Rule = "epsilon-share"
	RuleHint            Rule = "hint"
	RuleContext         Rule = "context"
	RuleExplainAnalyze  Rule = "explain-analyze"
	RuleInto            Rule = "into"
	RuleWrite           Rule = "write"
	RuleCreateSelect    Rule = "create-select"
	RuleUserVariable    Rule = "user-variable"
	RuleStatistics      Rule = "statistics"
	RuleDomain          Rule = "domain"
	RuleEnds            Rule = "ends"
	RuleMemory          Rule = "memory"
	RulePure            Rule = "pure"
	RuleTooManyReleases Rule = "too-many-releases"
	RuleSample          Rule = "simulation-source"
)

// disabled is the rule that tests take out; empty outside tests.
var disabled Rule

// errDisabled is what a rule that tests took out returns in place of its refusal.
var errDisabled = errors.New("planner: the refusal rule is taken out")

// deny refuses by a rule. The remedy, a query or statement that would work, may be empty: then the
// table of codes has it.
func deny(r Rule, code refuse.Code, remedy, format string, args ...any) error {
	if r == disabled {
		return errDisabled
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

// RuleOf returns the rule that refused, "" for an error of another kind.
func RuleOf(err error) Rule {
	var r *refusal
	if errors.As(err, &r) {
		return r.rule
	}
	return ""
}
