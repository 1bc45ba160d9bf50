package flow

import (
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// network is a bipartite graph whose nodes have caps: the nodes 0 … lefts−1 send over edges to the
// others. Entry k of a node's list, start[node] <= k < start[node+1], is an edge, edge[k], and its
// other end, other[k].
//
// A node is free once its cap is no less than all that it might pass on. Caps only grow, so it
// stays free. What is between two free nodes passes whole and leaves the graph. What a node that is
// not free shares with free ones competes with nothing at their end, so that it comes first, up to
// the node's cap: a flow is sought in the core, the edges between nodes that are not free, for what
// is left of the caps. The core shrinks as the caps grow, and the flow found for smaller caps is
// where the next search begins.
type network struct {
	memory estimator.Memory
	lefts  int
	start  []int
	end    []int // of the part of a node's list that is in the core
	other  []uint32
	edge   []int
	pipes  []pipe  // by edge, in the order of the left nodes' lists
	need   []int64 // all that a node might pass on, its loop included; saturates
	loop   []int64 // what belongs to the node alone; nil: nothing
	given  []int64 // what it shares with free nodes; saturates
	spare  []int64 // what is left of its cap
	free   []bool
	byNeed []uint32 // the nodes whose caps grow, by what they need
	next   int      // of byNeed: those before it are free
	core   []uint32 // the nodes that are not free
	whole  scalar.Sum
	paths  paths
}

// pipe is an edge's capacity and, in the core, the flow on it.
type pipe struct{ weight, carry int64 }

// saturated is far above every cap.
const saturated = 1 << 62

// plus adds two numbers from 0 to saturated.
func plus(a, b int64) int64 { return min(a+b, saturated) }

// entries are the edges of a network, in any order, with loops apart.
type entries struct {
	lefts, rights int
	each          func(func(left, right uint32, weight int64))
	loop          []int64
}

// newNetwork returns the network of edges with caps of 0. fixed is the cap of the right nodes where
// it does not grow with that of the left ones, else 0.
func newNetwork(m estimator.Memory, in entries, fixed int64) *network {
	nodes := in.lefts + in.rights
	n := &network{
		memory: m, lefts: in.lefts, start: estimator.Make[int](m, nodes+1), end: estimator.Make[int](m, nodes),
		need: estimator.Make[int64](m, nodes), loop: in.loop, given: estimator.Make[int64](m, nodes),
		spare: estimator.Make[int64](m, nodes), free: estimator.Make[bool](m, nodes), byNeed: estimator.Make[uint32](m, nodes)[:0],
	}
	edges := n.measure(in)
	n.other, n.edge = estimator.Make[uint32](m, 2*edges), estimator.Make[int](m, 2*edges)
	n.pipes = estimator.Make[pipe](m, edges)
	n.place(in)
	n.core = estimator.Make[uint32](m, nodes)
	for i := range nodes {
		if i < in.lefts || fixed == 0 {
			n.byNeed = append(n.byNeed, uint32(i))
		}
	}
	slices.SortFunc(n.byNeed, func(a, b uint32) int {
		switch {
		case n.need[a] != n.need[b]:
			if n.need[a] < n.need[b] {
				return -1
			}
			return 1
		case a < b:
			return -1
		}
		return 1
	})
	n.paths.room(m, nodes)
	n.begin(fixed)
	return n
}

// begin brings all nodes into the core, but for right ones of a fixed cap that does not bind.
func (n *network) begin(fixed int64) {
	n.core = n.core[:len(n.end)]
	for i := range n.core {
		n.core[i] = uint32(i)
	}
	if fixed > 0 {
		for i := n.lefts; i < len(n.end); i++ {
			if n.need[i] <= fixed {
				n.release(uint32(i))
			}
		}
	}
}

// restart takes the flow away, and lets caps begin anew.
func (n *network) restart(fixed int64) {
	n.next, n.whole = 0, scalar.Sum{}
	copy(n.end, n.start[1:])
	clear(n.given)
	clear(n.free)
	for e := range n.pipes {
		n.pipes[e].carry = 0
	}
	n.begin(fixed)
}

// measure counts the edges of each node and adds up what it needs. It returns the number of edges.
func (n *network) measure(in entries) int {
	edges := 0
	for i, w := range n.loop {
		n.need[i] = plus(n.need[i], w)
		n.need[in.lefts+i] = plus(n.need[in.lefts+i], w)
	}
	in.each(func(left, right uint32, w int64) {
		edges++
		for _, node := range [2]int{int(left), in.lefts + int(right)} {
			n.start[node+1]++
			n.need[node] = plus(n.need[node], w)
		}
	})
	for i := range n.end {
		n.start[i+1] += n.start[i]
	}
	return edges
}

// place writes the lists.
func (n *network) place(in entries) {
	copy(n.end, n.start)
	in.each(func(left, right uint32, w int64) {
		l, r := left, uint32(in.lefts)+right
		e, k := n.end[l], n.end[r]
		n.other[e], n.edge[e] = r, e
		n.other[k], n.edge[k] = l, e
		n.end[l]++
		n.end[r]++
		n.pipes[e].weight = w
	})
}

// own is the part of a node's loop that its cap lets pass.
func (n *network) own(node uint32, limit int64) int64 {
	if n.loop == nil {
		return 0
	}
	if int(node) >= n.lefts {
		node -= uint32(n.lefts)
	}
	return min(n.loop[node], limit)
}

// release takes a node whose cap no longer binds out of the core.
func (n *network) release(node uint32) {
	n.free[node] = true
	n.whole.Add(n.own(node, math.MaxInt64) + n.given[node])
	for k := n.start[node]; k < n.end[node]; k++ {
		if v := n.other[k]; !n.free[v] {
			n.given[v] = plus(n.given[v], n.pipes[n.edge[k]].weight)
		}
	}
}

// at raises the caps, that of right nodes to right where it is not 0, and returns the largest flow,
// loops of both ends counted. Caps may not fall from one call to the next.
func (n *network) at(limit, right int64, stop func()) scalar.Sum {
	for n.next < len(n.byNeed) && n.need[n.byNeed[n.next]] <= limit {
		n.release(n.byNeed[n.next])
		n.next++
	}
	n.shrink()
	sum := n.whole
	carried := int64(0)
	for _, node := range n.core {
		most := limit
		if int(node) >= n.lefts && right > 0 {
			most = right
		}
		own := n.own(node, most)
		first := min(n.given[node], most-own)
		sum.Add(own + first)
		n.spare[node] = most - own - first
	}
	n.refit()
	n.paths.fill(n, stop)
	for _, node := range n.core {
		if int(node) >= n.lefts {
			continue
		}
		for k := n.start[node]; k < n.end[node]; k++ {
			carried += n.pipes[n.edge[k]].carry
		}
		sum.Add(carried)
		carried = 0
	}
	return sum
}

// shrink drops free nodes and their edges from the core: the edges go to the end of a node's list,
// where restart finds them.
func (n *network) shrink() {
	core := n.core[:0]
	for _, node := range n.core {
		if n.free[node] {
			continue
		}
		core = append(core, node)
		to := n.start[node]
		for k := to; k < n.end[node]; k++ {
			if v := n.other[k]; !n.free[v] {
				n.other[to], n.other[k] = v, n.other[to]
				n.edge[to], n.edge[k] = n.edge[k], n.edge[to]
				to++
			}
		}
		n.end[node] = to
	}
	n.core = core
}

// refit subtracts the flow that is there from what is left of the caps, and takes away what no
// longer fits: as nodes become free, more of a cap may go to them first.
func (n *network) refit() {
	for _, node := range n.core {
		if int(node) >= n.lefts {
			break
		}
		for k := n.start[node]; k < n.end[node]; k++ {
			e, v := &n.pipes[n.edge[k]], n.other[k]
			e.carry = min(e.carry, n.spare[node], n.spare[v])
			n.spare[node] -= e.carry
			n.spare[v] -= e.carry
		}
	}
}

// done gives the memory back.
func (n *network) done() {
	m := n.memory
	estimator.Free(m, n.start)
	estimator.Free(m, n.end)
	estimator.Free(m, n.other)
	estimator.Free(m, n.edge)
	estimator.Free(m, n.pipes)
	estimator.Free(m, n.need)
	estimator.Free(m, n.loop)
	estimator.Free(m, n.given)
	estimator.Free(m, n.spare)
	estimator.Free(m, n.free)
	estimator.Free(m, n.byNeed)
	estimator.Free(m, n.core)
	n.paths.done(m)
}

// paths makes the flow in the core of a network a largest one, by shortest augmenting paths, a
// whole layer of them at a time [Din70].
type paths struct {
	level []int32  // distance from a left node with something to spare; −1: out of reach
	at    []int    // the entry of a node's list that is tried next
	queue []uint32 // of nodes, and then the path
	path  []int    // entries along the path
	steps int
}

// stopEvery is the number of nodes between two looks at whether to stop.
const stopEvery = 1 << 12

// room takes memory for so many nodes.
func (s *paths) room(m estimator.Memory, nodes int) {
	s.level, s.at = estimator.Make[int32](m, nodes), estimator.Make[int](m, nodes)
	s.queue, s.path = estimator.Make[uint32](m, nodes), estimator.Make[int](m, nodes)
}

func (s *paths) done(m estimator.Memory) {
	estimator.Free(m, s.level)
	estimator.Free(m, s.at)
	estimator.Free(m, s.queue)
	estimator.Free(m, s.path)
}

// fill augments until no path is left.
func (s *paths) fill(n *network, stop func()) {
	for s.layers(n, stop) {
		for _, node := range n.core {
			if int(node) >= n.lefts {
				break
			}
			for n.spare[node] > 0 && s.augment(n, node, stop) {
			}
		}
	}
}

// tick looks at whether to stop, now and then.
func (s *paths) tick(stop func()) {
	if s.steps++; s.steps%stopEvery == 0 {
		stop()
	}
}

// open reports whether an edge lets more pass away from an end of it.
func (p *pipe) open(left bool) bool {
	if left {
		return p.carry < p.weight
	}
	return p.carry > 0
}

// layers reckons the distances, up to the first right node that has something to spare. It reports
// whether there is one.
func (s *paths) layers(n *network, stop func()) bool {
	tail := 0
	for _, node := range n.core {
		s.level[node], s.at[node] = -1, n.start[node]
		if int(node) < n.lefts && n.spare[node] > 0 {
			s.level[node] = 0
			s.queue[tail] = node
			tail++
		}
	}
	last := int32(-1)
	for head := 0; head < tail; head++ {
		s.tick(stop)
		node := s.queue[head]
		if last >= 0 && s.level[node] >= last {
			break
		}
		left := int(node) < n.lefts
		for k := n.start[node]; k < n.end[node]; k++ {
			v := n.other[k]
			if s.level[v] >= 0 || !n.pipes[n.edge[k]].open(left) {
				continue
			}
			s.level[v] = s.level[node] + 1
			if left && n.spare[v] > 0 {
				last = s.level[v]
			}
			s.queue[tail] = v
			tail++
		}
	}
	return last >= 0
}

// augment sends what a path from a left node can carry. It reports whether there was one.
func (s *paths) augment(n *network, from uint32, stop func()) bool {
	depth := 0
	for node := from; ; {
		s.tick(stop)
		left := int(node) < n.lefts
		if !left && n.spare[node] > 0 {
			s.send(n, from, node, depth)
			return true
		}
		if k := s.step(n, node, left); k >= 0 {
			s.path[depth] = k
			s.queue[depth] = node
			depth++
			node = n.other[k]
			continue
		}
		if depth == 0 {
			return false
		}
		depth--
		node = s.queue[depth]
		s.at[node]++
	}
}

// step returns the entry of a node's list that leads on to the next layer; −1 where none does.
func (s *paths) step(n *network, node uint32, left bool) int {
	for ; s.at[node] < n.end[node]; s.at[node]++ {
		k := s.at[node]
		if s.level[n.other[k]] == s.level[node]+1 && n.pipes[n.edge[k]].open(left) {
			return k
		}
	}
	return -1
}

// send carries as much along the path as all of it takes.
func (s *paths) send(n *network, from, to uint32, depth int) {
	most := min(n.spare[from], n.spare[to])
	for i, k := range s.path[:depth] {
		if e := n.pipes[n.edge[k]]; i%2 == 0 {
			most = min(most, e.weight-e.carry)
		} else {
			most = min(most, e.carry)
		}
	}
	for i, k := range s.path[:depth] {
		if i%2 == 0 {
			n.pipes[n.edge[k]].carry += most
		} else {
			n.pipes[n.edge[k]].carry -= most
		}
	}
	n.spare[from] -= most
	n.spare[to] -= most
}
