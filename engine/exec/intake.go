package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

// intake takes in what one scan of a release returns, for the aggregates that read it: integers as
// columns ordered by group, vectors as one block a group, both as the rows arrive.
type intake struct {
	scan    plan.Scan
	keys    groupKeys
	persons persons
	columns []int // of the scan, that aggregates read as they are
	kept    gathered
	table   *table
	sums    *sums // of a scan that is added up
	vectors []*vectors
	// of the aggregate of all groups at once, which has a scan of its own, or of columns that are
	// added up
	grouped *grouped
	groups  []int32 // of a chunk
	memory  *spill.Area
}

// vectors are the blocks of the aggregates that are made of the same columns in the same way.
type vectors struct {
	collector
	columns []int
	form    plan.Vector
	blocks  []*estimator.Block // of the groups
}

// collector makes a block of each group.
type collector interface {
	// resize makes room for so many groups.
	resize(groups int)
	// add takes in the rows of a chunk.
	add(store.Chunk, origin) error
	// block returns the block of a group. Once for each; concurrently for different groups.
	block(group int) (*estimator.Block, error)
}

func newIntake(r *plan.Release, scan int, keys groupKeys, memory *spill.Area, secrets secrets) (*intake, error) {
	in := &intake{scan: r.Scans[scan], keys: keys, persons: persons{memory: memory}, memory: memory, kept: gathered{memory: memory}}
	for _, a := range r.Aggregates {
		if a.Scan != scan {
			continue
		}
		if err := in.want(a, secrets); err != nil {
			return nil, err
		}
	}
	in.kept.data = make([][][]int64, len(in.columns))
	if in.scan.Adds {
		in.grouped = newSums(in.columns, keys, in.scan.Types[keys.named], secrets.noise.Uniform(), memory)
	}
	return in, nil
}

// want makes the intake keep what an aggregate reads.
func (in *intake) want(a plan.Aggregate, secrets secrets) (err error) {
	if in.scan.Units != (a.Groups != nil) || in.grouped != nil {
		return fmt.Errorf("exec: %s reads a scan of units, or none, for the wrong aggregates", a.Text)
	}
	if a.Groups != nil {
		in.grouped, err = newGrouped(a, in.keys, in.scan.Types[in.keys.named], secrets.noise.Uniform(), in.memory)
		return err
	}
	if a.Vector == nil {
		if in.scan.Rows {
			return fmt.Errorf("exec: %s reads a scan of rows", a.Text)
		}
		for _, c := range a.Columns {
			if c = in.keys.at(c); !slices.Contains(in.columns, c) {
				in.columns = append(in.columns, c)
			}
		}
		return nil
	}
	if in.find(a) != nil {
		return nil
	}
	c, err := in.collect(a)
	in.vectors = append(in.vectors, &vectors{collector: c, columns: a.Columns, form: *a.Vector})
	return err
}

// read reports whether an aggregate reads the scan.
func (in *intake) read() bool { return len(in.columns)+len(in.vectors) > 0 || in.grouped != nil }

// find returns the vectors of an aggregate.
func (in *intake) find(a plan.Aggregate) *vectors {
	v, _ := lists.Find(in.vectors, func(v *vectors) bool { return v.form == *a.Vector && slices.Equal(v.columns, a.Columns) })
	return v
}

func (in *intake) collect(a plan.Aggregate) (collector, error) {
	v := a.Vector
	switch {
	case v.Dim < 1:
	case v.Form == plan.Arrays && len(a.Columns) == 1:
		return newArrays(in.keys.at(a.Columns[0]), v, in.scan.Rows, in.memory)
	case v.Form == plan.Coordinates && len(a.Columns) == 1+v.Dim && !in.scan.Rows:
		return &coordinates{columns: in.keys.all(a.Columns), dim: v.Dim, memory: in.memory}, nil
	case v.Form == plan.Pairs && len(a.Columns) == 1 && in.scan.Rows:
		return newPairs(in.keys.at(a.Columns[0]), v, in.memory)
	}
	return nil, fmt.Errorf("exec: vectors of form %d and dimension %d from %d columns", v.Form, v.Dim, len(a.Columns))
}

// run reads the whole scan, whose rows are numbered by group.
func (in *intake) run(ctx context.Context, snap store.Snapshot, sql string, args []any) error {
	in.resize(in.keys.groups)
	takers := []func(store.Chunk) error{in.keys.each(&in.groups, in.take)}
	if in.grouped != nil {
		takers = nil
		for _, d := range in.grouped.dealers {
			takers = append(takers, in.keys.each(&d.groups, d.take))
		}
	}
	err := snap.Scan(ctx, sql, args, in.keys.types(in.scan.Types), takers...)
	if err == nil && in.scan.Adds {
		in.sums, err = in.grouped.sums(ctx, in.keys.groups)
	}
	return err
}

// each hands chunks on when their rows' groups are known.
func (k groupKeys) each(groups *[]int32, take func(store.Chunk) error) func(store.Chunk) error {
	return func(ch store.Chunk) error {
		if ch.Len == 0 {
			return nil
		}
		*groups = slices.Grow((*groups)[:0], ch.Len)[:ch.Len]
		if err := k.assign(ch, *groups); err != nil {
			return err
		}
		return take(ch)
	}
}

// resize makes room for the groups.
func (in *intake) resize(groups int) {
	in.persons.resize(groups)
	for _, v := range in.vectors {
		v.resize(groups)
	}
}

// take takes in a chunk, whose rows' groups are known.
func (in *intake) take(ch store.Chunk) (err error) {
	of := origin{groups: in.groups}
	if in.scan.Rows {
		if of.persons, err = in.persons.number(&ch.Columns[in.keys.leading()], in.groups); err != nil {
			return err
		}
	}
	if err := lists.Each(in.vectors, func(v *vectors) error { return v.add(ch, of) }); err != nil {
		return err
	}
	if len(in.columns) == 0 {
		return nil
	}
	return in.kept.add(ch, in.columns, in.groups)
}

// input returns what an aggregate reads of one group, and gives it to read while it is needed.
func (in *intake) input(a plan.Aggregate, group int, read func(estimator.Input)) error {
	if a.Vector != nil {
		read(estimator.Input{Vectors: in.find(a).blocks[group]})
		return nil
	}
	out := make([][]int64, len(a.Columns))
	for i, c := range a.Columns {
		column := slices.Index(in.columns, in.keys.at(c))
		if in.sums == nil {
			out[i] = in.table.group(group, column)
			continue
		}
		var err error
		if out[i], err = in.sums.column(group, column); err != nil {
			return err
		}
		defer free(in.memory, out[i])
	}
	if !a.Paired() {
		read(estimator.Input{Columns: out, Memory: in.memory, Groups: in.keys.groups})
		return nil
	}
	pairs, err := pairsOf(out, a.OneEntity, in.memory)
	if err == nil {
		read(estimator.Input{Pairs: pairs, Memory: in.memory})
	}
	freePairs(pairs, in.memory)
	return err
}

// errValues is a limit of the numbers by which persons and values go: what is beyond it would not
// fit on any disk.
var errValues = errors.New("exec: more than 2^30 persons or values of a group")

// pairsOf makes pairs of a group's persons and the values that they have, or of the owners of its
// rows, of one row each: the names of both, and the weights where there are three columns, and
// numbers of rows beside sums where there are four. What a scan calls them becomes 0, 1, 2, … in
// the order of arrival, which means nothing; with one, by the same numbers on both sides.
func pairsOf(columns [][]int64, one bool, memory *spill.Area) (p *estimator.Pairs, err error) {
	p = &estimator.Pairs{Memory: memory}
	if len(columns) > 2 {
		p.Weights = columns[2]
	}
	if len(columns) > 3 {
		p.Counts = columns[3]
	}
	left, right := numbering{memory: memory}, &numbering{memory: memory}
	defer left.free()
	defer right.free()
	if p.Left, err = left.number(columns[0]); err != nil {
		return p, err
	}
	if one {
		right = &left
	}
	if p.Right, err = right.number(columns[1]); err == nil {
		p.Lefts, p.Rights = left.known.taken, right.known.taken
	}
	return p, err
}

// freePairs gives the memory of pairs back.
func freePairs(p *estimator.Pairs, memory *spill.Area) {
	free(memory, p.Left)
	free(memory, p.Right)
}

// numbering holds the numbers of names.
type numbering struct {
	known  units
	memory *spill.Area
}

// number returns the numbers of names, some of which may be known already.
func (n *numbering) number(list []int64) (numbers []uint32, err error) {
	if numbers, err = room[uint32](n.memory, len(list)); err != nil {
		return nil, err
	}
	for i, name := range list {
		at := n.known.find(name)
		if at < 0 {
			if at = int32(n.known.taken); at == 1<<30 {
				return numbers, errValues
			}
			if err := n.known.put(name, at, n.memory); err != nil {
				return numbers, err
			}
		}
		numbers[i] = uint32(at)
	}
	return numbers, nil
}

func (n *numbering) free() { free(n.memory, n.known.slots) }
