package collect

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"scrim/internal/refuse"
)

// bad is the refusal of a declaration.
func bad(format string, args ...any) *refuse.Error {
	return refuse.New(refuse.CollectionParameter, format, args...)
}

// checkName accepts a collection's name, with its database before a point or without.
func checkName(name string) error {
	database, short, qualified := strings.Cut(name, ".")
	if !qualified {
		short = database
	}
	if !plain(database) || !plain(short) {
		return bad("%.80q is not a name for a collection.", name).
			With("Use letters, digits, _, $ and -, at most %d bytes, optionally after a database's name and a point.", MaxName)
	}
	return nil
}

func plain(s string) bool {
	if s == "" || len(s) > MaxName || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_$-", r)
	}) < 0
}

// checkUUID accepts the usual text of a UUID in lower case.
func checkUUID(s string) error {
	ok := len(s) == 36
	for i := 0; ok && i < len(s); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			ok = s[i] == '-'
		} else {
			ok = strings.IndexByte("0123456789abcdef", s[i]) >= 0
		}
	}
	if !ok {
		return bad("%.40q is not a UUID in lower case.", s)
	}
	return nil
}

// checkStrata accepts public groups: short printable texts that differ in more than case, as SQL
// compares them without.
func checkStrata(strata []string) error {
	if len(strata) > MaxStrata {
		return bad("The collection has %d strata.", len(strata)).With("Declare at most %d, each with n_expected contributors of its own.", MaxStrata)
	}
	seen := map[string]bool{}
	for _, s := range strata {
		if !printable(s) {
			return bad("%.80q is not a name for a stratum.", s).
				With("Use 1 to %d bytes of printable text without spaces at the ends.", MaxName)
		}
		if folded := strings.ToLower(s); seen[folded] {
			return bad("The stratum %q is declared twice.", s).With("Name each stratum once; case makes no difference.")
		} else {
			seen[folded] = true
		}
	}
	return nil
}

func printable(s string) bool {
	return s != "" && len(s) <= MaxName && utf8.ValidString(s) && s == strings.TrimSpace(s) &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
