package hours

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"scrim/internal/mcp"
)

// tools is the agent's end of scrim mcp.
type tools struct {
	*hour
	session *sdk.ClientSession
}

// call calls a tool, reads its structured answer into out, and returns it as text; failed says that
// it is an error, which has been read.
func (c tools) call(what, tool string, arguments map[string]any, out any) (text string, failed bool) {
	c.t.Helper()
	start := time.Now()
	r, err := c.session.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || len(r.Content) == 0 {
		c.t.Fatalf("%s: %v", tool, err)
	}
	took := time.Since(start)
	text = r.Content[0].(*sdk.TextContent).Text
	said := text
	if r.IsError {
		c.reads(text)
	} else if b, err := json.Marshal(r.StructuredContent); err != nil || json.Unmarshal(b, out) != nil {
		c.t.Fatalf("%s answers %s", tool, text)
	} else {
		said = string(b)
	}
	typed := ""
	for _, v := range arguments {
		typed = fmt.Sprint(" ", v)
	}
	c.done(what, tool+typed, took, said)
	return text, r.IsError
}

// ask is the agent's hour.
func ask(h *hour, s *site) {
	line := "scrim mcp --user agent ml"
	fields := strings.Fields(s.actual.Replace(line))
	cmd := exec.Command(filepath.Join(absolute(h.t, module), "bin", fields[0]), fields[1:]...)
	cmd.Dir, cmd.Env = h.dir, append(environment(h.t, h.dir), "SCRIM_PASSWORD="+s.agentPassword)
	errs := filepath.Join(h.dir, "mcp.err")
	cmd.Stderr = h.create(errs)
	start := time.Now()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "hours", Version: "1"}, nil).Connect(h.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		h.t.Fatalf("%v: %s", err, h.file(errs))
	}
	h.done("is connected", line, time.Since(start), "")
	c := tools{h, session}

	var d mcp.Description
	c.call("looks around", "describe", nil, &d)
	if len(d.Tables) < 2 || len(d.Functions) < 10 || len(d.Budgets) == 0 {
		h.t.Errorf("describe tells %+v", d)
	}
	c.call("looks at a table", "describe", map[string]any{"table": "ml.ratings"}, &d)
	if len(d.Columns) != 4 || len(d.Keys) == 0 {
		h.t.Errorf("describe tells %+v", d)
	}
	for _, m := range []struct{ what, sql string }{{"would change something", "DELETE FROM ratings"}, {"wants rows", "SELECT * FROM ratings"}, {"mistypes a table", "SELECT COUNT(*) FROM rating"},
		{"asks for too much", "SELECT /*+ SET_VAR(dp_epsilon=7) */ COUNT(*) FROM ratings"}} {
		if text, failed := c.call(m.what, "query", map[string]any{"sql": m.sql}, nil); !failed {
			h.t.Errorf("%s is answered: %s", m.sql, text)
		}
	}
	question := map[string]any{"sql": "SELECT AVG(rating) AS mean, COUNT(DISTINCT userId) AS people FROM ratings"}
	var price mcp.Price
	if text, failed := c.call("asks for the price", "price", question, &price); failed || len(price.Lines) == 0 {
		h.t.Errorf("price: %s", text)
	}
	var a mcp.Answer
	if text, failed := c.call("asks", "query", question, &a); failed || len(a.Rows) != 1 || len(a.Intervals) == 0 || len(a.Cost) == 0 || a.Cost[0].Entry != "charge" {
		h.t.Errorf("query: %s", text)
	}
	for _, w := range a.Warnings {
		h.reads(fmt.Sprint(w["code"], ": ", w["message"], " ", w["remedy"]))
	}
	var left mcp.Budgets
	if text, failed := c.call("asks what is left", "budget", nil, &left); failed || len(left.Budgets) == 0 || left.Budgets[0]["questions_left"] == nil {
		h.t.Errorf("budget: %s", text)
	}
	if err := session.Close(); err != nil {
		h.t.Error(err)
	}
	h.reads(h.file(errs))
}
