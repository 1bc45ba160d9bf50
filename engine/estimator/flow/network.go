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
