package remark

// Code names one kind of remark. A message begins with it, and it never changes.
type Code string

// The codes. Table lists each with its level, cause and remedy.
const (
	NoKeys        Code = "NO_KEYS"
	Clipped       Code = "CLIPPED"
	NoBound       Code = "NO_BOUND"
	KeysLeftOut   Code = "KEYS_LEFT_OUT"
	KeysTogether  Code = "KEYS_TOGETHER"
	TooFewPersons Code = "TOO_FEW_PERSONS"
	WideError     Code = "WIDE_ERROR"
	OutOfRange    Code = "OUT_OF_RANGE"
	Declared      Code = "DECLARED"
	EmptyPreview  Code = "EMPTY_PREVIEW"
	TotalsApart   Code = "TOTALS_APART"
	FromView      Code = "FROM_VIEW"
	InNoCell      Code = "IN_NO_CELL"
)

// Level is how MySQL ranks a remark.
type Level string

// The levels. Under dp_warnings = 'error' a warning ends the statement, and a note does not.
const (
	Note    Level = "Note"
	Warning Level = "Warning"
)

// Entry describes one code for the client and for the documentation.
type Entry struct {
	Code  Code
	Level Level
	// for the ledger, of the answer or, where a remark counts values, of so many of them; "" for
	// what the ledger does not tell
	Brief  string
	Cause  string
	Remedy string // what would do, in general; a remark may have one of its own
}

// EmptyBrief begins what the ledger says of an answer without rows, nullBrief ends what it says of
// values that are NULL. Lacks knows answers by them.
const (
	EmptyBrief = "result empty"
	nullBrief  = "NULL for too few persons"
)

// Table lists every code, the gravest first. docs/reference.md is made from it.
var Table = []Entry{
	{NoKeys, Warning, EmptyBrief + ": no key shown", "The result is empty: no group key had enough persons to be shown.",
		"Group by fewer or coarser keys, ask with a larger dp_epsilon, or have a DBA declare the keys with dp_set_domain."},
	{TooFewPersons, Warning, nullBrief, "A value is NULL: too few persons are in its group for the method, by a noisy number of them.",
		"Ask for coarser groups, or with a larger dp_epsilon."},
	{WideError, Warning, "with a wide error", "The 95 % interval of a value reaches farther from it than half of its size.",
		"Ask for coarser groups, or with a larger dp_epsilon; DP_LOW and DP_HIGH give the interval."},
	{OutOfRange, Warning, "outside the range of exact ones", "A share or a correlation that the statement computes from several answers is outside its possible range, because each answer has noise of its own.",
		"Ask for coarser groups, or with a larger dp_epsilon; LEAST and GREATEST cut a value to its range; AVG of a test, as in AVG(amount > 100), is a share as one answer."},
	{Clipped, Note, "with a cut beyond the noise", "What a clip takes from the persons with the most was estimated and added back, and is more than the noise. The interval allows for it.",
		"Have a DBA declare the range of the column with dp_set_domain, or how many rows of a person count with dp_set_defaults."},
	{NoBound, Note, "", "DP_STDERR, DP_LOW, DP_HIGH or DP_RADIUS is NULL beside an answer: no bound of its error is known at that level.",
		"Ask at a lower level, with a larger dp_epsilon, or by another method: EXPLAIN names it."},
	{KeysLeftOut, Note, "", "The keys are not public: those of too few persons, if there are any, are left out of the result.",
		"Have a DBA declare the keys with dp_set_domain: then all are answered. SET dp_keys = 'keep' answers those that are left out together, in a row of NULL keys."},
	{KeysTogether, Note, "", "The keys are not public: those of too few persons are answered together, in the row whose keys are all NULL, with the rows that have no key.",
		"Have a DBA declare the keys with dp_set_domain: then each is answered by itself."},
	{TotalsApart, Note, "", "A total and the numbers that it sums up are shown as they were released, and need not agree: one of them is NULL, or they differ by more than noise explains.",
		"Where rows have keys that are not declared, have a DBA declare them with dp_set_domain."},
	{FromView, Note, "", "The answer is made of the cells of a DP view, for nothing: it is of the data of when the view was released.",
		"SET dp_views = 'off' asks the table, at its cost."},
	{InNoCell, Note, "", "A dimension of a DP view may be NULL, or made of NULL, on some rows, if there are any: they are in none of its cells. Statements that count them are not answered from the view.",
		"Put null into the domain of the column with dp_set_domain, then CALL dp_refresh_view; or declare the column NOT NULL."},
	{Declared, Note, "", "The answer is what is declared for the columns; whether there are such rows is not told.",
		"Ask for COUNT(*) beside the keys, or for DP_QUANTILE in the place of MIN and MAX."},
	{EmptyPreview, Note, "", "Rows of protected tables are not shown: under dp_preview = 'empty' a preview has no rows, whatever the table holds.",
		"Ask for an aggregate, for example SELECT COUNT(*) FROM t."},
}

// Lookup returns the entry of a code. It panics on a code that is not in Table, which is a bug.
func Lookup(c Code) Entry {
	for _, e := range Table {
		if e.Code == c {
			return e
		}
	}
	panic("remark: code not in table: " + string(c))
}
