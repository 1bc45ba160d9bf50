package budget

import (
	"cmp"
	"strings"
)

// Compare orders budgets: those on tables before those on entities, by account, and of one account
// All, Default, roles and principals by name.
func Compare(a, b Budget) int {
	rank := func(p string) int {
		switch p {
		case All:
			return 0
		case Default:
			return 1
		}
		if strings.HasPrefix(p, RolePrefix) {
			return 2
		}
		return 3
	}
	if a.Entity != b.Entity {
		if b.Entity {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(rank(a.Principal), rank(b.Principal)),
		cmp.Compare(a.Principal, b.Principal))
}
