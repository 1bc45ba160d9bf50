package engine

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// difference is one statement of testdata/differential. A file has statements that end with a
// semicolon at the end of a line, and comments. A comment that begins with @ says how its statement
// is compared:
//
//	-- @refused 45002 LIMIT     on protected tables it is refused, with this SQLSTATE and a text that holds these words
//	-- @public why              it is not asked of protected tables
//	-- @private why             it is not asked of public ones
//	-- @mariadb SELECT …        what MariaDB is asked instead
//	-- @expect why              what follows is the answer, in the place of MariaDB's: columns, then rows, cells between bars
//	-- | a | b
//	-- | 1 | NULL
//	-- @within 1e-4             the relative tolerance of numbers on protected tables
//	-- @missing why             on protected tables there is one more row, of nobody: cells NULL or 0
//	-- @columns why             the names of the columns are not compared
//	-- @file public why         no statement that follows in the file is asked of protected tables
//
// A statement that begins with SET is run in each session and not compared.
type difference struct {
	place, text      string
	mariadb          string
	expect           [][]string
	state, words     string
	noPublic, noPriv bool
	noNames          bool
	missing          bool
	within           string
}

func differences(t *testing.T) []difference {
	t.Helper()
	files, err := filepath.Glob("testdata/differential/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no statements: %v", err)
	}
	var out []difference
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		var d difference
		publicly := false
		for n := 1; lines.Scan(); n++ {
			line := strings.TrimRight(lines.Text(), " ")
			comment, is := strings.CutPrefix(line, "-- ")
			switch {
			case strings.HasPrefix(line, "-- @file public "):
				publicly = true
			case is && d.text == "":
				if !d.directive(comment) {
					t.Fatalf("%s:%d: %s", name, n, comment)
				}
			case strings.TrimSpace(line) == "" || line == "--":
			default:
				if d.text == "" {
					d.place = filepath.Base(name) + ":" + strconv.Itoa(n)
				}
				d.text += line
				if text, ends := strings.CutSuffix(d.text, ";"); ends {
					d.text, d.noPriv = text, d.noPriv || publicly
					out = append(out, d)
					d = difference{}
				} else {
					d.text += "\n"
				}
			}
		}
		if d.text != "" {
			t.Fatalf("%s ends in the middle of a statement", name)
		}
	}
	return out
}

// directive takes a comment in; it is false for a directive that nobody knows.
func (d *difference) directive(comment string) bool {
	word, rest, _ := strings.Cut(comment, " ")
	switch word {
	case "@refused":
		d.state, d.words, _ = strings.Cut(rest, " ")
	case "@public":
		d.noPriv = true
	case "@private":
		d.noPublic = true
	case "@mariadb":
		d.mariadb = rest
	case "@within":
		d.within = rest
	case "@missing":
		d.missing = true
	case "@columns":
		d.noNames = true
	case "@expect":
		d.expect = [][]string{}
	case "|":
		var row []string
		for _, cell := range strings.Split(strings.TrimPrefix(comment, "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		d.expect = append(d.expect, row)
	default:
		return !strings.HasPrefix(word, "@")
	}
	return true
}
