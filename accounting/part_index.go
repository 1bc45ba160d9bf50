package accounting

import "github.com/RoaringBitmap/roaring/v2"

// partIndex is the index of a part: for each record the sets that it belongs to, from which the
// sets are made when all is read.
type partIndex struct {
	columns
	*scratch
	named []setName // of the sets from firstNamed on
	late  []outcomeOf

	ids  []uint32 // the records of the sets, one set after the other
	ends []uint32 // where each set ends
}

// scratch is memory that one part after the other uses.
type scratch struct {
	tags     []tag
	outcomes []uint8 // of the charges in the part, and one more; 0: not a charge
}

// tag puts a record into a set.
type tag struct{ set, id uint32 }

// The sets by number: of a kind, of an outcome, of digests, of numbers of lines, and then as they
// come.
const (
	firstOutcome = uint32(replayRecord) + 1
	firstDigest  = firstOutcome + uint32(Cancelled) + 1
	firstLines   = firstDigest + digestSets
	firstNamed   = firstLines + lineSets
)

// setName is what the records of a set have in common.
type setName struct {
	role nameRole
	text string
}

// nameRole says what a name is in a record.
type nameRole int

const (
	asPrincipal nameRole = iota
	asAccount
	asTable
	nameRoles
)

func newPartIndex(first uint32, s *scratch) partIndex {
	s.tags = s.tags[:0]
	clear(s.outcomes)
	return partIndex{columns: columns{first: first}, scratch: s}
}

// entry puts a record into the sets of its kind and of its principal.
func (x *partIndex) entry(kind recordKind, who *name, id uint32) {
	x.tags = append(x.tags, tag{uint32(kind), id})
	x.tag(asPrincipal, who, id)
}

// tag puts a record into the set of a name.
func (x *partIndex) tag(role nameRole, n *name, id uint32) {
	set := n.sets[role]
	if set == 0 {
		set = firstNamed + uint32(len(x.named))
		x.named = append(x.named, setName{role, n.text})
		n.sets[role] = set
	}
	x.tags = append(x.tags, tag{set, id})
}

// digest notes the digest of a record's statement.
func (x *partIndex) digest(text []byte, id uint32) {
	if print := fingerprint(text); print != 0 {
		x.prints[id-x.first] = print
		x.tags = append(x.tags, tag{firstDigest + print%digestSets, id})
	}
}

// lines notes how many lines an entry has.
func (x *partIndex) lines(n int, id uint32) {
	eachLineSet(n, func(set uint32) { x.tags = append(x.tags, tag{firstLines + set, id}) })
}

// charge notes a charge without an outcome.
func (x *partIndex) charge(id uint32) { x.outcomes[id-x.first] = 1 + uint8(Unfinished) }

// finish notes the outcome of a charge; of one before the part, for later.
func (x *partIndex) finish(o outcomeOf) {
	id := uint32(o.charge)
	switch {
	case id < x.first:
		x.late = append(x.late, o)
	case x.outcomes[id-x.first] > 0:
		x.outcomes[id-x.first] = 1 + min(uint8(o.outcome), uint8(Cancelled)+1)
	}
}

// sort makes the sets. Records of one set come in their order.
func (x *partIndex) sort() {
	for i, o := range x.outcomes {
		if o > 0 && o <= 1+uint8(Cancelled) {
			x.tags = append(x.tags, tag{firstOutcome + uint32(o) - 1, x.first + uint32(i)})
		}
	}
	x.ends = make([]uint32, int(firstNamed)+len(x.named)+1)
	for _, t := range x.tags {
		x.ends[t.set+1]++
	}
	for i := range x.ends[1:] {
		x.ends[i+1] += x.ends[i]
	}
	x.ids = make([]uint32, len(x.tags)) // ends[set] is where the set's next record goes: in the end, where it ends
	for _, t := range x.tags {
		x.ids[x.ends[t.set]] = t.id
		x.ends[t.set]++
	}
	x.scratch = nil
}

// set returns the set of that number, of those of a part.
func (x *index) set(number uint32, named []setName) *roaring.Bitmap {
	switch {
	case number < firstOutcome:
		return x.kinds[number]
	case number < firstDigest:
		return x.outcomes[number-firstOutcome]
	case number < firstLines:
		return setOf(x.digests, number-firstDigest)
	case number < firstNamed:
		return x.lines[number-firstLines]
	}
	n := named[number-firstNamed]
	return setOf([nameRoles]map[string]*roaring.Bitmap{x.principals, x.accounts, x.tables}[n.role], n.text)
}

// join takes in the index of the records that follow.
func (x *index) join(p *partIndex) {
	x.columns.join(&p.columns)
	from := uint32(0)
	for set, to := range p.ends {
		if from < to {
			x.set(uint32(set), p.named).AddMany(p.ids[from:to])
		}
		from = to
	}
	for _, o := range p.late {
		x.finish(o)
	}
}

// joined makes the set of all entries, when all parts have been joined.
func (x *index) joined() {
	for _, b := range x.kinds {
		x.entries.Or(b)
	}
}
