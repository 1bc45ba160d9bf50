package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scrim/engine/store/duckdb"
	"scrim/engine/version"
	"scrim/internal/release"
)

// versions is what `scrim version --json` prints.
type versions struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // "" where it is not known
	Modified bool   `json:"modified"`
	Time     string `json:"time"` // of the commit
	Go       string `json:"go"`
	DuckDB   string `json:"duckdb"`
	Greeting string `json:"greeting"` // what clients of the MySQL protocol are told
	Platform string `json:"platform"`
}

// theseVersions are those of the running program.
func theseVersions() versions {
	b := release.ThisBuild()
	v := versions{
		Version: release.Version, Commit: b.Commit, Modified: b.Modified, Go: b.Go,
		DuckDB: strings.TrimPrefix(duckdb.LibraryVersion(), "v"), Greeting: version.Number, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if !b.Time.IsZero() {
		v.Time = b.Time.Format(time.RFC3339)
	}
	return v
}

// versionCommand says what this program is.
func versionCommand(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which version this is, of which commit, with which Go and DuckDB",
		Long: `Version says what this program is: its version, the commit that it was built from, the Go that built it, the DuckDB that
is linked in, and what it calls itself towards clients of the MySQL protocol.`,
		Example: "  scrim version\n  scrim version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := theseVersions()
			if asJSON {
				e := json.NewEncoder(s.out)
				e.SetIndent("", "  ")
				return e.Encode(v)
			}
			commit := cmp.Or(v.Commit, "not known")
			if v.Time != "" {
				commit += " of " + v.Time
			}
			if v.Modified {
				commit += ", with changes"
			}
			_, err := fmt.Fprintf(s.out, "scrim %s\ncommit %s\nGo %s, %s\nDuckDB %s\nfor clients %s\n",
				v.Version, commit, strings.TrimPrefix(v.Go, "go"), v.Platform, v.DuckDB, v.Greeting)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
