package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"scrim/internal/mcp"
)

const (
	agentPassword = "agent-password"
	agentToken    = "a-token-of-32-characters-or-more"
)

// serveAgents serves data, and an account for agents.
func serveAgents(t *testing.T) *process {
	t.Helper()
	p := serveFor(t, filepath.Join(t.TempDir(), "data"))
	p.root(t).must(t, "CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY, who INT NOT NULL, region VARCHAR(20), amount DOUBLE)",
		"INSERT INTO shop.orders WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, i, IF(i % 2 = 0, 'north', 'south'), i % 50 FROM n",
		"CREATE TABLE shop.regions (name VARCHAR(20) PRIMARY KEY)", "INSERT INTO shop.regions VALUES ('north'), ('south')", "CALL dp_public('shop.regions')",
		"CALL dp_protect('shop.orders', 'who', 'customer')", `CALL dp_set_domain('shop.orders', 'region', '["north","south"]')`,
		"CALL dp_set_budget('shop.orders', '*', 20, 1e-6, 'never')",
		"CREATE USER 'agent'@'%' IDENTIFIED BY '"+agentPassword+"'", "GRANT SELECT ON shop.* TO 'agent'@'%'",
		"CALL dp_set_budget('shop.orders', 'agent@%', 3, 1e-7, 'never')")
	return p
}

// mcpArguments start scrim mcp as the agent.
func mcpArguments(p *process, more ...string) *exec.Cmd {
	_, port, _ := net.SplitHostPort(p.addr)
	cmd := exec.Command("scrim", append([]string{"mcp", "--port", port, "--user", "agent"}, more...)...)
	cmd.Env = append(os.Environ(), clientPassword+"="+agentPassword, tokenVariable+"=")
	return cmd
}

// agent is a client of the protocol.
type agent struct {
	t *testing.T
	*sdk.ClientSession
}

func talk(t *testing.T, transport sdk.Transport) agent {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return agent{t, c}
}

// calls calls a tool and returns what it says, and its structured answer in out.
func (a agent) calls(tool string, arguments map[string]any, out any) (text string, failed bool) {
	a.t.Helper()
	r, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	text = r.Content[0].(*sdk.TextContent).Text
	if !r.IsError && out != nil {
		b, err := json.Marshal(r.StructuredContent)
		if err == nil {
			err = json.Unmarshal(b, out)
		}
		if err != nil {
			a.t.Fatalf("%s: %v in %s", tool, err, text)
		}
	}
	return text, r.IsError
}

func (a agent) asks(query string) (out mcp.Answer) {
	a.t.Helper()
	if text, failed := a.calls("query", map[string]any{"sql": query}, &out); failed {
		a.t.Fatalf("%s: %s", query, text)
	}
	return out
}

const byRegion = "SELECT region, COUNT(*) AS n, AVG(amount) FROM shop.orders GROUP BY region ORDER BY region"

func TestAgents(t *testing.T) {
	p := serveAgents(t)
	t.Run("in memory", func(t *testing.T) {
		c := mysql.NewConfig()
		c.User, c.Passwd, c.Net, c.Addr, c.Logger = "agent", agentPassword, "tcp", p.addr, &mysql.NopLogger{}
		connector, err := mysql.NewConnector(c)
		if err != nil {
			t.Fatal(err)
		}
		client, server := sdk.NewInMemoryTransports()
		if _, err := mcp.New(mcp.Options{Connector: connector, Rows: 2, Bytes: 1000, Timeout: time.Minute}).Connect(t.Context(), server, nil); err != nil {
			t.Fatal(err)
		}
		a := talk(t, client)
		agentAsks(t, a)
		if got := a.asks("SELECT name, schema_name FROM (SELECT 'a' AS name, 'b' AS schema_name UNION ALL SELECT 'c', 'd' UNION ALL SELECT 'e', 'f') x"); len(got.Rows) != 2 || !strings.Contains(got.Truncated, "LIMIT") {
			t.Errorf("of three rows, bounded by two: %+v", got)
		}
	})
	t.Run("over standard streams", func(t *testing.T) {
		a := talk(t, &sdk.CommandTransport{Command: mcpArguments(p, "shop")})
		if got := a.asks("SELECT COUNT(*) FROM regions"); len(got.Rows) != 1 || got.Rows[0][0] != 2.0 || len(got.Cost) != 0 {
			t.Errorf("a public table: %+v", got)
		}
		if got := a.asks(byRegion); len(got.Cost) == 0 || got.Cost[0].Entry != "replay" {
			t.Errorf("the same statement of the same account is no replay: %+v", got.Cost)
		}
	})
	t.Run("no longer than its time", func(t *testing.T) {
		a := talk(t, &sdk.CommandTransport{Command: mcpArguments(p, "--timeout", "1s")})
		many := "shop.regions a" // 2 to the power of 41 rows
		for i := range 40 {
			many += fmt.Sprintf(" JOIN shop.regions a%d ON a%d.name <= CONCAT(a.name, 'x')", i, i)
		}
		began := time.Now()
		text, failed := a.calls("query", map[string]any{"sql": "SELECT COUNT(*) FROM " + many}, nil)
		if took := time.Since(began); !failed || !strings.Contains(text, "3024") || took > time.Minute {
			t.Errorf("after %v: %s", took, text)
		}
		if got := a.asks("SELECT 1"); len(got.Rows) != 1 {
			t.Errorf("after that: %+v", got)
		}
	})
	t.Run("over HTTP", func(t *testing.T) { agentsOverHTTP(t, p) })
	t.Run("over HTTPS", func(t *testing.T) { agentsOverHTTPS(t, p) })
	t.Run("not as a DBA", func(t *testing.T) {
		cmd := mcpArguments(p)
		cmd.Args[len(cmd.Args)-1] = "root"
		cmd.Env = append(cmd.Env, clientPassword+"="+rootPassword)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "GRANT SELECT") {
			t.Errorf("got %v, %s", err, out)
		}
	})
}

// agentAsks goes through the tools as an agent would.
func agentAsks(t *testing.T, a agent) {
	t.Helper()
	tools, err := a.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 4 {
		t.Fatalf("%v, %v", tools, err)
	}
	for _, tool := range tools.Tools {
		if tool.OutputSchema == nil || tool.Description == "" {
			t.Errorf("%s has no description or no schema of its answer", tool.Name)
		}
	}
	var d mcp.Description
	text, _ := a.calls("describe", map[string]any{"table": "shop.orders"}, &d)
	if len(d.Columns) != 4 || len(d.Keys) != 1 || d.Tables[0]["state"] != "protected" {
		t.Errorf("describe: %s", text)
	}
	var price mcp.Price
	if text, failed := a.calls("price", map[string]any{"sql": byRegion}, &price); failed || price.Lines[0]["item"] != "budget" {
		t.Errorf("price: %s", text)
	}
	got := a.asks(byRegion)
	if len(got.Rows) != 2 || len(got.Columns) != 3 || len(got.Intervals) != 2 || got.Intervals[0].Column != "n" {
		t.Fatalf("got %+v", got)
	}
	for i, row := range got.Rows {
		if n, low, high := row[1].(float64), got.Intervals[0].Low[i].(float64), got.Intervals[0].High[i].(float64); low > n || n > high || low == high {
			t.Errorf("%v is not within [%v, %v]", n, low, high)
		}
	}
	if k := got.Cost; len(k) == 0 || k[0].Entry != "charge" || k[0].LedgerID == 0 || k[0].Epsilon == nil || *k[0].Epsilon > 1.01 || k[0].QuestionsLeft == nil {
		t.Errorf("cost: %+v", got.Cost)
	}
	if weak := a.asks("SELECT region, SUM(amount) FROM shop.orders WHERE id = 1 GROUP BY region"); len(weak.Warnings) == 0 {
		t.Errorf("no warning about two regions with one person: %+v", weak)
	}
	var budget mcp.Budgets
	if text, _ := a.calls("budget", nil, &budget); len(budget.Budgets) == 0 || budget.Budgets[0]["questions_left"] == nil {
		t.Errorf("budget: %s", text)
	}
	agentIsRefused(t, a)
}

// agentIsRefused asks what may not be asked.
func agentIsRefused(t *testing.T, a agent) {
	t.Helper()
	for query, want := range map[string]string{
		"SELECT 1; DROP TABLE shop.regions":                              "exactly one statement",
		"DELETE FROM shop.regions":                                       "only reads",
		"SELECT * FROM shop.orders":                                      "COUNT",
		"SELECT nothing FROM shop.regions":                               "describe",
		"SELECT * FROM shop.nowhere":                                     "describe",
		"SELECT /*+ SET_VAR(dp_epsilon=19) */ COUNT(*) FROM shop.orders": "budget",
	} {
		if text, failed := a.calls("query", map[string]any{"sql": query}, nil); !failed || !strings.Contains(text, want) {
			t.Errorf("%s: got %q, want %q", query, text, want)
		}
	}
}

// bearing adds headers to requests.
type bearing struct {
	over    http.RoundTripper
	headers map[string]string
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range b.headers {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	return b.over.RoundTrip(r)
}

// listens starts scrim mcp with a token, and returns where it listens.
func listens(t *testing.T, cmd *exec.Cmd) (address string) {
	t.Helper()
	cmd.Env = append(cmd.Env, tokenVariable+"="+agentToken)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(said); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "listening at ")
	}
	return address
}

func agentsOverHTTPS(t *testing.T, p *process) {
	cert, key := selfSigned(t, t.TempDir())
	address := listens(t, mcpArguments(p, "--http", "127.0.0.1:0", "--http-cert", cert, "--http-key", key))
	pem, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	secure := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	client := &http.Client{Transport: bearing{secure, map[string]string{"Authorization": "Bearer " + agentToken}}}
	a := talk(t, &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: client, DisableStandaloneSSE: true})
	if got := a.asks("SELECT 1"); !strings.HasPrefix(address, "https://") || len(got.Rows) != 1 {
		t.Errorf("%s: %+v", address, got)
	}
}

func agentsOverHTTP(t *testing.T, p *process) {
	beyond := mcpArguments(p, "--http", "0.0.0.0:0")
	if out, err := beyond.CombinedOutput(); err == nil || !strings.Contains(string(out), "--token-file") {
		t.Errorf("beyond loopback without a token: %v, %s", err, out)
	}
	address := listens(t, mcpArguments(p, "--http", "127.0.0.1:0"))
	for status, headers := range map[int][]map[string]string{
		http.StatusUnauthorized: {{}, {"Authorization": "Bearer another-token-than-it-is"}, {"Authorization": "Basic " + agentToken}},
		http.StatusForbidden:    {{"Authorization": "Bearer " + agentToken, "Origin": "https://example.org"}, {"Authorization": "Bearer " + agentToken, "Host": "example.org"}},
	} {
		for _, h := range headers {
			r, err := (&http.Client{Transport: bearing{http.DefaultTransport, h}}).Post(address, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
			if err != nil {
				t.Fatal(err)
			}
			_ = r.Body.Close()
			if r.StatusCode != status {
				t.Errorf("%v: got %d, want %d", h, r.StatusCode, status)
			}
		}
	}
	client := &http.Client{Transport: bearing{http.DefaultTransport, map[string]string{"Authorization": "Bearer " + agentToken}}}
	one := talk(t, &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: client, DisableStandaloneSSE: true})
	two := talk(t, &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: client, DisableStandaloneSSE: true})
	id := func(a agent) any { return a.asks("SELECT CONNECTION_ID()").Rows[0][0] }
	if a, b := id(one), id(two); a == b || a != id(one) {
		t.Errorf("connections %v and %v; want one for each session", a, b)
	}
	ended, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := one.Ping(ended, nil); err != nil {
		t.Error(err)
	}
}
