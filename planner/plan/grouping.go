package plan

import (
	"fmt"

	"scrim/engine/estimator/groups"
)

// Grouping says whether the groups of a release are answered together or apart, and why, in public
// facts. The zero Grouping is one of a release without groups, or without anything that could be
// answered together.
type Grouping struct {
	Together bool
	Why      string
	Compared bool // the two ways were
	Bound    int  // groups that a unit would be kept in
	Leaves   bool // bounding leaves a unit out of others
	Expected groups.Expectation
}

// Typical is the number of groups that a person is taken to be in: half of those that one would be
// kept in, but two where others are left out: a bound keeps nobody from being in more. The true
// number is private. Where persons are in more groups than they would be kept in, the vector loses
// no more than bounding does.
func (c Grouping) Typical() int {
	if c.Bound == 1 && c.Leaves {
		return 2
	}
	return (c.Bound + 1) / 2
}

// lines are what EXPLAIN shows of the choice.
func (c Grouping) lines() []string {
	if c.Why == "" {
		return nil
	}
	way := "each by itself"
	if c.Together {
		way = "as one vector"
	}
	lines := []string{fmt.Sprintf("groups %s: %s", way, c.Why)}
	if c.Compared {
		line := fmt.Sprintf("expected error in a group, of what a person in %d of them adds to it: as one vector=%s  each by itself, %d a person=%s",
			c.Typical(), number6(c.Expected.Vector), c.Bound, number6(c.Expected.Bounded))
		if c.Expected.Kept < 1 {
			line += fmt.Sprintf(" and %.0f %% of the rows left out", 100*(1-c.Expected.Kept))
		}
		lines = append(lines, line)
	}
	return lines
}
