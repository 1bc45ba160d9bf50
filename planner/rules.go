package planner

import (
	"strconv"
	"strings"

	"scrim/planner/rule"
)

// Short names of refusals.
var deny = rule.Deny

func itoa(i int) string     { return strconv.Itoa(i) }
func itoa64(i int64) string { return strconv.FormatInt(i, 10) }
func comma(s []string) string {
	return strings.Join(s, ", ")
}

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
