package collections

import "sync"

// estimates are the last estimates of a collection's strata. An estimate holds for one version of
// the table.
type estimates struct {
	mu  sync.Mutex
	all map[string]*kept
}

// kept is an estimate, or the refusal of one.
type kept struct {
	mu       sync.Mutex // held while it is made: who comes meanwhile waits for it
	version  string
	estimate Estimate
	err      error
}

// get returns the estimate of a version, and makes it if it is of another one. A failure that is no
// refusal is not kept.
func (e *estimates) get(stratum, version string, estimate func() (Estimate, error)) (Estimate, error) {
	e.mu.Lock()
	if e.all == nil {
		e.all = map[string]*kept{}
	}
	k := e.all[stratum]
	if k == nil {
		k = &kept{}
		e.all[stratum] = k
	}
	e.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.version == version {
		return k.estimate, k.err
	}
	made, err := estimate()
	if err != nil && !refused(err) {
		return nil, err
	}
	k.version, k.estimate, k.err = version, made, err
	return made, err
}
