package fuzz

import (
	"slices"
	"strings"
)

// Node is a part of a statement. An expression, a query or a clause has a form with its kids at %0,
// %1, …; a list has its kids between Sep and, unless it has none, after Prefix.
type Node struct {
	Form string
	Kids []*Node
	Kind byte // of an expression: a key of the grammar; 0 for others

	List        bool
	Prefix, Sep string
	Min         int // kids that a list keeps
}

// String is the node's SQL.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *Node) write(b *strings.Builder) {
	if n.List {
		for i, k := range n.Kids {
			if i == 0 {
				b.WriteString(n.Prefix)
			} else {
				b.WriteString(n.Sep)
			}
			k.write(b)
		}
		return
	}
	for i := 0; i < len(n.Form); i++ {
		if c := n.Form[i]; c != '%' || i+1 == len(n.Form) {
			b.WriteByte(c)
			continue
		}
		if i++; n.Form[i] == '%' {
			b.WriteByte('%')
			continue
		}
		k := n.Kids[n.Form[i]-'0']
		if brackets := n.Kind != 0 && k.Kind != 0 && len(k.Kids) > 0; brackets {
			b.WriteByte('(')
			k.write(b)
			b.WriteByte(')')
		} else {
			k.write(b)
		}
	}
}

// list makes a list.
func list(prefix, sep string, least int, kids ...*Node) *Node {
	return &Node{List: true, Prefix: prefix, Sep: sep, Min: least, Kids: kids}
}

// part makes a node that is no expression.
func part(form string, kids ...*Node) *Node { return &Node{Form: form, Kids: kids} }

// Smaller returns trees that are n with one part less: an element of a list left out, or an
// expression replaced by a part of it that is of the same kind.
func (n *Node) Smaller() (out []*Node) {
	with := func(i int, k *Node) *Node {
		c := *n
		c.Kids = slices.Clone(n.Kids)
		c.Kids[i] = k
		return &c
	}
	if n.List && len(n.Kids) > n.Min {
		for i := range n.Kids {
			c := *n
			c.Kids = slices.Delete(slices.Clone(n.Kids), i, i+1)
			out = append(out, &c)
		}
	}
	for i, k := range n.Kids {
		if n.Kind == 0 && k.Kind != 0 {
			for _, p := range k.Kids {
				if p.Kind != 0 {
					out = append(out, with(i, p))
				}
			}
		}
		if n.Kind != 0 {
			for _, p := range k.Kids {
				if p.Kind == k.Kind {
					out = append(out, with(i, p))
				}
			}
		}
		for _, s := range k.Smaller() {
			out = append(out, with(i, s))
		}
	}
	return out
}

// Find returns the nodes of the tree for which is holds, from the root on.
func (n *Node) Find(is func(*Node) bool) (out []*Node) {
	if is(n) {
		out = append(out, n)
	}
	for _, k := range n.Kids {
		out = append(out, k.Find(is)...)
	}
	return out
}
