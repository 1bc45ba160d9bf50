package admin

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/collections"
)

// loadBatchDoc documents the procedure that takes a batch of a shuffle collection from its
// shuffler.
var loadBatchDoc = Procedure{"dp_load_batch", "dp_load_batch(name, round, stratum, cell, batch, reports, part, parts, bag)",
	"Takes one part of a batch of a shuffle collection: its round, stratum (NULL without), cell and number, of how many reports it is, which part of how many (from 1), and the sealed messages. When all parts are there the messages are opened, checked and stored. Sending a part again is harmless; a batch is loaded once. Called by scrim shuffle, with the role shuffler.",
	"CALL dp_load_batch('commute', 1, NULL, 0, 1, 10000, 1, 1, ?)"}

var batchColumns = []column{text("batch")}

// loadBatch makes the procedure for go-mysql-server. The bag is binary: as a text it could be
// changed on its way.
func (a *Admin) loadBatch() sql.ExternalStoredProcedureDetails {
	return sql.ExternalStoredProcedureDetails{Name: loadBatchDoc.Name, Schema: schemaOf(loadBatchDoc.Name, batchColumns),
		Function: func(ctx *sql.Context, name, round, stratum, cell, batch, reports, part, parts string, bag []byte) (sql.RowIter, error) {
			if err := a.loading(ctx); err != nil {
				return nil, err
			}
			args := []string{name, round, stratum, cell, batch, reports, part, parts}
			text := fmt.Sprintf("CALL %s('%s', %d bytes)", loadBatchDoc.Name, strings.ReplaceAll(strings.Join(args, "', '"), "\x00", ""), len(bag))
			return a.noted(a.o.Principal(ctx), loadBatchDoc.Name, text, func() (sql.RowIter, error) {
				rows, err := a.take(ctx, args, bag)
				return sql.RowsToRowIter(rows...), err
			})
		}}
}

// take reads the arguments and hands the part over.
func (a *Admin) take(ctx *sql.Context, args []string, bag []byte) ([]sql.Row, error) {
	name, err := collectionName(args[0])
	if err != nil {
		return nil, err
	}
	var n [8]uint64
	for i, f := range []struct {
		what string
		most uint64
	}{1: {"round", 255}, 3: {"cell", 1<<32 - 1}, 4: {"batch", 1 << 31}, 5: {"number of reports", 1 << 40}, 6: {"part", 1 << 31}, 7: {"number of parts", 1 << 31}} {
		if f.what == "" {
			continue
		}
		if n[i], err = wholeNumber(f.what, args[i], f.most); err != nil {
			return nil, err
		}
	}
	done, err := a.o.Collections.LoadBatch(ctx, name, collections.Part{
		Round: int(n[1]), Stratum: strings.TrimSpace(args[2]), Cell: uint32(n[3]), Batch: int(n[4]), Reports: n[5],
		Part: int(n[6]), Parts: int(n[7]), Sealed: bag,
	})
	if err != nil {
		return nil, err
	}
	if done {
		return []sql.Row{{"loaded"}}, nil
	}
	return []sql.Row{{"waits for its other parts"}}, nil
}
