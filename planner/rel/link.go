package rel

import "slices"

// linkJoin is a part of a FROM item that leads from the rows of a linked table to their unit.
type linkJoin struct {
	own  string // the table, "child AS t1"
	text string // what follows it, " JOIN parent AS t2 ON …"
	unit int
}

// spare leaves out the joins that lead from a linked table to its unit where its parent is joined
// as well:
//
//	lineitem AS t1 JOIN orders AS t2 ON t1.order_id = t2.id … orders AS t3 … WHERE t1.order_id = t3.id
//
// x is the link's column and y the key that it refers to, and they are equal on all rows. The key
// is unique, so that the row of t2 is there and is that of t3, and so is its unit. So it is within
// a subquery where the parent, or another row that refers to it, is of the rows around it.
func (r *Relation) spare(child, parent *Column, x, y tag) {
	at := slices.IndexFunc(r.links, func(j linkJoin) bool { return j.unit == x.unit })
	around := x.unit >= r.outside && y.unit < r.outside
	if at < 0 || x.kind != tagLink || y.kind != tagSelf && !around || x.unit == y.unit || child.Extended || parent.Extended {
		return
	}
	r.spared = append(slices.Clone(r.spared), r.links[at])
	r.links = slices.Delete(slices.Clone(r.links), at, at+1)
	old := r.units[x.unit].expr.SQL
	for i := range r.units {
		if r.units[i].expr.SQL == old {
			r.units[i].expr, r.units[i].present = r.units[y.unit].expr, r.units[y.unit].present
		}
	}
}
