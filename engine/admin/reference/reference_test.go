package reference

import (
	"os"
	"regexp"
	"strings"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
)

// TestReference fails when a document is not what the tables in the code say.
func TestReference(t *testing.T) {
	for _, path := range []string{"../../../docs/reference.md", "../../../docs/dialect.md"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Replace(string(b))
		if err != nil {
			t.Fatal(err)
		}
		if want != string(b) {
			t.Errorf("%s is out of date: run make docs", path)
		}
	}
}

// TestDialectNamesEveryFunction: each function that a statement can call is on the page, once.
func TestDialectNamesEveryFunction(t *testing.T) {
	page := Dialect()
	for _, f := range gms.BuiltIns {
		name := strings.ToUpper(f.FunctionName())
		if !word(f.FunctionName()) || f.FunctionName() == "regexp_like" { // which stands as s REGEXP 'pattern'
			continue
		}
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(page) {
			t.Errorf("docs/dialect.md does not say who evaluates %s", name)
		}
	}
	if n := len(page); n > 16<<10 {
		t.Errorf("the part is %d bytes long", n)
	}
}

func TestReplaceWantsMarks(t *testing.T) {
	for _, doc := range []string{"", begin("reference"), end("dialect"), end("reference") + begin("reference"), begin("reference") + end("dialect")} {
		if _, err := Replace(doc); err == nil {
			t.Errorf("Replace(%q): no error", doc)
		}
	}
	got, err := Replace("a\n" + begin("reference") + "OUTDATED\n" + end("reference") + "b\n")
	if err != nil || strings.Contains(got, "OUTDATED") || !strings.HasSuffix(got, end("reference")+"b\n") {
		t.Errorf("the old text is left, or the rest of the document is not: %v", err)
	}
}
