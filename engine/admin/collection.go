package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/collections"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/local"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Collections is what the package needs of collections; *collections.Collections is one.
type Collections interface {
	Create(ctx context.Context, ref store.TableRef, p collect.Protocol, d collect.Declaration, owner string) (*collect.Design, error)
	IssueTokens(ctx context.Context, name string, issue collections.Issue) ([]collections.Token, error)
	Open(ctx context.Context, name string) error
	Preview(ctx context.Context, name string) ([]collections.Preview, error)
	Next(ctx context.Context, name string) error
	Close(ctx context.Context, name string) error
	Abort(ctx context.Context, name, reason string) error
	Drop(ctx context.Context, name string) error
	LoadBatch(ctx context.Context, name string, part collections.Part) (done bool, err error)

	Holds(ref store.TableRef) bool
	Lookup(name string) (collections.Summary, bool)
	List() []collections.Summary
	Rounds() []collections.RoundInfo
	Cells() []collections.CellCount
	Batches() []collections.BatchInfo
	Results(name string) (map[string][]byte, error)
	Simulations(ctx context.Context, name string) ([]collections.Kept, error)
}

var _ Collections = (*collections.Collections)(nil)

// collecting refuses who may not administer collections.
func (a *Admin) collecting(ctx *sql.Context) error {
	return a.needs(a.o.IsCollector, ctx, "collector")
}

// loading refuses who may not load batches.
func (a *Admin) loading(ctx *sql.Context) error {
	return a.needs(a.o.IsShuffler, ctx, "shuffler")
}

// needs refuses, in MySQL's words, an account without a role; a DBA has all of them.
func (a *Admin) needs(has func(*sql.Context) bool, ctx *sql.Context, role string) error {
	if a.o.Principal(ctx) == "" || !a.o.IsDBA(ctx) && (has == nil || !has(ctx)) {
		return mysql.NewSQLError(mysql.ERSpecifiedAccessDenied, "42000",
			"Access denied; you need the role %s, or to be a DBA, for this operation", role)
	}
	if a.o.Collections == nil {
		return refuse.New(refuse.Unsupported, "There are no collections here.").With("They are kept by a server with a data directory.")
	}
	return nil
}

// notHeld refuses a policy on the table of a collection, which is public for as long as it is
// there: its rows were private before they came.
func (a *Admin) notHeld(name string) error {
	schema, table, ok := strings.Cut(strings.ToLower(name), ".")
	if a.o.Collections == nil || !ok || !a.o.Collections.Holds(store.TableRef{Schema: schema, Name: table}) {
		return nil
	}
	return refuse.New(refuse.Policy, "The table %s belongs to a collection, whose reports are private already.", name).
		With("It is read like a public table; CALL dp_drop_collection('%s') removes it.", name)
}

// collectionProcedures are those for collections, for the role collector.
var collectionProcedures = []procedure{
	{min: 3, max: 3, result: designColumns, run: (*Admin).createCollection, may: (*Admin).collecting, Procedure: Procedure{"dp_create_collection", "dp_create_collection(name, protocol, json)",
		"Declares a collection, in state DRAFT, and makes its table: the protocol of dp.protocols, and its parameters as JSON. Returns what follows from them: what a contributor pays, the error to expect, the least number of contributors, and the numbers of each round.",
		`CALL dp_create_collection('survey.commute', 'LDP_BIT', '{"epsilon": 1, "lo": 0, "hi": 120, "n_expected": 20000}')`}},
	issuing(Procedure{"dp_issue_tokens", "dp_issue_tokens(name, n [, stratum [, round]])",
		"Issues n one-time tokens, each bound at random to a round and a cell, with exact quotas, and returns them, once: the server keeps hashes only. A token is good for one report. Tokens of a shuffle collection are issued at its shuffler, unless it was declared with trust 'same_operator'. A round is named where more people are wanted for it.",
		"CALL dp_issue_tokens('commute', 20000)"}),
	issuingLinks(Procedure{"dp_issue_links", "dp_issue_links(name, n, json [, stratum [, round]])",
		"Issues tokens as dp_issue_tokens does, as links, once: each opens the page at contribute-listen, which explains, asks, randomises in the browser and sends. The JSON has its url, the question and, where a choice is asked, the choices: two of LDP_BIT for its lowest and its highest value, those of LDP_HIER for its buckets from the lowest on. A token is in the fragment of its link, which no server sees.",
		`CALL dp_issue_links('commute', 400, '{"url": "https://survey.example.org:8443", "question": "How many minutes is your way to work?"}')`}),
	onCollection(1, nil, (*Admin).openCollection, Procedure{"dp_open_collection", "dp_open_collection(name)",
		"Publishes the parameters of round 1, which never change afterwards, and lets reports come. A round that was closed or inconclusive is opened again with the same parameters, for additional people; one of a shuffle collection takes a further batch.",
		"CALL dp_open_collection('commute')"}),
	onCollection(1, previewColumns, (*Admin).previewRound, Procedure{"dp_preview_round", "dp_preview_round(name)",
		"Shows the reports of each cell of the round, how many it needs, and what dp_next_round would publish now or why it would not. Changes nothing and costs nothing.",
		"CALL dp_preview_round('commute')"}),
	onCollection(1, stateColumns, (*Admin).nextRound, Procedure{"dp_next_round", "dp_next_round(name)",
		"Ends the round, publishes what the next one needs, and opens that; after the last round the collection is FINAL and its results are kept. With too few reports it changes nothing; a round that is inconclusive makes the collection FAILED.",
		"CALL dp_next_round('commute')"}),
	onCollection(1, nil, (*Admin).closeCollection, Procedure{"dp_close_collection", "dp_close_collection(name)",
		"Stops taking reports and stays in the round.",
		"CALL dp_close_collection('commute')"}),
	onCollection(2, nil, (*Admin).abortCollection, Procedure{"dp_abort_collection", "dp_abort_collection(name, reason)",
		"Ends a collection without a result, for good.",
		"CALL dp_abort_collection('commute', 'the question was misunderstood')"}),
	onCollection(1, nil, (*Admin).dropCollection, Procedure{"dp_drop_collection", "dp_drop_collection(name)",
		"Removes a collection that takes no reports, with its table, tokens and results.",
		"CALL dp_drop_collection('commute')"}),
}

// onCollection is a procedure with n arguments for the role collector, on the collection that the
// first one names.
func onCollection(n int, result []column, f func(a *Admin, ctx *sql.Context, name string, args []string) ([]sql.Row, error), p Procedure) procedure {
	return procedure{Procedure: p, min: n, max: n, result: result, may: (*Admin).collecting, run: func(a *Admin, ctx *sql.Context, args []string) ([]sql.Row, error) {
		name, err := collectionName(args[0])
		if err != nil {
			return nil, err
		}
		return f(a, ctx, name, args[1:])
	}}
}

// collectionName reads the name of a collection: short, or with its database, with or without back
// quotes.
func collectionName(text string) (string, error) {
	parts, ok := identifiers(strings.TrimSpace(text))
	if !ok {
		return "", refuse.New(refuse.CollectionState, "%q is not the name of a collection.", cut(text)).With("SELECT * FROM dp.collections lists them.")
	}
	return strings.ToLower(strings.Join(parts, ".")), nil
}

// collection finds the collection that an argument names.
func (a *Admin) collection(text string) (collections.Summary, error) {
	name, err := collectionName(text)
	if err != nil {
		return collections.Summary{}, err
	}
	c, ok := a.o.Collections.Lookup(name)
	if !ok {
		return c, refuse.New(refuse.CollectionState, "There is no collection %.140s.", name).With("SELECT * FROM dp.collections lists them.")
	}
	return c, nil
}

func (a *Admin) createCollection(ctx *sql.Context, args []string) ([]sql.Row, error) {
	ref, err := tableRef(ctx, args[0])
	if err != nil {
		return nil, err
	}
	p := collect.Protocol(strings.ToUpper(strings.TrimSpace(args[1])))
	d, err := collect.ParseDeclaration(p, []byte(args[2]))
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(a.unprotected(ref.String()), a.noView(ctx, ref.Schema, ref.Name)); err != nil {
		return nil, err
	}
	design, err := a.o.Collections.Create(ctx, ref, p, d, a.o.Principal(ctx))
	if err != nil {
		return nil, err
	}
	if err := a.Declare(ctx, ref); err != nil {
		return nil, err
	}
	return DesignRows(design), nil
}

// unprotected refuses a name that policies bind to persons, and makes what was public before
// undeclared.
func (a *Admin) unprotected(name string) error {
	if t := a.o.Catalog.Snapshot().Table(name); t.Account != "" {
		return refuse.New(refuse.CollectionState, "The name %s belongs to a table that was protected.", name).With("Choose another name.")
	}
	return nil
}

// noView refuses the name of a view, which would be read in the place of the collection's table.
func (a *Admin) noView(ctx *sql.Context, schema, name string) error {
	if a.o.HasView == nil {
		return nil
	}
	found, err := a.o.HasView(ctx, schema, name)
	if err == nil && found {
		err = refuse.New(refuse.CollectionState, "There is a view %s.%s.", schema, name).With("Choose another name.")
	}
	return err
}

// DeclareCollection makes the table of a collection public, if it is not.
func (a *Admin) DeclareCollection(ctx *sql.Context, c collections.Summary) error {
	return a.Declare(ctx, store.TableRef{Schema: c.Schema, Name: c.Name})
}

// openCollection opens a collection, and tells in the ledger what each contributor pays. It is a
// line to read, and no charge: nothing of what contributors send is spent from a budget.
func (a *Admin) openCollection(ctx *sql.Context, name string, _ []string) ([]sql.Row, error) {
	if err := a.o.Collections.Open(ctx, name); err != nil {
		return nil, err
	}
	c, ok := a.o.Collections.Lookup(name)
	if !ok {
		return nil, nil // dropped meanwhile
	}
	if err := a.DeclareCollection(ctx, c); err != nil {
		return nil, err
	}
	return nil, a.o.Ledger.Note(a.o.Principal(ctx), "collection", opened(c))
}

// opened words what the ledger says of an open collection.
func opened(c collections.Summary) string {
	return fmt.Sprintf("%s.%s takes reports of round %d by %s: each contributor pays %s, outside of every budget here",
		c.Schema, c.Name, c.Round, c.Protocol, price(costOf(c)))
}

func (a *Admin) closeCollection(ctx *sql.Context, name string, _ []string) ([]sql.Row, error) {
	return nil, a.o.Collections.Close(ctx, name)
}

func (a *Admin) abortCollection(ctx *sql.Context, name string, args []string) ([]sql.Row, error) {
	why, err := reason(args[0])
	if err == nil && why == "" {
		err = wantsReason("Aborting a collection is for good.", fmt.Sprintf("dp_abort_collection('%s', 'why')", name))
	}
	if err != nil {
		return nil, err
	}
	return nil, a.o.Collections.Abort(ctx, name, why)
}

// dropCollection drops the table first: a name that stays public for a moment is undeclared as soon
// as a table of that name is made.
func (a *Admin) dropCollection(ctx *sql.Context, name string, _ []string) ([]sql.Row, error) {
	c, ok := a.o.Collections.Lookup(name)
	drop := func() error { return a.o.Collections.Drop(ctx, name) }
	if !ok {
		return nil, drop()
	}
	if err := a.o.Catalog.Leaving(c.Schema+"."+c.Name, drop); err != nil {
		return nil, err
	}
	return nil, a.o.Catalog.Dropped(c.Schema + "." + c.Name)
}

var stateColumns = []column{text("state"), count("round"), text("results")}

func (a *Admin) nextRound(ctx *sql.Context, name string, _ []string) ([]sql.Row, error) {
	if err := a.o.Collections.Next(ctx, name); err != nil {
		return nil, err
	}
	c, ok := a.o.Collections.Lookup(name)
	if !ok {
		return nil, nil
	}
	row := sql.Row{string(c.State), int64(c.Round), nil}
	if c.State == collections.Final {
		row[2] = "SELECT * FROM dp.collection_results WHERE collection = '" + c.Name + "'"
	}
	return []sql.Row{row}, nil
}

// wholeNumber reads a whole number of at most some size.
func wholeNumber(what, text string, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil || n > most {
		return 0, refuse.New(refuse.CollectionParameter, "The %s %q is not a whole number up to %d.", what, cut(text), most).
			With("Give it as a number, for example 1.")
	}
	return n, nil
}

// optionalNumber is wholeNumber of an argument that may be missing or blank; given says that it is
// there.
func optionalNumber(what string, args []string, i int, most uint64) (n uint64, given bool, err error) {
	text := optional(args, i)
	if strings.TrimSpace(text) == "" {
		return 0, false, nil
	}
	n, err = wholeNumber(what, text, most)
	return n, true, err
}

// previewColumns are what dp_preview_round returns: a line for each cell, and one, without a cell,
// for the round of each stratum.
var previewColumns = []column{text("stratum"), count("cell"), text("randomizer"), count("n_received"), count("n_min"), count("quota"),
	text("outcome"), text("publishes"), text("warnings")}

func (a *Admin) previewRound(ctx *sql.Context, name string, _ []string) ([]sql.Row, error) {
	list, err := a.o.Collections.Preview(ctx, name)
	if err != nil {
		return nil, err
	}
	c, _ := a.o.Collections.Lookup(name)
	var out []sql.Row
	for _, p := range list {
		rows, total := a.previewCells(c, p)
		row := sql.Row{p.Stratum, nil, nil, total, a.roundMin(c, p), nil, "ready", nil, nil}
		if p.Refusal != nil {
			row[6] = p.Refusal.Error()
		} else if row[7], err = published(p); err != nil {
			return nil, err
		}
		row[8] = orNull(strings.Join(lists.Map(p.Info.Warnings, func(w local.Warning) string { return w.Code + ": " + w.Text }), " "))
		out = append(append(out, row), rows...)
	}
	return out, nil
}

// published is what dp_next_round would publish, or in the last round keep as the result, as JSON.
func published(p collections.Preview) (any, error) {
	var what any = p.Published
	if p.Result != nil {
		what = p.Result
	}
	text, err := json.Marshal(what)
	return string(text), err
}

func (a *Admin) previewCells(c collections.Summary, p collections.Preview) (rows []sql.Row, total int64) {
	for _, n := range a.o.Collections.Cells() {
		if n.Name != c.Name || n.Round != p.Round || n.Stratum != p.Stratum {
			continue
		}
		total += int64(n.Received)
		outcome := any("ready")
		if n.Received < n.Cell.Min {
			outcome = "too few"
		}
		rows = append(rows, sql.Row{p.Stratum, int64(n.Cell.Cell), string(n.Cell.Randomiser), int64(n.Received), int64(n.Cell.Min), int64(n.Cell.Quota), outcome, nil, nil})
	}
	return rows, total
}

// roundMin is how many reports the cells of the round need together.
func (a *Admin) roundMin(c collections.Summary, p collections.Preview) any {
	for _, r := range a.o.Collections.Rounds() {
		if r.Name == c.Name && r.Round == p.Round && r.Stratum == p.Stratum {
			return int64(r.Min)
		}
	}
	return nil
}

// loadProcedure takes a batch of a shuffle collection from its shuffler.
var loadProcedure = procedure{min: 9, max: 9, result: []column{text("batch")}, may: (*Admin).loading, note: noteOfLoad, binary: true, run: (*Admin).loadBatch, Procedure: Procedure{"dp_load_batch", "dp_load_batch(name, round, stratum, cell, batch, reports, part, parts, bag)",
	"Takes one part of a batch of a shuffle collection: its round, stratum (NULL without), cell and number, of how many reports it is, which part of how many (from 1), and the sealed messages. When all parts are there the messages are opened, checked and stored. Sending a part again is harmless; a batch is loaded once. Called by scrim shuffle, with the role shuffler.",
	"CALL dp_load_batch('commute', 1, NULL, 0, 1, 10000, 1, 1, ?)"}}

// noteOfLoad is the call without the messages.
func noteOfLoad(args []string) string {
	bag := len(args) - 1
	return fmt.Sprintf("CALL dp_load_batch('%s', %d bytes)", strings.ReplaceAll(strings.Join(args[:bag], "', '"), "\x00", ""), len(args[bag]))
}

// loadBatch reads the arguments and hands the part over.
func (a *Admin) loadBatch(ctx *sql.Context, args []string) ([]sql.Row, error) {
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
		Part: int(n[6]), Parts: int(n[7]), Sealed: []byte(args[8]),
	})
	if err != nil {
		return nil, err
	}
	if done {
		return []sql.Row{{"loaded"}}, nil
	}
	return []sql.Row{{"waits for its other parts"}}, nil
}
