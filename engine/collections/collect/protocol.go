package collect

import "scrim/internal/lists"

// Protocol names one protocol; the values are what SQL and parameters call it.
type Protocol string

// The protocols. Rounds and guarantees are in Protocols.
const (
	LDPBit  Protocol = "LDP_BIT"
	LDPKV2  Protocol = "LDP_KV2"
	LDPKV1  Protocol = "LDP_KV1"
	LDPUV2  Protocol = "LDP_UV2"
	LDPUV1  Protocol = "LDP_UV1"
	LDPHier Protocol = "LDP_HIER"
	LDPHaar Protocol = "LDP_HAAR"
	LDPSCM3 Protocol = "LDP_SCM3"

	ShufSum  Protocol = "SHUF_SUM"
	ShufVec  Protocol = "SHUF_VEC"
	ShufHier Protocol = "SHUF_HIER"
	ShufSCM3 Protocol = "SHUF_SCM3"
)

// Model says who has to be trusted.
type Model string

// The models.
const (
	Local   Model = "LOCAL"   // nobody
	Shuffle Model = "SHUFFLE" // the shuffler not to collude with the server
)

// Info describes a protocol.
type Info struct {
	Protocol Protocol
	ID       uint8 // in reports and messages; never used again for another protocol
	Model    Model
	Rounds   int
	For      string // what it estimates, for documentation
}

// Protocols lists every protocol in the order of the documentation.
var Protocols = []Info{
	{LDPBit, 1, Local, 1, "the mean of a bounded number, whatever its law: the one to take for a mean"},
	{LDPKV2, 2, Local, 2, "the mean of Gaussian numbers in a wide range, standard deviation known"},
	{LDPKV1, 3, Local, 1, "the same in one round"},
	{LDPUV2, 4, Local, 2, "the mean of nearly Gaussian numbers in a wide range, standard deviation unknown"},
	{LDPUV1, 5, Local, 1, "the same in one round, with the standard deviation"},
	{LDPHier, 6, Local, 1, "histogram, ranges and quantiles, up to 4096 buckets"},
	{LDPHaar, 7, Local, 1, "ranges and quantiles, up to 2^20 buckets"},
	{LDPSCM3, 8, Local, 3, "the mean of vectors, centre and scale unknown"},
	{ShufSum, 16, Shuffle, 1, "sum and mean of a bounded number at central accuracy"},
	{ShufVec, 17, Shuffle, 1, "sum and mean of vectors of bounded length"},
	{ShufHier, 18, Shuffle, 1, "histogram, ranges, quantiles and a mean that one contributor moves little"},
	{ShufSCM3, 19, Shuffle, 3, "the mean of vectors at nearly central accuracy"},
}

// Info returns the protocol's description; ok is false for a name that is none.
func (p Protocol) Info() (info Info, ok bool) {
	return lists.Find(Protocols, func(i Info) bool { return i.Protocol == p })
}

// PagePath is where a server has the page for contributors. A link of a token has it, and all that
// is of the token in its fragment, which no browser sends: the page's requests are the same for
// everybody.
const PagePath = "/report"
