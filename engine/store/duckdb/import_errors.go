package duckdb

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"scrim/engine/store"
)

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
