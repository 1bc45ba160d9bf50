package budget

import "strings"

// overPeriods ends the name of an account of persons. No entity's name has a space.
const overPeriods = " over all periods"

// OverPeriods returns the account of what one person of an entity loses over all periods, where the
// unit is one person's rows of one period. It is an account of the entity beside its own, on which
// each release counts for neighbours that differ in all rows of a person.
func OverPeriods(entity string) string { return entity + overPeriods }

// OfPersons reports whether an account of an entity is one over all periods, and of which entity.
func OfPersons(account string) (entity string, ok bool) {
	return strings.CutSuffix(account, overPeriods)
}
