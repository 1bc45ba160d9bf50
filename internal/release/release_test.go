package release

import (
	"regexp"
	"runtime/debug"
	"testing"
	"time"
)

func TestVersion(t *testing.T) {
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(Version) {
		t.Errorf("got the version %q, want three numbers", Version)
	}
}

func TestBuildOf(t *testing.T) {
	got := buildOf(&debug.BuildInfo{GoVersion: "go1.26.2", Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.time", Value: "2026-11-26T12:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}})
	want := Build{Commit: "0123abcd", Modified: true, Time: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), Go: "go1.26.2"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := buildOf(&debug.BuildInfo{GoVersion: "go1.26.2"}); got != (Build{Go: "go1.26.2"}) {
		t.Errorf("outside a checkout: got %+v", got)
	}
}
