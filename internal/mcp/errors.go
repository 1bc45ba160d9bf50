package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"

	"scrim/internal/client"
)

var (
	errSingle = errors.New("want exactly one statement, without anything after its semicolon; send statements one after another")
	errWrites = errors.New("this tool only reads: send a SELECT, WITH, SHOW, DESCRIBE or EXPLAIN (not EXPLAIN ANALYZE, not INTO); " +
		"changes are for a DBA, with scrim sql")
)

// single is the one statement of a text.
func single(text string) (string, error) {
	query, ok := client.Single(text)
	if !ok {
		return "", errSingle
	}
	return query, nil
}

// nextSteps say what to do about MySQL's errors that have no remedy of their own.
var nextSteps = map[uint16]string{
	1045: "The operator has to give this process the account's name and password.",
	1046: "Write schema.table; describe lists the tables.",
	1049: "describe lists the tables with their schemas.",
	1054: "describe with the table lists its columns.",
	1064: "Write MySQL's dialect.",
	1146: "describe lists the tables.",
	1142: "A DBA can grant SELECT on it to this account.",
	1305: "describe lists the DP functions.",
	3024: "Ask for less: fewer tables, groups or aggregates.",
}

// told is an error as the caller reads it: what is wrong, and what to do.
func told(err error) error {
	if err == nil || errors.Is(err, errSingle) || errors.Is(err, errWrites) {
		return err
	}
	if e := (*mysql.MySQLError)(nil); errors.As(err, &e) {
		if step, ok := nextSteps[e.Number]; ok {
			return fmt.Errorf("%w. %s", err, step)
		}
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the time of this call is over: %w. What was charged stands; the same statement later gets the stored answer, if there is one, for nothing", err)
	}
	if e := net.Error(nil); errors.As(err, &e) {
		return fmt.Errorf("the database cannot be reached: %w. Try again later, or have the operator look whether it runs", err)
	}
	return err
}

// charged adds to an error what was charged all the same.
func charged(err error, costs []Cost) error {
	for _, c := range costs {
		if c.Entry == "charge" {
			return fmt.Errorf("%w (It was charged: entry %d of the ledger.)", err, c.LedgerID)
		}
	}
	return err
}
