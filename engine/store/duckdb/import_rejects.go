package duckdb

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

func unreadable(format string, args ...any) error {
	return &Unreadable{Reason: fmt.Sprintf(format, args...)}
}

// Reject is a line of a CSV file that cannot be read.
type Reject struct {
	File   string
	Line   int64  // from 1
	Column string // "" where it is the whole line
	Reason string
}

// String names the place first.
func (r Reject) String() string {
	where := fmt.Sprintf("%s:%d: ", r.File, r.Line)
	if r.Column != "" {
		where += "column " + r.Column + ": "
	}
	return where + r.Reason
}

// Rejected tells of more lines that cannot be read than may be. Nothing was imported.
type Rejected struct {
	Lines []Reject // the first ones
	More  bool     // there are others
}

// Error counts the lines and shows the first.
func (r *Rejected) Error() string {
	const shown = 5
	count := strconv.Itoa(len(r.Lines))
	if r.More {
		count = "more than " + count
	}
	word := " lines"
	if count == "1" {
		word = " line"
	}
	var b strings.Builder
	b.WriteString(count + word + " cannot be read:")
	for _, l := range r.Lines[:min(len(r.Lines), shown)] {
		b.WriteString("\n  " + l.String())
	}
	if len(r.Lines) > shown || r.More {
		b.WriteString("\n  …")
	}
	return b.String()
}

// toldRejects is how many lines beyond those that may be left out are told.
const toldRejects = 1000

// rejectsLimit is how many errors the reader keeps. A line has one for each column at most, or one
// for each that it has too many; whoever counts looks whether there are as many as this.
func (s *inputs) rejectsLimit() int64 {
	return (s.o.MaxRejects + toldRejects) * int64(max(1, len(s.columns)))
}

// rejectsSQL has a text for each rejected line. Only the last scan counts: it has filled the table.
const rejectsSQL = `SELECT concat_ws(chr(31), s.file_path, e.line, coalesce(arg_min(e.column_name, e.column_idx), ''),
		arg_min(e.error_message, coalesce(e.column_idx, 0)), count(*))
	FROM reject_errors e JOIN reject_scans s USING (scan_id, file_id)
	WHERE e.scan_id = (SELECT max(scan_id) FROM reject_scans) GROUP BY s.file_path, e.line ORDER BY s.file_path, e.line`

// rejects are the lines that the load has left out; *Rejected where they are too many.
func (im *importer) rejects(ctx context.Context) ([]Reject, error) {
	if !im.source.text() {
		return nil, nil
	}
	texts, err := im.r.texts(ctx, rejectsSQL)
	if err != nil {
		return nil, err
	}
	var out []Reject
	var errs int64
	for _, t := range texts {
		f := strings.Split(t, "\x1f")
		line, _ := strconv.ParseInt(f[1], 10, 64)
		n, _ := strconv.ParseInt(f[len(f)-1], 10, 64)
		errs += n
		reason, _, _ := strings.Cut(strings.Join(f[3:len(f)-1], " "), "\n")
		out = append(out, Reject{File: f[0], Line: line, Column: f[2], Reason: readerWords(reason)})
	}
	more := errs >= im.source.rejectsLimit()
	if more || int64(len(out)) > im.o.MaxRejects {
		return nil, &Rejected{Lines: out, More: more}
	}
	return out, nil
}

// texts runs a query of ours with one column of texts that are not NULL.
func (r *raw) texts(ctx context.Context, sql string) ([]string, error) {
	stmt, err := r.prepare(sql)
	if err != nil {
		return nil, err
	}
	defer mapping.DestroyPrepare(&stmt)
	res, err := r.run(ctx, stmt, nil, nil)
	if err != nil {
		return nil, err
	}
	defer mapping.DestroyResult(&res)
	var out []string
	for {
		chunk := fetch(&res)
		if chunk.Ptr == nil {
			return out, nil
		}
		n := int(mapping.DataChunkGetSize(chunk))
		if n > 0 {
			vec := mapping.DataChunkGetVector(chunk, 0)
			for _, t := range unsafe.Slice((*stringT)(mapping.VectorGetData(vec)), n) {
				out = append(out, string(t.bytes()))
			}
		}
		destroy(chunk)
		if n == 0 {
			return out, nil
		}
	}
}

// Unreadable says why a file cannot be read as it was asked for.
type Unreadable struct {
	Reason string
	cause  error // nil, or the store's error that the reason words
}

// Error is the reason.
func (u *Unreadable) Error() string { return u.Reason }

// Unwrap returns what went wrong in the store, if that is the reason.
func (u *Unreadable) Unwrap() error { return u.cause }

// readError is what an import tells of an error: the one place where the words of DuckDB's readers
// become ours.
func readError(ctx context.Context, err error) error {
	var u *Unreadable
	var rejected *Rejected
	var repeated *Repeated
	if errors.As(err, &u) || errors.As(err, &rejected) || errors.As(err, &repeated) {
		return err
	}
	err = classify(ctx, err)
	var failed *store.Error
	if !errors.As(err, &failed) || failed.Driver == "" || store.Crowded(err) || failed.Kind == store.Interrupted {
		return err
	}
	return &Unreadable{Reason: readerWords(failed.Driver), cause: err}
}

// readerTexts are messages of DuckDB's readers, by their beginnings and places, and what is said
// instead.
var readerTexts = []struct {
	is   *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`(?s)Malformed JSON in file "(.+?)", at byte \d+ in line (\d+): (.+?)\.\s`), "$1:$2: this is no JSON: $3"},
	{regexp.MustCompile(`(?s)Malformed JSON in file "(.+?)", at byte \d+ in record/value (\d+): (.+?)\.\s`), "$1, value $2: this is no JSON: $3"},
	{regexp.MustCompile(`(?s)JSON transform error in file "(.+?)", in (?:line|record/value) (\d+): (.+?)(?:\n|\. ?Try|$)`), "$1:$2: unlike the values before: $3; --sample -1 looks at all of them"},
	{regexp.MustCompile(`(?s)Failed to cast value.*?: (.*?) when casting from source column (\S+)`), "column $2: $1 does not fit the type; see --types, VARCHAR takes anything"},
	{regexp.MustCompile(`(?s)Error when converting column ".*?"\. Could not convert string ("(?:.*?)") to '(\w+)'`), "$1 is no $2"},
	{regexp.MustCompile(`Expected Number of Columns: (\d+) Found: (\d+)`), "the columns are $1, and this line has $2"},
	{regexp.MustCompile(`Invalid unicode`), "this is not UTF-8; convert the file"},
	{regexp.MustCompile(`unterminated quote`), "a quote that begins a text has no end"},
	{regexp.MustCompile(`(?s)Could not convert string '(.*?)' to '?(\w+)'?(?: when casting from source column (\S+))?`), "column $3: '$1' is no $2; see --types, VARCHAR takes anything"},
	{regexp.MustCompile(`(?s)'(.+?)' too small to be a Parquet file|No magic bytes found at end of file '(.+?)'`), "$1$2 is no Parquet file, or its end is missing"},
	{regexp.MustCompile(`Input is not a GZIP stream: (.+)`), "$1 is not compressed by gzip; name it by what it is"},
	{regexp.MustCompile(`Unknown frame descriptor`), "the file is not compressed by zstd; name it by what it is"},
	{regexp.MustCompile(`(?s)Failed to read file "(.+?)": schema mismatch in glob: column "(.+?)" was read from the original file "(.+?)"`),
		`$1 has no column "$2", which $3 has; files that are imported together have the same columns`},
	{regexp.MustCompile(`Type with name (\S+) does not exist`), "there is no type $1; see --types, with BIGINT, DOUBLE, DECIMAL(10,2), VARCHAR(40), DATE or DATETIME"},
	{regexp.MustCompile(`does not have a column with name "(.+?)"`), `the table has no column "$1"; rename it in the file, or ALTER TABLE … ADD COLUMN first`},
	{regexp.MustCompile(`Duplicate key "(.+?)" violates`), "the table would have the key $1 twice"},
	{regexp.MustCompile(`NOT NULL constraint failed: [^\s.]+\.([^\s.]+)`), "column $1 has to have a value, and a row has none"},
	{regexp.MustCompile(`Invalid Input Error: (column .+?: a text is longer than \d+ characters)`), "$1; see --types for a longer one"},
}

// hints are where a reader begins to name options of its own, which nobody has here.
var hints = regexp.MustCompile(`(?s)\n\s*LINE \d|\s*\n|\.? If you are|\.? Try |\.? Consider `)

// readerWords words a message of a reader.
func readerWords(driver string) string {
	for _, t := range readerTexts {
		if m := t.is.FindStringSubmatchIndex(driver); m != nil {
			return strings.TrimPrefix(string(t.is.ExpandString(nil, t.says, driver, m)), "column : ")
		}
	}
	_, text := findPrefix(driver)
	if at := hints.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	if _, rest, ok := strings.Cut(text, " Error: "); ok {
		text = rest
	}
	return text
}
