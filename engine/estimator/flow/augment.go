package flow

import "scrim/engine/estimator"

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
