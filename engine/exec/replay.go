package exec

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"scrim/accounting"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/planner/plan"
)

// A stored answer is found by a digest of who asks, of the release's plan (planner.Release.Key), of
// the versions of every table that the release reads, public ones too, and of the released values
// that its scans take from other answers. So the same scans of the same rows have given it. A
// change of the data, of a table's definition or of a policy ends its replays, as does a new answer
// of a subquery for what is compared with it; a restart does not.
//
// Where all protected tables of a release share their answers (dp_share_replays), a second entry
// without a principal in its key leads to the first: an analyst of these tables gets the answer
// that another has paid for. Whoever comes here may run the query: privileges and policies have
// been tested. An answer is a released number, so giving it to more people is post-processing,
// which the tables' budgets of all principals have paid for.

// scopes of keys.
const (
	scopeOwn    = "answer 2 of"
	scopeShared = "answer 2 shared"
)

// stored is an answer that was found.
type stored struct {
	answer *answer
	key    []byte // of the answer itself
	about  accounting.StoredAnswer
}

// answerKey digests what decides an answer. Each part is counted, so that no two inputs run
// together: the key says how many versions there are.
func answerKey(scope, owner string, r *plan.Release, versions, values []string) []byte {
	h := sha256.New()
	for _, part := range slices.Concat([]string{scope, owner, r.Key}, versions, values) {
		fmt.Fprintf(h, "%d:%s;", len(part), part)
	}
	return h.Sum(nil)
}

// keys returns the keys under which a release's answer is kept where its tables have the versions
// and the releases that it uses have the answers: the principal's, then that of all, where there is
// one.
func (e *execution) keys(r *plan.Release, versions []string, answers map[*plan.Release]*answer) ([][]byte, error) {
	_, values, err := withAnswers(r, answers)
	if err != nil {
		return nil, err
	}
	keys := [][]byte{answerKey(scopeOwn, e.owner, r, versions, values)}
	if r.Shared {
		keys = append(keys, answerKey(scopeShared, "", r, versions, values))
	}
	return keys, nil
}

// replays finds the releases whose answer is kept, and the keys under which the others will be if
// nothing is written meanwhile. The versions are those of now, of one moment for all releases: no
// protected row is read before the charge. What uses an answer that is not kept has no key yet.
func (e *execution) replays(ctx context.Context) (found map[*plan.Release]stored, missing []string, err error) {
	versions, err := versionsOf(ctx, e.x.Store, e.statement.Releases)
	if err != nil {
		return nil, nil, err
	}
	found = map[*plan.Release]stored{}
	answers := map[*plan.Release]*answer{}
	for i, r := range e.statement.Releases {
		if slices.ContainsFunc(r.Uses, func(u *plan.Release) bool { return answers[u] == nil }) {
			continue
		}
		keys, err := e.keys(r, versions[i], answers)
		if err != nil {
			return nil, nil, err
		} else if f, ok := e.find(keys); ok {
			found[r], answers[r] = f, f.answer
			continue
		}
		missing = append(missing, lists.Map(keys, func(k []byte) string { return string(k) })...)
	}
	return found, missing, nil
}

// versionsOf returns for each release the versions of the tables that it reads, all of one moment:
// answers that are kept and are of different states do not meet in one statement.
func versionsOf(ctx context.Context, st store.Store, releases []*plan.Release) ([][]string, error) {
	refs := reads(releases)
	of, err := st.Versions(ctx, refs...)
	if err != nil {
		return nil, err
	}
	all := make([][]string, len(releases))
	for i, r := range releases {
		for _, t := range r.Reads {
			all[i] = append(all[i], of[slices.Index(refs, t)])
		}
	}
	return all, nil
}

// find looks for an answer under the principal's key, then under that of all, where there is one.
func (e *execution) find(keys [][]byte) (stored, bool) {
	f, ok := e.recall(keys[0])
	if len(keys) == 1 {
		return f, ok
	}
	to, known := e.x.Account.Answer(keys[1])
	switch {
	case !ok && known:
		return e.recall(to)
	case ok && !known: // sharing was switched on after the answer was kept
		if err := e.x.Account.PutAnswer(keys[1], keys[0]); err != nil {
			e.x.Lost(err)
		}
	}
	return f, ok
}

// recall reads a kept answer. One that cannot be read counts as not kept.
func (e *execution) recall(key []byte) (stored, bool) {
	b, about, ok := e.x.Account.Recall(key)
	if !ok {
		return stored{}, false
	}
	a, ok := decodeAnswer(b)
	return stored{a, key, about}, ok
}

// reused counts the replays of a statement that was answered.
func (e *execution) reused(found map[*plan.Release]stored) {
	for _, r := range e.statement.Releases {
		if f, ok := found[r]; ok {
			e.x.Account.Reused(accounting.Replay{Key: f.key, Principal: e.principal, Owner: f.about.Principal, Statement: e.text, Digest: e.digest,
				Accounts: r.Tables, Charge: f.about.Charge})
		}
	}
}

// keep stores a release's one of the answers for replays, under the versions of the snapshot that
// it was made from. Failing to is no failure of the statement.
func (e *execution) keep(ctx context.Context, snap store.Snapshot, r *plan.Release, answers map[*plan.Release]*answer, receipt accounting.Receipt) error {
	versions, err := snap.Versions(ctx, r.Reads...)
	if err != nil {
		return err
	}
	keys, err := e.keys(r, versions, answers)
	if err != nil {
		return err
	}
	b, err := answers[r].encode()
	if err != nil {
		return err
	}
	about := accounting.StoredAnswer{At: receipt.At, Principal: e.principal, Statement: e.text, Digest: e.digest, Charge: receipt.ID, Shared: r.Shared}
	about.Tables = append(about.Tables, lists.Map(reads(append([]*plan.Release{r}, r.Uses...)), store.TableRef.String)...)
	err = e.x.Account.KeepAnswer(keys[0], b, about)
	if err == nil && len(keys) > 1 {
		err = e.x.Account.PutAnswer(keys[1], keys[0])
	}
	return err
}

// flights keeps what is asked several times at once from being charged several times: while one
// execution makes an answer, others that would find it wait. Tools do that: a dashboard draws eight
// charts over one query.
//
// Keys are taken in their order, each by one execution at a time, so no two executions wait for
// each other. Who waits is told by public facts: the keys of stored answers. The zero value is
// ready.
type flights struct {
	mu  sync.Mutex
	now map[string]chan struct{} // closed when the key is free again
}

// take takes keys, and returns how they are given back, and whether it had to wait: then an answer
// may be there.
func (f *flights) take(ctx context.Context, keys []string) (free func(), waited bool, err error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for i := 0; i < len(keys); {
		other := f.claim(keys[i])
		if other == nil {
			i++
			continue
		}
		waited = true
		select {
		case <-other:
		case <-ctx.Done():
			f.free(keys[:i])
			return nil, waited, ctx.Err()
		}
	}
	return func() { f.free(keys) }, waited, nil
}

// claim takes a key; where it is taken, it returns what is closed when it is free.
func (f *flights) claim(key string) chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.now[key]; other != nil {
		return other
	}
	if f.now == nil {
		f.now = map[string]chan struct{}{}
	}
	f.now[key] = make(chan struct{})
	return nil
}

func (f *flights) free(keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keys {
		close(f.now[k])
		delete(f.now, k)
	}
}
