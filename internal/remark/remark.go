package remark

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

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
	i := slices.IndexFunc(list, func(r Remark) bool { return r.Level() == Warning })
	if i < 0 {
		return Remark{}, false
	}
	return list[i], true
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
