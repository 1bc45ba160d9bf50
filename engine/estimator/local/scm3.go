package local

import (
	"scrim/engine/collect"
	"scrim/internal/refuse"
)

func publishSCM3(p *collect.Params, _ *Tally) (collect.Published, error) {
	return collect.Published{}, refuse.New(refuse.Unsupported, "%s is not decoded yet.", p.Protocol)
}

func decodeSCM3(p *collect.Params, _ *Tally, _ Info) (Estimate, error) {
	return nil, refuse.New(refuse.Unsupported, "%s is not decoded yet.", p.Protocol)
}
