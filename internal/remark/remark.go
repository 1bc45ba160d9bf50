// Package remark is the vocabulary of what a reader has to know of an answer that was given all the
// same: that keys are left out, that values are NULL for too few persons, that errors are wide. It
// has one table of codes, and the type that carries one remark to the client.
//
//	remark.New(remark.TooFewPersons, "AVG(x) is NULL; about %d persons are needed.", n).In(3, 12)
//
// A private statement's remarks reach its client in four ways: as MySQL's warnings (SHOW WARNINGS),
// in dp.last_warnings, as an error under dp_warnings = 'error', and, by Summary, in the ledger's
// record of the charge.
//
// # How to add one
//
// Give it a constant and a row of Table. Make it where what it says is known:
//
//   - What follows from an answer's released numbers goes into engine/exec, remarks.go: the loop
//     over cells there counts, and the executor delivers.
//   - What follows from the plan or from the reconciliation of answers is told with Add, while the
//     statement runs. Such a remark is a warning of the statement, and is not in the ledger.
//
// # Privacy
//
// A remark is sent to the client, so everything in it, and whether it is made at all, must follow
// from public facts (the statement, the policies, the plan) and released numbers only. Then it is
// post-processing and costs nothing. How many keys were left out is neither; how many were answered
// is released. State the reason beside the code that makes the remark.
package remark

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Remark is one remark on the answer of a statement. All of it is public: it is sent to the client
// as it stands.
type Remark struct {
	Code   Code
	Text   string // what is the matter with this answer, a sentence or several
	Remedy string // what would do for this statement; Table's where empty
	Brief  string // Text for the ledger, without literals of the statement; Table's where empty
	// Cells is in how many values of the answer it happened, of Of; 0 of 0 where it is about the
	// whole. Both follow from released numbers.
	Cells, Of int
}

// New returns a remark with the table's remedy.
func New(c Code, format string, args ...any) Remark {
	return Remark{Code: c, Text: fmt.Sprintf(format, args...)}
}

// Plain returns a remark in the table's words.
func Plain(c Code) Remark { return Remark{Code: c, Text: Lookup(c).Cause} }

// With returns the remark with a remedy of its own.
func (r Remark) With(format string, args ...any) Remark {
	r.Remedy = fmt.Sprintf(format, args...)
	return r
}

// In returns the remark with the number of values that it is about, of all.
func (r Remark) In(cells, of int) Remark {
	r.Cells, r.Of = cells, of
	return r
}

// Briefly returns the remark with its own words for the ledger, which hold no literals of the
// statement.
func (r Remark) Briefly(format string, args ...any) Remark {
	r.Brief = fmt.Sprintf(format, args...)
	return r
}

// Level is the level of the remark's code.
func (r Remark) Level() Level { return Lookup(r.Code).Level }

// Help is the remark's remedy, or the table's.
func (r Remark) Help() string { return cmp.Or(r.Remedy, Lookup(r.Code).Remedy) }

// Message is the text of the MySQL warning: the code, what is the matter, what would do.
func (r Remark) Message() string { return string(r.Code) + ": " + r.Text + " " + r.Help() }

// Summary says of an answer in short what was remarked on it, for the record of its charge:
// "3 of 12 values NULL for too few persons; 1 of 12 values with a wide error". It is empty where
// there is nothing to say.
func Summary(list []Remark) string {
	var parts []string
	for _, r := range list {
		switch brief := cmp.Or(r.Brief, Lookup(r.Code).Brief); {
		case brief == "":
		case r.Of > 0:
			parts = append(parts, fmt.Sprintf("%d of %d values %s", r.Cells, r.Of, brief))
		default:
			parts = append(parts, brief)
		}
	}
	return strings.Join(parts, "; ")
}

// Lacks reports whether a Summary, as the ledger has it, says that the answer was empty or that
// values of it were NULL.
func Lacks(summary string) bool {
	for part := range strings.SplitSeq(summary, "; ") {
		if strings.HasPrefix(part, EmptyBrief) || strings.HasSuffix(part, nullBrief) {
			return true
		}
	}
	return false
}

// Sort brings remarks into the order of Table: the gravest first.
func Sort(list []Remark) {
	place := func(r Remark) int { return slices.IndexFunc(Table, func(e Entry) bool { return e.Code == r.Code }) }
	slices.SortStableFunc(list, func(a, b Remark) int { return place(a) - place(b) })
}

// Gravest returns the first remark of the level Warning.
func Gravest(list []Remark) (Remark, bool) {
	return lists.Find(list, func(r Remark) bool { return r.Level() == Warning })
}

// Keeper is a session that keeps the remarks on its last private statement, for dp.last_warnings.
type Keeper interface {
	KeepRemarks(list []Remark)
	Remarks() []Remark
}

// Begin forgets the remarks on the session's last private statement. Whatever runs one calls it
// first.
func Begin(ctx *sql.Context) {
	if k, ok := ctx.Session.(Keeper); ok {
		k.KeepRemarks(nil)
	}
}

// Add tells the client remarks on the statement that runs: as MySQL's warnings and in
// dp.last_warnings.
func Add(ctx *sql.Context, list ...Remark) {
	if k, ok := ctx.Session.(Keeper); ok {
		k.KeepRemarks(append(k.Remarks(), list...))
	}
	// Of MySQL's warnings the latest comes first.
	for i := len(list) - 1; i >= 0; i-- {
		r := list[i]
		ctx.Session.Warn(&sql.Warning{Level: string(r.Level()), Code: refuse.MySQLErrno, Message: r.Message()})
	}
}

// Code names one kind of remark. A message begins with it, and it never changes.
type Code string

// The codes. Table lists each with its level, cause and remedy.
const (
	NoKeys        Code = "NO_KEYS"
	Clipped       Code = "CLIPPED"
	NoBound       Code = "NO_BOUND"
	KeysLeftOut   Code = "KEYS_LEFT_OUT"
	KeysTogether  Code = "KEYS_TOGETHER"
	BooleanKeys   Code = "BOOLEAN_KEYS"
	TwoPersons    Code = "TWO_PERSONS"
	TooFewPersons Code = "TOO_FEW_PERSONS"
	WideError     Code = "WIDE_ERROR"
	OutOfRange    Code = "OUT_OF_RANGE"
	Declared      Code = "DECLARED"
	EmptyPreview  Code = "EMPTY_PREVIEW"
	TotalsApart   Code = "TOTALS_APART"
	FromView      Code = "FROM_VIEW"
	InNoCell      Code = "IN_NO_CELL"
	Ranks         Code = "RANKS"
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
	{Clipped, Note, "with a large cut", "What a clip takes from the persons with the most was estimated and added back, and is 5 % or more of a count or sum, of all groups together, or more than the noise of another answer, or, of a variance, nothing bounds it: then DP_HIGH is NULL. DP_INFO has the share; the interval allows for it.",
		"Have a DBA declare the range of the column with dp_set_domain, or how many rows of a person count with dp_set_defaults."},
	{NoBound, Note, "", "DP_STDERR, DP_LOW, DP_HIGH or DP_RADIUS is NULL beside an answer: no bound of its error is known at that level.",
		"Ask at a lower level, with a larger dp_epsilon, or by another method: EXPLAIN names it. The outer end of MIN and MAX is that of the range that a DBA declares with dp_set_domain."},
	{Ranks, Note, "", "ORDER BY … LIMIT chooses groups by noisy numbers, and the noise does not tell those at the ends apart.",
		"Ask for more rows, or with a larger dp_epsilon; DP_LOW and DP_HIGH give the intervals."},
	{KeysLeftOut, Note, "", "The keys are not public: those of too few persons, if there are any, are left out of the result.",
		"Have a DBA declare the keys with dp_set_domain: then all are answered. SET dp_keys = 'keep' answers those that are left out together, in a row of NULL keys."},
	{KeysTogether, Note, "", "The keys are not public: those of too few persons are answered together, in the row whose keys are all NULL, with the rows that have no key.",
		"Have a DBA declare the keys with dp_set_domain: then each is answered by itself."},
	{BooleanKeys, Note, "", "A key is a TINYINT(1) column: its keys are 0 and 1, and rows with other values, if there are any, are in no group.",
		"Have a DBA declare the values with dp_set_domain where there are others."},
	{TwoPersons, Note, "", "Each row belongs to two persons, those of the tables that are joined: of each only so many rows count, and errors are large.",
		"Where both are always one person, join on the unit column, too, or have a DBA declare the foreign key with dp_link."},
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
	if e, ok := lists.Find(Table, func(e Entry) bool { return e.Code == c }); ok {
		return e
	}
	panic("remark: code not in table: " + string(c))
}
