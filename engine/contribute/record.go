package contribute

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"scrim/engine/collect"
)

// State says how far a report has come.
type State string

// The states.
const (
	Pending      State = "pending"      // made and charged; it may have been sent
	Acknowledged State = "acknowledged" // the server or the shuffler said that it has it
	// the person gave it up: it counts, and is not sent any more
	Abandoned State = "abandoned"
)

// Record is what a wallet keeps of one report: one collection, once.
type Record struct {
	UUID       string           `json:"uuid"`
	Collection string           `json:"collection"` // with its database
	Protocol   collect.Protocol `json:"protocol"`
	Round      int              `json:"round"`
	Stratum    string           `json:"stratum,omitempty"`
	Cell       uint32           `json:"cell"`
	// of the parameters, the sealing key among them
	Fingerprint Hash   `json:"fingerprint"`
	Cost        Loss   `json:"cost"`
	Made        string `json:"made"` // the day, in UTC
	State       State  `json:"state"`
	Token       Secret `json:"token,omitempty"` // while pending
	TokenHash   Hash   `json:"token_sha256"`
	// the one that the bundle may have been sent to: no other ever gets it
	Shuffler string `json:"shuffler,omitempty"`
	// one operator, to whom its person agreed, can read the value
	Trusted bool `json:"trusted_operator,omitempty"`
	// Report is the report, or the bundle. The report is kept for good; the bundle while it is
	// pending, because with the server's key it would tell the value.
	Report     []byte `json:"report,omitempty"`
	ReportHash Hash   `json:"report_sha256"`
}

// Model returns whom the report goes to.
func (r *Record) Model() collect.Model {
	info, _ := r.Protocol.Info()
	return info.Model
}

// ended returns the record after its report has arrived, or was given up.
func (r Record) ended(as State) Record {
	r.State, r.Token = as, nil
	if r.Model() == collect.Shuffle {
		r.Report = nil
	}
	return r
}

// check tells whether the record can have been written by a wallet.
func (r *Record) check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("the record of %.60q %s", r.Collection, fmt.Sprintf(format, args...))
	}
	info, ok := r.Protocol.Info()
	pending := r.State == Pending
	switch {
	case !ok || r.UUID == "" || r.Round < 1 || r.Round > info.Rounds:
		return wrong("is not of a protocol's round")
	case !pending && r.State != Acknowledged && r.State != Abandoned:
		return wrong("has the state %.20q", string(r.State))
	case pending != (len(r.Token) > 0) || (pending || info.Model == collect.Local) != (len(r.Report) > 0):
		return wrong("does not hold what the state %s needs", r.State)
	case pending && (len(r.Token) != len(Token{}.Secret) || sha256.Sum256(r.Token) != r.TokenHash):
		return wrong("has a token that is not the one of its hash")
	case r.Shuffler != "" && (info.Model != collect.Shuffle || !identity.MatchString(r.Shuffler)):
		return wrong("names a shuffler that is none")
	case r.Trusted && info.Model != collect.Shuffle:
		return wrong("names an operator that no report of its model trusts")
	case len(r.Report) > 0 && sha256.Sum256(r.Report) != r.ReportHash:
		return wrong("has a report that is not the one of its hash")
	case len(r.Report) > 0 && !r.carries():
		return wrong("has a report of other parameters than its fingerprint's")
	}
	return nil
}

// carries tells whether the report's own header names the fingerprint.
func (r *Record) carries() bool {
	if r.Model() == collect.Shuffle {
		return bytes.HasPrefix(r.Report, r.Fingerprint[:])
	}
	return len(r.Report) > collect.HeaderSize && bytes.Equal(r.Report[8:collect.HeaderSize], r.Fingerprint[:8])
}

// clone returns a copy that shares nothing.
func (r Record) clone() Record {
	r.Token, r.Report = slices.Clone(r.Token), slices.Clone(r.Report)
	return r
}

// Hash is a SHA-256; its text is hex.
type Hash [32]byte

// String returns the hash in hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("contribute: want a SHA-256 of %d digits of hex", 2*len(h))
	}
	copy(h[:], b)
	return nil
}

// Secret are bytes of a token; their text is hex.
type Secret []byte

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(s)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Secret) UnmarshalText(text []byte) (err error) {
	*s, err = hex.DecodeString(string(text))
	return err
}
