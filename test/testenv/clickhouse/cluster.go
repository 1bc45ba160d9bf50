package clickhouse

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scrim/test/testenv"
)

// Name is the cluster's name in the servers' configuration, and Pair's shards have two replicas
// each, both of them the same server.
const Name, Pair = "three", "pair"

// Cluster is some servers, each of them one shard of the cluster Name.
type Cluster struct {
	t     testing.TB
	nodes []*node
}

type node struct {
	dir          string
	native, http int
	binary       string
	mu           sync.Mutex
	process      *exec.Cmd
	out          *testenv.Log
}

// Start starts so many servers, or skips the test where ClickHouse is not installed. Accounts are
// default, which may do everything and has no password; scrim and locked, whose password is
// "secret": the first may read and change its settings, the second may read alone.
func Start(t testing.TB, servers int) *Cluster {
	t.Helper()
	binary := testenv.Program(t, "clickhouse-server", "/usr/sbin/clickhouse-server")
	dir, err := os.MkdirTemp("", "scrim-clickhouse")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &Cluster{t: t}
	ports := testenv.Ports(t, 3*servers)
	for i := range servers {
		c.nodes = append(c.nodes, &node{dir: filepath.Join(dir, fmt.Sprint(i)), native: ports[3*i], http: ports[3*i+1], binary: binary, out: &testenv.Log{}})
	}
	for i, n := range c.nodes {
		n.write(t, "config.xml", c.config(n, ports[3*i+2]))
		n.write(t, "users.xml", users(""))
	}
	for i := range c.nodes {
		c.launch(i)
	}
	t.Cleanup(func() {
		for i := range c.nodes {
			c.Kill(i)
		}
	})
	for i := range c.nodes {
		c.ready(i)
	}
	return c
}

func (n *node) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (c *Cluster) config(n *node, interserver int) string {
	var one, two strings.Builder
	for _, o := range c.nodes {
		replica := fmt.Sprintf("<replica><host>127.0.0.1</host><port>%d</port></replica>", o.native)
		one.WriteString("<shard>" + replica + "</shard>")
		two.WriteString("<shard>" + replica + replica + "</shard>")
	}
	return fmt.Sprintf(`<yandex><logger><level>warning</level><console>1</console></logger><listen_host>127.0.0.1</listen_host>
<tcp_port>%d</tcp_port><http_port>%d</http_port><interserver_http_port>%d</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>
<path>%s/data/</path><tmp_path>%s/tmp/</tmp_path><users_config>%s/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><timezone>Asia/Tokyo</timezone><mark_cache_size>16777216</mark_cache_size>
<remote_servers><%s>%s</%s><%s>%s</%s></remote_servers></yandex>`, n.native, n.http, interserver, n.dir, n.dir, n.dir, Name, one.String(), Name, Pair, two.String(), Pair)
}

// users writes accounts; the profile of all that may read has the settings besides.
func users(settings string) string {
	account := func(name, password, profile string) string {
		return fmt.Sprintf("<%s><password>%s</password><networks><ip>127.0.0.1</ip></networks><profile>%s</profile><quota>default</quota></%s>", name, password, profile, name)
	}
	return "<yandex><profiles><default>" + settings + "</default><reader><readonly>2</readonly>" + settings + "</reader><locked><readonly>1</readonly></locked></profiles><users>" +
		account("default", "", "default") + account("scrim", "secret", "reader") + account("locked", "secret", "locked") +
		"</users><quotas><default></default></quotas></yandex>"
}

func (c *Cluster) launch(i int) {
	n := c.nodes[i]
	n.mu.Lock()
	defer n.mu.Unlock()
	n.process = exec.Command(n.binary, "--config-file="+filepath.Join(n.dir, "config.xml"))
	n.process.Dir = n.dir
	n.process.Stdout, n.process.Stderr = n.out, n.out
	if err := n.process.Start(); err != nil {
		c.t.Fatal(err)
	}
}

// ready waits until a server answers.
func (c *Cluster) ready(i int) {
	c.t.Helper()
	testenv.Succeeds(c.t, 60*time.Second, "ClickHouse", func() error {
		if _, err := c.nodes[i].ask("SELECT 1"); err != nil {
			return fmt.Errorf("%w\n%s", err, c.nodes[i].out)
		}
		return nil
	})
}

// Kill ends a server at once.
func (c *Cluster) Kill(i int) {
	n := c.nodes[i]
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil {
		return
	}
	n.process.Process.Kill()
	n.process.Wait()
	n.process = nil
}

// Restart starts a server that was ended, with its data, and waits for it.
func (c *Cluster) Restart(i int) {
	c.t.Helper()
	c.Kill(i)
	c.launch(i)
	c.ready(i)
}

// Addr is where a server speaks the native protocol.
func (c *Cluster) Addr(i int) string { return fmt.Sprintf("127.0.0.1:%d", c.nodes[i].native) }

// Profile gives the accounts of a server settings, such as <max_rows_to_read>5</max_rows_to_read>,
// and starts it again.
func (c *Cluster) Profile(i int, settings string) {
	c.t.Helper()
	c.nodes[i].write(c.t, "users.xml", users(settings))
	c.Restart(i)
}

// Exec runs statements on one server as default, and ends the test where one fails.
func (c *Cluster) Exec(i int, statements ...string) {
	c.t.Helper()
	for _, q := range statements {
		if _, err := c.nodes[i].ask(q); err != nil {
			c.t.Fatalf("%s: %v", q, err)
		}
	}
}

// All runs statements on every server.
func (c *Cluster) All(statements ...string) {
	c.t.Helper()
	for i := range c.nodes {
		c.Exec(i, statements...)
	}
}

// Value asks a server as default, and returns its answer as text.
func (c *Cluster) Value(i int, query string) string {
	c.t.Helper()
	out, err := c.nodes[i].ask(query)
	if err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	return out
}

func (n *node) ask(query string) (string, error) {
	r, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/?insert_distributed_sync=1&allow_experimental_low_cardinality_type=1", n.http), "text/plain", strings.NewReader(query))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", body)
	}
	return strings.TrimSpace(string(body)), err
}
