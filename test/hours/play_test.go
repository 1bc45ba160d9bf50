package hours

import (
	"flag"
	"path/filepath"
	"testing"
	"time"
)

var (
	plays     = flag.Bool("hours", false, "play the hours, by bin/scrim of the tree")
	movieLens = flag.String("hours.movielens", "", "directory with movies.csv.gz and ratings.csv.gz of MovieLens (default: tables of the same columns are made)")
	write     = flag.Bool("hours.write", false, "write docs/hours.md and its pictures")
)

const (
	module   = "../.."
	pictures = module + "/docs/hours"

	// patience bounds what one step takes on a loaded machine.
	patience = 2 * time.Minute
)

// TestHours plays all hours: the DBA's first, then the others at the same time.
func TestHours(t *testing.T) {
	if !*plays {
		return
	}
	if *write {
		if err := flag.Set("shots", absolute(t, pictures)); err != nil {
			t.Fatal(err)
		}
	}
	dba := sit(t, "DBA")
	s := administer(dba)
	others := []struct {
		*hour
		play func(*hour, *site)
	}{{sit(t, "newcomer"), arrive}, {sit(t, "analyst"), analyse}, {sit(t, "agent"), ask}, {sit(t, "contributor"), contribute}}
	t.Run("together", func(t *testing.T) {
		for _, o := range others {
			t.Run(o.who, func(t *testing.T) {
				t.Parallel()
				o.t = t
				o.play(o.hour, s)
			})
		}
	})
	dba.t = t
	s.stop(dba)
	if *write && !t.Failed() {
		writeReport(t, s, others[0].hour, dba, others[1].hour, others[2].hour, others[3].hour)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
