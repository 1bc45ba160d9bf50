package planner

import "scrim/planner/rule"

// Short names of refusals.
var deny = rule.Deny

const (
	RuleAggregate       = rule.Aggregate
	RuleArgument        = rule.Argument
	RuleBar             = rule.Bar
	RuleContext         = rule.Context
	RuleEpsilonCap      = rule.EpsilonCap
	RuleGroupKey        = rule.GroupKey
	RuleHint            = rule.Hint
	RuleMemory          = rule.Memory
	RuleNode            = rule.Node
	RuleOption          = rule.Option
	RuleParameter       = rule.Parameter
	RulePure            = rule.Pure
	RuleRewriteOff      = rule.RewriteOff
	RuleTarget          = rule.Target
	RuleTooManyReleases = rule.TooManyReleases
	RuleWindow          = rule.Window
)
