// Package release says which Scrim a program is: its version, which stands here and nowhere else,
// and the commit and the Go version that the linker noted in it.
package release

import (
	"runtime/debug"
	"time"
)

// Version is the version of the product. Archives, packages, the server's greeting, the dashboard
// and the documents have it from here.
const Version = "0.1.0"

// Build is what a program was built from.
type Build struct {
	Commit   string    // hash of the commit; "" where the program was built outside a checkout, or as a test
	Modified bool      // whether files had changed since that commit
	Time     time.Time // of the commit; zero where it is not known
	Go       string    // version of Go
}

// ThisBuild is the build of the running program.
func ThisBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) Build {
	b := Build{Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "vcs.time":
			b.Time, _ = time.Parse(time.RFC3339, s.Value) // zero where it is no time
		}
	}
	return b
}
