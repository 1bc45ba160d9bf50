package hours

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"scrim/test/testenv"
)

// site is the server that the DBA has set up, and what the others are told of it.
type site struct {
	mysql, http, contribute string // addresses
	analystPassword         string
	agentPassword           string
	link                    string // of the contributor
	typed                   int    // characters without mistakes, until an analyst can ask
	actual                  *strings.Replacer
	log                     string // file of the server's
}

const (
	agentPassword = "a word for the agent"

	// perMinute is how many characters forty words of five characters are.
	perMinute = 200
)

// administer is the DBA's hour: from an empty directory and two files to an analyst's account in
// under two minutes of typing, and what the agent and the contributor need.
func administer(h *hour) *site {
	h.files()
	s := &site{agentPassword: agentPassword}
	h.types("chooses root's password", "export SCRIM_ROOT_PASSWORD='choose one' SCRIM_PASSWORD='choose one'")
	s.serve(h)
	h.errs("protects before anything is there", "scrim protect --yes ml")
	h.types("imports the films", "scrim import --server 127.0.0.1:3307 --table ml.movies movies.csv")
	h.types("imports the ratings", "scrim import --server 127.0.0.1:3307 --table ml.ratings ratings.csv")
	h.errs("imports them again", "scrim import --server 127.0.0.1:3307 --table ml.ratings ratings.csv")
	said := h.types("declares the person, budgets, keys and an account", "scrim protect --yes --public ml.movies ml")
	m := regexp.MustCompile(`the password of analyst1 is (\w+) `).FindStringSubmatch(said)
	if m == nil {
		h.t.Fatalf("no password in %s", said)
	}
	s.analystPassword = m[1]
	h.types("looks at the budgets", `scrim sql -e '\budget'`)
	s.typed = h.characters()
	if s.typed > 2*perMinute {
		h.t.Errorf("the DBA types %d characters, %.1f minutes of forty words", s.typed, float64(s.typed)/perMinute)
	}
	h.types("declares which stars there are", `scrim sql -e "CALL dp_set_domain('ml.ratings', 'rating', '[0.5,1,1.5,2,2.5,3,3.5,4,4.5,5]')"`)
	h.types("declares which days", `scrim sql -e "CALL dp_set_domain('ml.ratings', 'timestamp', '{\"min\":820454400,\"max\":1546300799}')"`)
	h.types("gives an agent an account and a budget", `scrim sql -e "CREATE USER 'agent'@'%' IDENTIFIED BY '`+agentPassword+`'; GRANT SELECT ON ml.* TO 'agent'@'%'; CALL dp_set_budget('ml.ratings', 'agent@%', 2, 1e-7, 'month')"`)
	h.types("plans a collection", `scrim sql -e "CREATE DATABASE survey; CALL dp_create_collection('survey.minutes', 'LDP_BIT', '{\"epsilon\": 1, \"lo\": 0, \"hi\": 120, \"n_expected\": 400}')"`)
	said = h.types("issues a link for a contributor", `scrim sql --format csv -e "CALL dp_issue_links('minutes', 1, '{\"url\": \"http://127.0.0.1:8443\", \"question\": \"How many minutes is your way to work?\"}')"`)
	s.link = regexp.MustCompile(`http://[^",\s]+`).FindString(said)
	if s.link == "" {
		h.t.Fatalf("no link in %s", said)
	}
	h.types("opens the collection", `scrim sql -e "CALL dp_open_collection('minutes')"`)
	return s
}

// serve starts the server in the background of the DBA's shell.
func (s *site) serve(h *hour) {
	line := "scrim serve --data ml --http 127.0.0.1:8307 --contribute-listen 127.0.0.1:8443 &"
	s.log = filepath.Join(h.dir, fmt.Sprintf("line%d", len(h.steps)))
	start := time.Now()
	h.actual = strings.NewReplacer("scrim serve ", "scrim serve --listen 127.0.0.1:0 ", ":8307", ":0", ":8443", ":0")
	h.runs(line)
	says := regexp.MustCompile(`(?s)^scrim: ready on (\S+)\n.*scrim: dashboard on (\S+)\nscrim: console on \S+\nscrim: contributors on (\S+)\n$`)
	testenv.Succeeds(h.t, patience, "the server", func() error {
		said := h.file(s.log + ".out")
		m := says.FindStringSubmatch(said)
		if m == nil {
			return fmt.Errorf("it says %q, and %q", said, h.file(s.log+".err"))
		}
		s.mysql, s.http, s.contribute = m[1], m[2], m[3]
		return nil
	})
	s.actual = strings.NewReplacer("127.0.0.1:3307", s.mysql, "scrim protect ", "scrim protect --server "+s.mysql+" ", "scrim sql ", "scrim sql --port "+port(s.mysql)+" ",
		"scrim mcp ", "scrim mcp --port "+port(s.mysql)+" ", ":8307", ":"+port(s.http), ":8443", ":"+port(s.contribute))
	h.actual = s.actual
	h.done("starts a server on an empty directory", line, time.Since(start), last(h.file(s.log+".out"), ""))
}

// documented has the addresses of a text as they are typed.
func (s *site) documented(text string) string {
	return strings.NewReplacer(s.mysql, "127.0.0.1:3307", s.http, "127.0.0.1:8307", s.contribute, "127.0.0.1:8443", "--port "+port(s.mysql), "--port 3307").Replace(text)
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// wrong is in a log where something went wrong; a wrong password is the person's mistake.
var wrong = regexp.MustCompile(`(?m)"level":"(warn|error|fatal)".*"message":"([^l]|l[^o]|lo[^g])`)

// stop ends the server, whose log has told of nothing that went wrong.
func (s *site) stop(h *hour) {
	h.types("stops the server", "kill %1; wait %1")
	if log := h.file(s.log + ".err"); wrong.MatchString(log) {
		h.t.Errorf("the server's log:\n%s", log)
	}
}

// files puts movies.csv and ratings.csv into the DBA's directory.
func (h *hour) files() {
	h.t.Helper()
	for name, made := range map[string]func() string{"movies.csv": movies, "ratings.csv": ratings} {
		var text string
		if *movieLens == "" {
			text = made()
		} else {
			text = string(testenv.Unzipped(h.t, filepath.Join(*movieLens, name+".gz")))
		}
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
}

// The tables that stand for MovieLens where it may not be shipped: its columns, as many
// persons, and about as many ratings, of which some persons have many.
const (
	films   = 2000
	persons = 610
)

func movies() string {
	var b strings.Builder
	b.WriteString("movieId,title,genres\n")
	for i := range films {
		fmt.Fprintf(&b, "%d,Film %d (%d),%s\n", i+1, i+1, 1930+i%90, []string{"Comedy", "Drama", "Action|Thriller", "Comedy|Romance", "Documentary"}[i%5])
	}
	return b.String()
}

func ratings() string {
	var b strings.Builder
	draws := rand.New(rand.NewPCG(610, 2018))
	b.WriteString("userId,movieId,rating,timestamp\n")
	for person := range persons {
		begun := 830000000 + draws.IntN(700000000)
		for i := range min(1500, int(40/(0.01+draws.Float64()))) { // half of the persons have 78 or more
			film := int(float64(films) * draws.Float64() * draws.Float64())
			fmt.Fprintf(&b, "%d,%d,%.1f,%d\n", person+1, film+1, 0.5*float64(1+max(0, min(9, int(6.5+2*draws.NormFloat64())))), begun+i)
		}
	}
	return b.String()
}
