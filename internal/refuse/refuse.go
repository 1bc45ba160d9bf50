// Package refuse is the vocabulary of refusals: one table of codes, each with a SQLSTATE, the
// cause in general and the remedy, and the error type that carries one refusal to the client.
//
// A refusal may speak of the query, the catalogue, the parameters and the budget; never of rows,
// counts or messages of the backing store. Everything that is not a refusal is turned into one
// fixed error by package engine before a client sees it.
package refuse

import (
	"errors"
	"fmt"

	"scrim/internal/lists"
)

// Error is one refusal. Its text is public: it is sent to the client as it stands.
type Error struct {
	Code   Code
	Cause  string // what is wrong with this statement
	Remedy string // what would work; Table's remedy when empty
}

// New returns a refusal with the table's remedy.
func New(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Cause: fmt.Sprintf(format, args...)}
}

// With returns a copy of e with its own remedy.
func (e *Error) With(format string, args ...any) *Error {
	n := *e
	n.Remedy = fmt.Sprintf(format, args...)
	return &n
}

// Error implements error: cause, then remedy.
func (e *Error) Error() string {
	r := e.Remedy
	if r == "" {
		r = Lookup(e.Code).Remedy
	}
	return e.Cause + " " + r
}

// As returns the refusal in err's chain, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Code names one kind of refusal. Its String is the name that documentation and tests use.
type Code string

// MySQLErrno is the error number of every refusal of ours: MySQL's ER_SIGNAL_EXCEPTION, the number
// that user-defined conditions carry. The SQLSTATE tells them apart.
const MySQLErrno = 1644

// The codes. Table lists each with SQLSTATE, cause and remedy.
const (
	Undeclared      Code = "UNDECLARED_TABLE"
	RawRows         Code = "RAW_ROWS"
	Shape           Code = "QUERY_SHAPE"
	Expression      Code = "EXPRESSION"
	Aggregate       Code = "AGGREGATE"
	Option          Code = "OPTION"
	Parameter       Code = "PARAMETER"
	RewriteOff      Code = "REWRITE_OFF"
	GroupKeys       Code = "GROUP_KEYS"
	Context         Code = "STATEMENT_CONTEXT"
	Policy          Code = "POLICY"
	NoBudget        Code = "NO_BUDGET"
	BudgetExhausted Code = "BUDGET_EXHAUSTED"
	NotDBA          Code = "NOT_DBA"
	Failed          Code = "PROTECTED_QUERY_FAILED"
	Ledger          Code = "LEDGER_UNAVAILABLE"
	Unsupported     Code = "UNSUPPORTED"
	Audit           Code = "AUDIT_UNAVAILABLE"
	Space           Code = "TEMPORARY_SPACE"
	WeakAnswer      Code = "WEAK_ANSWER"
	Repeated        Code = "REPEATED_LOAD"
	View            Code = "VIEW"

	CollectionParameter Code = "COLLECTION_PARAMETER"
	CollectionState     Code = "COLLECTION_STATE"
	CollectionFilter    Code = "COLLECTION_FILTER"
	CollectionRounds    Code = "COLLECTION_ROUNDS"
	TooFewReports       Code = "TOO_FEW_REPORTS"
	UnknownToken        Code = "UNKNOWN_TOKEN"
	SpentToken          Code = "SPENT_TOKEN"
	ClosedToken         Code = "CLOSED_TOKEN"
	MalformedReport     Code = "MALFORMED_REPORT"
	RoundInconclusive   Code = "ROUND_INCONCLUSIVE"
	BatchReplay         Code = "BATCH_REPLAY"
	BatchWindow         Code = "BATCH_WINDOW"
	SimulationSource    Code = "SIMULATION_SOURCE"
)

// Entry describes one code for the client and for the documentation.
type Entry struct {
	Code     Code
	SQLState string // five characters, 45xxx
	Cause    string
	Remedy   string
}

// Table lists every code in the order of its SQLSTATE. docs/reference.md is made from it.
var Table = []Entry{
	{Undeclared, "45001", "The table has been declared neither protected nor public.", "A DBA runs CALL dp_protect(table, unit_column, entity) or CALL dp_public(table)."},
	{RawRows, "45002", "The statement would return or copy rows of a protected table.", "Ask for an aggregate, for example SELECT COUNT(*) FROM t; a DBA may SET dp_raw = ON."},
	{Shape, "45003", "The query has a part through which the person behind a row cannot be followed.", "Join protected tables on the unit, aggregate at the top, and drop the clause that the message names."},
	{Expression, "45004", "An expression on protected rows is not on the list of deterministic, total functions.", "Use a function from the list in docs/reference.md, or apply it to the answer outside the aggregate."},
	{Aggregate, "45005", "The aggregate has no private form.", "Use the DP function that the message names."},
	{Option, "45006", "An option of a DP function is unknown, repeated, out of range, or not for this function.", "See SELECT * FROM dp.functions."},
	{Parameter, "45007", "A privacy parameter is not a positive, finite number within its range.", "Set dp_epsilon, dp_delta or dp_rho to a value within the range that the message gives."},
	{RewriteOff, "45008", "dp_rewrite is OFF and the query uses a plain SQL aggregate on a protected table.", "Use the DP function that the message names, or SET dp_rewrite = ON."},
	{GroupKeys, "45009", "The group keys have too large a public domain, or cannot be selected privately with these parameters.", "Group by fewer keys, declare a smaller domain, or raise dp_delta."},
	{Context, "45010", "A private query stands where a release cannot be accounted for (DML, trigger, stored program, correlated subquery that is no aggregate by public values, EXPLAIN ANALYZE, INTO).", "Run it as a SELECT of its own."},
	{Policy, "45011", "A policy statement has a bad value, or would weaken a policy silently.", "The message says what would be right."},
	{NoBudget, "45012", "A protected table that the query touches has no total budget.", "A DBA runs CALL dp_set_budget(table, '*', epsilon, delta, window)."},
	{BudgetExhausted, "45013", "The charge does not fit into what remains of a budget.", "Ask with a smaller dp_epsilon, wait for the next window, or have a DBA raise the budget."},
	{NotDBA, "45014", "The statement is for a DBA only.", "Connect as an account with SUPER or the role dba."},
	{Failed, "45015", "The query on protected data did not finish. Its charge stands, unless the message says that nothing was charged.", "Ask an operator to look at the server's log; a longer max_execution_time, or statement-time of the server, may help."},
	{Ledger, "45016", "The charge could not be made durable, so nothing was answered.", "Ask an operator to look at the disk of the data directory."},
	{Unsupported, "45017", "The statement is valid SQL that this server does not support.", "The message says what to use instead."},
	{Audit, "45018", "The audit log could not be written, so that no statement is run.", "Ask an operator to look at the disk of the audit log; statements run again as soon as it can be written."},
	{Space, "45019", "The directory for temporary files cannot be written, or its disk has less free space than the server keeps in reserve.", "Ask an operator to look at the disk of the directory spill in the data directory; nothing was charged."},
	{WeakAnswer, "45020", "Under dp_warnings = 'error' an answer that a warning is about is not shown. What it has cost stands.", "The same statement with dp_warnings = 'show' gets the stored answer for nothing, as long as its tables are unchanged."},
	{Repeated, "45021", "A file that is to be loaded is in the table already.", "Nothing is to be done; CALL dp_next_load with \"again\":true loads it once more."},
	{View, "45022", "A view or a synthetic table cannot be made, or is not there, as the statement has it.", "docs/views.md and docs/synthetic.md say what they may be; SELECT * FROM dp.views and dp.synthetic lists those that there are."},

	{CollectionParameter, "45D10", "A parameter of a collection is missing, unknown, or out of its range.", "See docs/collections.md for the parameters of each protocol."},
	{CollectionState, "45D11", "The collection is not in the state that the statement needs.", "SELECT * FROM dp.collections tells its state and what may follow."},
	{CollectionFilter, "45D12", "A query on a collection filters or groups by something other than the stratum.", "Estimate the collection whole, or WHERE stratum = '…', or GROUP BY stratum."},
	{CollectionRounds, "45D13", "The reports of a collection's last round are not there yet, or the query mixes rounds.", "Wait until the collection is FINAL, or ask LDP_INFO or SHUFFLE_INFO for what has arrived."},
	{TooFewReports, "45D20", "Fewer reports have arrived than the protocol needs.", "Wait for more reports, or issue tokens to additional people."},
	{UnknownToken, "45D21", "The token was not issued for this collection.", "Use the token that the issuer sent for this collection."},
	{SpentToken, "45D22", "The token has brought another report already.", "Nobody reports twice; send the stored report again unchanged, or nothing."},
	{ClosedToken, "45D23", "The token belongs to another round, or its round has ended.", "The token reports in the round that it was issued for, while that round is open."},
	{MalformedReport, "45D24", "The report does not follow the collection's public parameters.", "Fetch the parameters again and make the report from them with the contributor's library."},
	{RoundInconclusive, "45D31", "The reports of the round do not determine what the next round needs.", "Issue tokens of this round to additional people, reopen the round, and go on when they have reported."},
	{BatchReplay, "45D41", "The batch has been loaded already, or is not the one that was announced.", "A batch is released once; nothing is to be done."},
	{BatchWindow, "45D42", "The sum of a batch lies outside of what its reports can give, or messages are missing.", "A bundle was broken or made to mislead; no estimate can be had from this batch."},
	{SimulationSource, "45D50", "The simulation cannot read this source.", "Simulate over a plain row-wise SELECT of one declared table."},
}

// Lookup returns the entry of a code. It panics on a code that is not in Table, which is a bug.
func Lookup(c Code) Entry {
	if e, ok := lists.Find(Table, func(e Entry) bool { return e.Code == c }); ok {
		return e
	}
	panic("refuse: code not in table: " + string(c))
}
