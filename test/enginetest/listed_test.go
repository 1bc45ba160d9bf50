package enginetest

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	whole = flag.Bool("enginetest.all", false, "run every script, not every eighth")
	write = flag.Bool("enginetest.write", false, "with -enginetest.all: write testdata/failures.txt and testdata/refused.txt anew")
	only  = flag.String("enginetest.list", "", "run this list alone")
	dump  = flag.String("enginetest.dump", "", "write all that did not pass into this file, with the statements, as tab-separated values")
)

const (
	failuresFile = "testdata/failures.txt"
	refusedFile  = "testdata/refused.txt"
)

// fresh begins the reason of a line that -enginetest.write has added, until somebody has written a
// reason. upstream begins the reasons of what MySQL does as this server, not as expected.
const (
	fresh    = "new: "
	upstream = "upstream: "
)

// A name is a line of a list without its reason.
type name struct{ list, key string }

// read returns the reasons by name of one of the two files.
func read(t *testing.T, file string) map[name]string {
	b, err := os.ReadFile(file)
	if os.IsNotExist(err) && *write {
		return map[name]string{}
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[name]string{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if lines.Text() == "" || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		f := strings.SplitN(lines.Text(), "\t", 3)
		if len(f) != 3 || f[1] == "" {
			t.Fatalf("%s: a line wants list, reason and name, with tabs between: %q", file, lines.Text())
		}
		if strings.HasPrefix(f[1], fresh) && !*write {
			t.Errorf("%s: give a reason in place of %q: %s: %s", file, f[1], f[0], f[2])
		}
		out[name{f[0], f[2]}] = f[1]
	}
	return out
}

// save writes one of the files. A line that is new gets the beginning of what was got as reason.
func save(t *testing.T, file, title string, old map[name]string, now []result) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n# One line an assertion: list, reason, name; with tabs between.\n", title)
	var lines []string
	for _, r := range now {
		reason := old[name{r.list, r.key}]
		if reason == "" {
			reason = fresh + begin(r.got, 80)
		}
		lines = append(lines, r.list+"\t"+reason+"\t"+r.key)
	}
	slices.Sort(lines)
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// total counts the results of some lists.
type total struct{ run, passed, refused, failed, upstream int }

func (n *total) add(r result, reason string) {
	n.run++
	if r.outcome == failed && strings.HasPrefix(reason, upstream) {
		n.upstream++
	}
	switch r.outcome {
	case passed:
		n.passed++
	case refused:
		n.refused++
	case failed:
		n.failed++
	}
}

func (n total) String() string {
	share := func(of int) float64 { return 100 * float64(n.passed) / float64(max(1, of)) }
	s := fmt.Sprintf("%d run, %d passed, %d refused, %d failed; %.2f %% of what is not refused passed", n.run, n.passed, n.refused, n.failed, share(n.run-n.refused))
	if n.upstream > 0 {
		s += fmt.Sprintf(", %.2f %% without %d expectations that are not MySQL's", share(n.run-n.refused-n.upstream), n.upstream)
	}
	return s
}

// held matches statements about what earlier ones of a list have locked: all or none can be run.
var held = regexp.MustCompile(`(?i)_lock(s)?\(`)

func holds(s script) bool { return s.reads && held.MatchString(s.steps[0].text) }

// anyOrder is why statements fail whose order nothing asks for: now and then their rows come in the
// order that is expected.
const anyOrder = "an order that no ORDER BY asks for"

// TestEngine runs the lists and compares what does not pass with the two files.
func TestEngine(t *testing.T) {
	if *write && (!*whole || *only != "") {
		t.Fatal("-enginetest.write needs -enginetest.all and every list")
	}
	r := &runner{t: t, server: start(t)}
	for _, l := range lists() {
		if *only == "" || *only == l.name {
			r.run(l, func(i int) bool { return *whole || i%8 == 0 || holds(l.scripts[i]) })
		}
	}
	r.admin.close()

	failures, others := read(t, failuresFile), read(t, refusedFile)
	var all, changes total
	by := map[outcome][]result{}
	per := map[string]*total{}
	numbers := 0
	for _, x := range r.out {
		reason := failures[name{x.list, x.key}]
		all.add(x, reason)
		if x.changes {
			changes.add(x, reason)
		}
		if x.number != "" {
			numbers++
		}
		if per[x.list] == nil {
			per[x.list] = &total{}
		}
		per[x.list].add(x, reason)
		by[x.outcome] = append(by[x.outcome], x)
	}
	for _, l := range lists() {
		if n := per[l.name]; n != nil {
			t.Logf("%s: %v", l.name, *n)
		}
	}
	t.Logf("all lists: %v", all)
	t.Logf("lists that change data: %v", changes)
	t.Logf("all lists: %d expected errors came with another number than go-mysql-server's", numbers)

	if *dump != "" {
		var b strings.Builder
		for _, o := range []outcome{refused, failed} {
			for _, x := range by[o] {
				fmt.Fprintf(&b, "%d\t%s\t%s\t%s\t%s\t%s\n", o, x.list, x.key, begin(x.text, 1000), begin(x.want, 600), begin(x.got, 900))
			}
		}
		for _, x := range r.out {
			if x.number != "" {
				fmt.Fprintf(&b, "number\t%s\t%s\t%s\t%s\t%s\n", x.list, x.key, begin(x.text, 1000), x.number, begin(x.got, 900))
			}
		}
		if err := os.WriteFile(*dump, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for file, o := range map[string]outcome{failuresFile: failed, refusedFile: refused} {
		listed := map[outcome]map[name]string{failed: failures, refused: others}[o]
		if *write {
			title := map[outcome]string{failed: "What fails.", refused: "What the server says by name that it does not support."}[o]
			save(t, file, title, listed, by[o])
			continue
		}
		for _, x := range r.out {
			switch reason, ok := listed[name{x.list, x.key}]; {
			case x.outcome == o && !ok:
				t.Errorf("not in %s: %s: %s\nstatement: %s\nexpected:  %s\ngot:       %s", file, x.list, x.key, x.text, x.want, x.got)
			case x.outcome != o && ok && reason != upstream+anyOrder:
				t.Errorf("in %s (%s), but no longer so; run with -enginetest.all -enginetest.write: %s: %s", file, reason, x.list, x.key)
			}
			delete(listed, name{x.list, x.key})
		}
		if *whole && *only == "" {
			for n := range listed {
				t.Errorf("in %s, but not run: %s: %s", file, n.list, n.key)
			}
		}
	}
}
