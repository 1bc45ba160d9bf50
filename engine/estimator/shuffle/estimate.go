package shuffle

import (
	"fmt"
	"math"
	"strings"

	"scrim/engine/collect"
	"scrim/engine/estimator/local"
	"scrim/internal/refuse"
)

// Estimate answers from the batches of a collection's last round. What the protocol has no answer
// for is refused by the name of the function that has one.
type Estimate interface {
	local.Estimate
	// Sum returns the estimate of the sum over the batches' contributors and its standard error, in
	// the values' unit.
	Sum() (value, stderr float64, err error)
}

// leftOut is the code of the warning that messages were left out.
const leftOut = "W6"

// What standard errors cover and omit.
const (
	coversNoise = "the devices' noise and rounding, for the contributors of the batches"
	// coversSample is of SHUF_SCM3, whose last round asks some of the people.
	coversSample = "the devices' noise and rounding, and that the contributors of the last round are a sample"
	omitsClip    = "clipping, dishonest contributors, and who chose not to report"
	omitsLeaf    = "where in its leaf a value lies, dishonest contributors, and who chose not to report"
	omitsSum     = "dishonest contributors, one of whom can make the sum anything, and who chose not to report"
)

// Arrived describes what a tally holds, in any round and with any number of batches.
func Arrived(p *collect.Params, t *Tally) local.Info {
	info := local.Info{Protocol: p.Protocol, Round: p.Round, Stratum: p.Stratum, Reports: t.Total(), Warnings: []local.Warning{}}
	for _, c := range p.Cells {
		info.Cells = append(info.Cells, local.CellInfo{Cell: c.Cell, Randomiser: c.Randomiser, Received: t.Received(c.Cell), Quota: c.Quota, Min: c.Min})
	}
	dropped := uint64(0)
	for _, b := range t.batches {
		dropped += b.dropped
	}
	if dropped > 0 {
		info.Warnings = append(info.Warnings, local.Warning{Code: leftOut, Text: fmt.Sprintf("%d messages that no device makes were left out.", dropped)})
	}
	return info
}

// enough refuses a round in which a cell has not its minimum of contributors, and batches that
// cannot be.
func enough(p *collect.Params, t *Tally) error {
	var few []string
	for _, c := range p.Cells {
		if n := t.Received(c.Cell); n < max(c.Min, p.Batch.Min) {
			few = append(few, fmt.Sprintf("cell %d has %d of %d", c.Cell, n, max(c.Min, p.Batch.Min)))
		}
	}
	const shown = 8
	if more := len(few) - shown; more > 0 {
		few = append(few[:shown], fmt.Sprintf("and %d more", more))
	}
	if len(few) > 0 {
		return refuse.New(refuse.TooFewReports, "Round %d of %s needs more reports: %s.", p.Round, p.Collection, strings.Join(few, ", "))
	}
	for _, b := range t.batches {
		if err := b.Check(); err != nil {
			return err
		}
	}
	return nil
}

// only refuses every question. An estimate embeds it and answers the questions that it can.
type only struct{ local.Only }

// refusing tells by ask which functions answer: "SHUFFLE_MEAN(msg)".
func refusing(info local.Info, ask string) only { return only{local.NewOnly("SHUFFLE", info, ask)} }

func (o only) Sum() (float64, float64, error) { return 0, 0, o.Refuse("SUM") }

// normalPoint is how many standard deviations a normal number is within with probability conf.
func normalPoint(conf float64) float64 { return math.Sqrt2 * math.Erfinv(conf) }
