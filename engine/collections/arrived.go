package collections

import (
	"scrim/engine/estimator/local"
)

// Arrived tells what has come of a stratum ("" where there are none), in any state: the cells of
// the round that the collection is in, or was in last, and the number of reports in all rounds. It
// counts and reads no report.
func (c *Collections) Arrived(name, stratum string) (info local.Info, reports uint64, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	col, err := c.find(name)
	if err != nil {
		return local.Info{}, 0, err
	}
	at, ok := col.stratum(stratum)
	if !ok {
		return local.Info{}, 0, col.noStratum(stratum)
	}
	stratum = col.strata()[at]
	info = local.Info{Protocol: col.Protocol, Round: col.Round, Stratum: stratum, Cells: []local.CellInfo{}, Warnings: []local.Warning{}}
	for key := range col.rounds {
		if key.stratum != stratum {
			continue
		}
		for _, n := range col.cells(key.round, stratum) {
			reports += n.Received
			if key.round == col.Round {
				info.Reports += n.Received
				info.Cells = append(info.Cells, local.CellInfo{Cell: n.Cell.Cell, Randomiser: n.Cell.Randomiser, Received: n.Received, Quota: n.Cell.Quota, Min: n.Cell.Min})
			}
		}
	}
	return info, reports, nil
}
