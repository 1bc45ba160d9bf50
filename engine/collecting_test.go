package engine

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
)

// contributor is an account that may send reports, and nothing else.
func (i *instance) contributor(root *client, change ...func(*mysql.Config)) *client {
	i.t.Helper()
	if _, err := root.try("CREATE USER contributor IDENTIFIED BY 'pw'"); err == nil {
		root.exec("GRANT INSERT ON dp_in.* TO contributor")
	}
	return i.client("contributor", "pw", change...)
}

// issued is a token as dp_issue_tokens returns it.
type issued struct {
	token   []byte
	round   int
	cell    uint32
	stratum string
}

func (c *client) issue(call string) []issued {
	c.t.Helper()
	var out []issued
	for _, row := range c.query(call) {
		token, err := hex.DecodeString(row[0])
		round, err2 := strconv.Atoi(row[1])
		cell, err3 := strconv.Atoi(row[2])
		if err := errors.Join(err, err2, err3); err != nil || len(token) != 16 {
			c.t.Fatalf("token %v: %v", row, err)
		}
		stratum := row[3]
		if stratum == "NULL" {
			stratum = ""
		}
		out = append(out, issued{token, round, uint32(cell), stratum})
	}
	return out
}

// params fetches and checks the parameters of a round as a contributor does.
func (c *client) params(collection string, round int, stratum string) *collect.Params {
	c.t.Helper()
	rows := c.query("SELECT params, fingerprint FROM dp.collection_rounds WHERE collection = ? AND round = ? AND stratum = ?", collection, round, stratum)
	if len(rows) != 1 {
		c.t.Fatalf("%s has %d rounds %d of stratum %q", collection, len(rows), round, stratum)
	}
	p, err := collect.Parse([]byte(rows[0][0]))
	if err != nil {
		c.t.Fatal(err)
	}
	print := p.Fingerprint()
	if string(print[:]) != rows[0][1] || string(p.Canonical()) != rows[0][0] {
		c.t.Fatalf("the parameters are not what the fingerprint is of")
	}
	if err := p.Verify(); err != nil {
		c.t.Fatal(err)
	}
	return p
}

// report makes a report.
func report(t *testing.T, p *collect.Params, cell uint32, value float64) []byte {
	t.Helper()
	return reportBy(t, exact.Secure(), p, cell, value)
}

// reportBy makes a report by given coins.
func reportBy(t *testing.T, coins *exact.Rand, p *collect.Params, cell uint32, value float64) []byte {
	t.Helper()
	b, err := device.Report(coins, p, cell, collect.Value{value})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const commute = `CALL dp_create_collection('survey.commute', 'LDP_BIT', '{"epsilon": 2, "lo": 0, "hi": 120, "n_expected": 400}')`

// TestCollectionEndToEnd takes a collection through its life over the wire.
func TestCollectionEndToEnd(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE survey")
	made := map[string]string{}
	for _, row := range root.query(commute) {
		made[row[0]] = row[1]
	}
	if made["collection"] != "survey.commute" || made["contributor_epsilon"] != "2" || made["standard_error"] == "" || made["round_1_contributors"] != "400" {
		t.Errorf("dp_create_collection returned %v", made)
	}
	if got := root.value("SELECT state FROM dp.policies WHERE table_name = 'survey.commute'"); got != "public" {
		t.Errorf("the table of the reports is %s", got)
	}
	tokens := root.issue("CALL dp_issue_tokens('commute', 400)")
	if len(tokens) != 400 {
		t.Fatalf("%d tokens", len(tokens))
	}
	root.exec("CALL dp_open_collection('commute')")
	con := i.contributor(root)
	p := con.params("commute", 1, "")
	for n, tok := range tokens {
		value := float64(n % 120)
		if _, err := con.conn.ExecContext(context.Background(), "INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", tok.token, report(t, p, tok.cell, value)); err != nil {
			t.Fatal(err)
		}
	}
	if got := root.value("SELECT COUNT(*) FROM survey.commute"); got != "400" {
		t.Errorf("%s reports are stored", got)
	}
	preview := root.query("CALL dp_preview_round('survey.commute')")
	if len(preview) != 2 || preview[0][3] != "400" || preview[0][6] != "ready" || !strings.Contains(preview[0][7], "mean") {
		t.Errorf("preview: %v", preview)
	}
	if got := root.query("CALL dp_next_round('commute')"); fmt.Sprint(got[0][:2]) != "[FINAL 1]" {
		t.Errorf("dp_next_round: %v", got)
	}
	result := root.value("SELECT JSON_EXTRACT(result, '$.mean') FROM dp.collection_results WHERE collection = 'commute'")
	if mean, err := strconv.ParseFloat(result, 64); err != nil || mean < 20 || mean > 95 {
		t.Errorf("the mean is %s, %v", result, err)
	}
	root.exec("CALL dp_drop_collection('commute')")
	if got := root.query("SELECT state FROM dp.policies WHERE table_name = 'survey.commute'"); len(got) > 0 && got[0][0] == "public" {
		t.Errorf("the dropped table is still %v", got)
	}
	if got := root.query("SHOW TABLES FROM survey"); len(got) != 0 {
		t.Errorf("the dropped collection left %v", got)
	}
}

// pool is what a contributor's service has: connections for many at once.
func (i *instance) pool() *sql.DB {
	i.t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = "contributor", "pw", "tcp", i.Addr().String()
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		i.t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(64)
	i.t.Cleanup(func() { db.Close() })
	return db
}
