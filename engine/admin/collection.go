package admin

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/collect"
	"scrim/engine/collect/issue"
	"scrim/engine/collections"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

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

// issuing is the procedure that returns tokens, of which there may be millions.
func issuing(p Procedure) procedure {
	return procedure{Procedure: p, min: 2, max: 4, result: tokenColumns, stream: (*Admin).issueTokens, may: (*Admin).collecting}
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

// cutName splits schema.table.
func cutName(name string) (schema, table string, ok bool) {
	return strings.Cut(strings.ToLower(name), ".")
}

func (a *Admin) createCollection(ctx *sql.Context, args []string) ([]sql.Row, error) {
	name, err := tableName(ctx, args[0])
	if err != nil {
		return nil, err
	}
	p := collect.Protocol(strings.ToUpper(strings.TrimSpace(args[1])))
	d, err := collect.ParseDeclaration(p, []byte(args[2]))
	if err != nil {
		return nil, err
	}
	schema, table, _ := cutName(name)
	if err := a.unprotected(name); err != nil {
		return nil, err
	}
	if err := a.noView(ctx, schema, table); err != nil {
		return nil, err
	}
	design, err := a.o.Collections.Create(ctx, store.TableRef{Schema: schema, Name: table}, p, d, a.o.Principal(ctx))
	if err != nil {
		return nil, err
	}
	if err := a.o.Catalog.Public(a.o.Schema(ctx), name); err != nil {
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
	return a.o.Catalog.Public(a.o.Schema(ctx), c.Schema+"."+c.Name)
}

var tokenColumns = []column{text("token"), count("round"), count("cell"), text("stratum")}

func (a *Admin) issueTokens(ctx *sql.Context, args []string) (sql.RowIter, error) {
	name, err := collectionName(args[0])
	if err != nil {
		return nil, err
	}
	issue := collections.Issue{Stratum: strings.TrimSpace(optional(args, 2))}
	if issue.Tokens, err = wholeNumber("number of tokens", args[1], 1<<40); err != nil {
		return nil, err
	}
	if text := optional(args, 3); strings.TrimSpace(text) != "" {
		round, err := wholeNumber("round", text, 255)
		if err != nil {
			return nil, err
		}
		issue.Round = int(round)
	}
	tokens, err := a.o.Collections.IssueTokens(ctx, name, issue)
	if err != nil {
		return nil, err
	}
	return &tokenRows{tokens}, nil
}

// tokenRows are tokens as rows.
type tokenRows struct{ left []collections.Token }

// Next implements sql.RowIter. A token is forgotten when it has been shown.
func (r *tokenRows) Next(*sql.Context) (sql.Row, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	t := r.left[0]
	r.left[0].Secret = [issue.TokenSize]byte{}
	r.left = r.left[1:]
	return sql.Row{hex.EncodeToString(t.Secret[:]), int64(t.Round), int64(t.Cell), orNull(t.Stratum)}, nil
}

// Close implements sql.RowIter.
func (r *tokenRows) Close(*sql.Context) error {
	clear(r.left)
	return nil
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
