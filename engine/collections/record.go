package collections

import (
	"fmt"
	"slices"
	"strings"

	"scrim/engine/collections/collect"
	"scrim/engine/store"
)

// State is where a collection is in its life.
type State string

// The states.
const (
	Draft   State = "DRAFT"   // declared; parameters are not public yet
	Open    State = "OPEN"    // a round takes reports
	Between State = "BETWEEN" // a round is closed, and what follows from it not published
	Final   State = "FINAL"   // all rounds are over
	Failed  State = "FAILED"  // a round was inconclusive
	Aborted State = "ABORTED"
)

// record is what the store keeps of a collection as a whole. Step counts its changes: a transition
// that computes outside of the transaction sees by it whether somebody else was faster.
type record struct {
	Schema      string              `json:"schema"`
	Name        string              `json:"name"` // unique in the server
	UUID        string              `json:"uuid"`
	Protocol    collect.Protocol    `json:"protocol"`
	Declaration collect.Declaration `json:"declared"`
	Signs       []byte              `json:"sign_seed,omitempty"`
	Owner       string              `json:"owner"`
	Created     string              `json:"created"` // UTC, in seconds
	State       State               `json:"state"`
	Round       int                 `json:"round"` // 0 in DRAFT
	Reason      string              `json:"reason,omitempty"`
	Step        uint64              `json:"step"`
	LastBatch   int64               `json:"last_batch,omitempty"`
}

func (r record) ref() store.TableRef { return store.TableRef{Schema: r.Schema, Name: r.Name} }

// strata returns the collection's strata: one without a name where none are declared.
func (r record) strata() []string {
	if len(r.Declaration.Strata) == 0 {
		return []string{""}
	}
	return r.Declaration.Strata
}

// stratum returns a stratum's place among strata.
func (r record) stratum(name string) (place int, ok bool) {
	place = slices.IndexFunc(r.strata(), func(s string) bool { return strings.EqualFold(s, name) })
	return max(0, place), place >= 0
}

// where names state and round for a person.
func (r record) where() string {
	if r.State == Open || r.State == Between || r.State == Failed {
		return fmt.Sprintf("%s in round %d", r.State, r.Round)
	}
	return string(r.State)
}

// roundRecord is what the store keeps of a round of a stratum. Times are of the DBA's statements,
// in seconds.
type roundRecord struct {
	Params []byte `json:"params"` // canonical
	Opened string `json:"opened"`
	Closed string `json:"closed,omitempty"`
}

// place is where a token reports.
type place struct {
	round   uint8
	stratum uint16 // its place among the collection's strata
	cell    uint32
}

// issued counts tokens of one place.
type issued struct {
	Round   int    `json:"round"`
	Stratum int    `json:"stratum"`
	Cell    uint32 `json:"cell"`
	Tokens  uint64 `json:"tokens"`
}

// batchRecord is what the store keeps of a batch. Bad says that it was refused for good: its
// messages are not kept, and it can be loaded no more.
type batchRecord struct {
	ID       int64    `json:"id"`
	Round    int      `json:"round"`
	Stratum  string   `json:"stratum,omitempty"`
	Cell     uint32   `json:"cell"`
	Batch    int      `json:"batch"`
	Reports  uint64   `json:"reports"`
	Messages uint64   `json:"messages"` // that were kept
	Broken   uint64   `json:"broken"`   // that did not open, or were not of the round
	Bag      string   `json:"bag"`      // bagSum.hash, in hexadecimal
	Parts    []string `json:"parts"`    // SHA-256 of each part, in hexadecimal
	Day      string   `json:"day"`
	Bad      string   `json:"bad,omitempty"`
}

// batchKey names a batch as the shuffler does.
type batchKey struct {
	round   int
	stratum string
	cell    uint32
	batch   int
}

func (b batchRecord) key() batchKey { return batchKey{b.Round, b.Stratum, b.Cell, b.Batch} }

// The store's buckets.
const (
	bucketCollection = "collection"
	bucketRound      = "collection_round"
	bucketKey        = "collection_key"
	bucketIssued     = "collection_issued"
	bucketBatch      = "collection_batch"
	bucketResult     = "collection_result"
)

// entry joins the parts of an entry's key. No part holds the separator: uuids, numbers and strata
// do not.
func entry(uuid string, parts ...any) string {
	key := uuid
	for _, p := range parts {
		key += "\x1f" + fmt.Sprint(p)
	}
	return key
}
