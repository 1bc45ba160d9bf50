package admin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/collections"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/issue"
	"scrim/internal/refuse"
)

// issuing is the procedure that returns tokens, of which there may be millions.
func issuing(p Procedure) procedure {
	return procedure{Procedure: p, min: 2, max: 4, result: tokenColumns, stream: (*Admin).issueTokens, may: (*Admin).collecting}
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
	round, _, err := optionalNumber("round", args, 3, 255)
	if err != nil {
		return nil, err
	}
	issue.Round = int(round)
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

// issuingLinks is dp_issue_tokens whose tokens are links that open a page.
func issuingLinks(p Procedure) procedure {
	return procedure{Procedure: p, min: 3, max: 5, result: []column{text("link")}, stream: (*Admin).issueLinks, may: (*Admin).collecting}
}

// page is what links say beside the token.
type page struct {
	URL      string   `json:"url"`
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

// Bounds of a page's texts, in characters, and of the number of choices; typescript/src/token.ts
// has the same.
const (
	maxQuestion = 300
	maxChoice   = 100
	maxChoices  = 64
)

func (a *Admin) issueLinks(ctx *sql.Context, args []string) (sql.RowIter, error) {
	c, err := a.collection(args[0])
	if err != nil {
		return nil, err
	}
	p, err := readPage(args[2], c)
	if err != nil {
		return nil, err
	}
	rows, err := a.issueTokens(ctx, append([]string{args[0], args[1]}, args[3:]...))
	if err != nil {
		return nil, err
	}
	return &linkRows{rows, p, c.Schema + "." + c.Name}, nil
}

// readPage reads the JSON of dp_issue_links for a collection.
func readPage(text string, c collections.Summary) (p page, err error) {
	bad := func(format string, args ...any) (page, error) {
		return page{}, refuse.New(refuse.CollectionParameter, format, args...).
			With(`Give JSON such as {"url": "https://survey.example.org:8443", "question": "How do you come to work?", "choices": ["on foot", "by bus", "by car"]}.`)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&p) != nil || d.More() {
		return bad("A page is described by an object with url, question and perhaps choices.")
	}
	u, err := url.Parse(p.URL)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return bad("%.200q is not the address of contribute-listen: https, a host, and perhaps a port.", p.URL)
	}
	p.URL = u.Scheme + "://" + u.Host
	if !short(p.Question, maxQuestion) {
		return bad("A question has 1 to %d characters.", maxQuestion)
	}
	if slices.ContainsFunc(p.Choices, func(choice string) bool { return !short(choice, maxChoice) }) {
		return bad("A choice has 1 to %d characters.", maxChoice)
	}
	n := len(p.Choices)
	switch {
	case c.Protocol != collect.LDPBit && c.Protocol != collect.LDPHier:
		return bad("The page reports by LDP_BIT and LDP_HIER, and %s.%s is of %s.", c.Schema, c.Name, c.Protocol)
	case n > 0 && c.Protocol == collect.LDPBit && n != 2:
		return bad("The choices of LDP_BIT are two: the first stands for the lowest value, the second for the highest.")
	case c.Protocol == collect.LDPHier && (n > maxChoices || n > 1<<(2*c.Declaration.Levels)):
		return bad("There are %d choices for the %d buckets of %d levels; they stand for the buckets, from the lowest on, and are %d at most.", n, 1<<(2*c.Declaration.Levels), c.Declaration.Levels, maxChoices)
	}
	return p, nil
}

// short tells whether a text has 1 to n characters that are seen.
func short(text string, n int) bool {
	return strings.TrimSpace(text) != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= n
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// linkRows are tokens as links. All that is of a token, and the question, is in the fragment, which
// browsers keep to themselves.
type linkRows struct {
	sql.RowIter
	page page
	name string
}

// Next implements sql.RowIter.
func (r *linkRows) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := r.RowIter.Next(ctx)
	if err != nil {
		return nil, err
	}
	return sql.Row{r.page.link(r.name, row)}, nil
}

// link writes the link of a row of tokens.
func (p page) link(name string, row sql.Row) string {
	secret, _ := row[0].(string)
	round, _ := row[1].(int64)
	cell, _ := row[2].(int64)
	var b bytes.Buffer
	b.WriteString(p.URL + collect.PagePath + "#c=" + url.QueryEscape(name) + "&t=" + secret + "&r=" + strconv.FormatInt(round, 10) + "&n=" + strconv.FormatInt(cell, 10))
	if stratum, ok := row[3].(string); ok {
		b.WriteString("&s=" + url.QueryEscape(stratum))
	}
	b.WriteString("&q=" + url.QueryEscape(p.Question))
	for _, c := range p.Choices {
		b.WriteString("&a=" + url.QueryEscape(c))
	}
	return b.String()
}
