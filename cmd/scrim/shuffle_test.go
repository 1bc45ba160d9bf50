package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func shuffleFlagSet(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	f := pflag.NewFlagSet("shuffle", pflag.ContinueOnError)
	shuffleFlags(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestShuffleSettings checks that flags go before the environment, and that before the file.
func TestShuffleSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shuffle.toml")
	text := "data = 'from the file'\nupstream = 'mixer:pw@tcp(127.0.0.1:3307)/'\nmax-connections = 7\ncontribute-listen = ':8443'\nclose-when = 'min'\noperator-password = 'a'\n" +
		"pin = ['commute:" + strings.Repeat("0f", 32) + "', 'trips:" + strings.Repeat("f0", 32) + "']\nclose-at = '2026-11-30T18:00:00Z'\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := shuffleFlagSet(t, "--config", path, "--data", "from the flag")
	secrets, err := shuffleSettings(f, []string{"SCRIM_SHUFFLE_CLOSE_WHEN=expected", "SCRIM_SHUFFLE_DATA=from the environment", "SCRIM_SHUFFLE_CONTRIBUTOR_PASSWORD=b", "SCRIM_SHUFFLE_CONTRIBUTE_ORIGINS=https://survey.example.org", "SCRIM_LISTEN=x"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := shuffleConfig(f, secrets)
	if err != nil {
		t.Fatal(err)
	}
	if c.DataDir != "from the flag" || c.When != "expected" || c.MaxConnections != 7 || len(c.Pins) != 2 || c.OperatorPassword != "a" || c.ContributorPassword != "b" ||
		c.CloseAt.Hour() != 18 || c.ContributeListen != ":8443" || c.ContributeOrigins != "https://survey.example.org" || c.Listen != "127.0.0.1:3308" {
		t.Errorf("got %+v", c)
	}
	if err := os.WriteFile(path, []byte("maximum = 3\nlisten = 5"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := shuffleSettings(shuffleFlagSet(t, "--config", path), nil); err == nil || !strings.Contains(err.Error(), `"maximum"`) {
		t.Errorf("an unknown setting: %v", err)
	}
}

// TestShuffleProblemsAreToldAtOnce starts a shuffler with a bad configuration.
func TestShuffleProblemsAreToldAtOnce(t *testing.T) {
	var out, errs bytes.Buffer
	dir := filepath.Join(t.TempDir(), "data")
	code := run(context.Background(), []string{"shuffle", "--data", dir, "--listen", "0.0.0.0:3308", "--upstream", "mixer:pw@tcp(db.example.org:3307)/", "--pin", "commute",
		"--close-when", "soon", "--contribute-listen", "nowhere", "--contribute-origins", "https://example.org/path", "--close-at", "tomorrow", "--tls-cert", "x", "--log-level", "loud"}, nil, &out, &errs)
	if code != 1 {
		t.Fatalf("exit code %d", code)
	}
	for _, want := range []string{"--require-tls", "tls=true", "NAME:FINGERPRINT", "close-when", "close-at", "address for contributors", "is not an origin", "belong together", "log level"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("not told of %q:\n%s", want, errs.String())
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a data directory was made")
	}
}

func TestHashed(t *testing.T) {
	const token, hash = "00000000000000000000000000000000", "374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb"
	got := hashed("token\tround\tcell\tstratum\n" + token + "\t1\t0\tnorth\n" + hash + "\t2\t3\t\n")
	if want := hash + "\t1\t0\tnorth\n" + hash + "\t2\t3\t\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if parts := inParts("aa\nbb\ncc\n", 5); strings.Join(parts, "|") != "aa\n|bb\n|cc\n" {
		t.Errorf("parts %q", parts)
	}
}
