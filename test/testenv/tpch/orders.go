package tpch

import "errors"

// mostLines is the number of lines that an order has at most; it has one at least, all as likely.
const mostLines = 7

// orderKey is the key of the i-th order: the first 8 of 32 numbers in a row are used.
func orderKey(i int) int { return i/8*32 + i%8 + 1 }

// line is what of an order's line is drawn before the order is written, whose price and status
// follow from it. Money is in cents, discount and tax in hundredths, days count from firstDay.
type line struct {
	part, supplier, quantity, price, discount, tax int
	shipped, committed, received                   int
}

// writeOrders writes orders and their lines side by side.
func (g *generator) writeOrders() error {
	lines, err := g.create("lineitem", "l_orderkey,l_partkey,l_suppkey,l_linenumber,l_quantity,l_extendedprice,l_discount,l_tax,l_returnflag,l_linestatus,"+
		"l_shipdate,l_commitdate,l_receiptdate,l_shipinstruct,l_shipmode,l_comment")
	if err != nil {
		return err
	}
	var all [mostLines]line
	err = g.rows("orders", "o_orderkey,o_custkey,o_orderstatus,o_totalprice,o_orderdate,o_orderpriority,o_clerk,o_shippriority,o_comment", g.Orders, func(i int) {
		day := g.r.IntN(orderDays)
		drawn := all[:1+g.r.IntN(mostLines)]
		for j := range drawn {
			drawn[j] = g.draw(day)
		}
		for j, l := range drawn {
			g.line = g.line[:0]
			g.writeLine(orderKey(i), j+1, l)
			lines.Write(g.line)
		}
		g.line = g.line[:0]
		g.writeOrder(orderKey(i), day, drawn)
	})
	return errors.Join(err, lines.close())
}

// draw returns a line of an order of that day.
func (g *generator) draw(day int) line {
	l := line{part: g.between(1, g.Parts), quantity: g.between(1, 50), discount: g.between(0, 10), tax: g.between(0, 8)}
	l.supplier = g.offeredBy(l.part, g.r.IntN(suppliersPerPart))
	l.price = l.quantity * retailPrice(l.part)
	l.shipped, l.committed = day+g.between(1, 121), day+g.between(30, 90)
	l.received = l.shipped + g.between(1, 30)
	return l
}

func (g *generator) writeLine(order, number int, l line) {
	g.number(order)
	g.number(l.part)
	g.number(l.supplier)
	g.number(number)
	g.number(l.quantity)
	g.cents(l.price)
	g.cents(l.discount)
	g.cents(l.tax)
	flag, status := "N", "O"
	if l.received <= currentDay {
		flag = "RA"[g.r.IntN(2):][:1]
	}
	if l.shipped <= currentDay {
		status = "F"
	}
	g.word(flag)
	g.word(status)
	for _, day := range []int{l.shipped, l.committed, l.received} {
		g.word(g.dates[day])
	}
	g.word(g.pick(instructs))
	g.word(g.pick(modes))
	g.last(10, 43)
}

func (g *generator) writeOrder(order, day int, lines []line) {
	g.number(order)
	customer := g.between(1, g.Customers)
	for customer%3 == 0 { // a third of the customers never orders
		customer = g.between(1, g.Customers)
	}
	g.number(customer)
	open, total := 0, 0
	for _, l := range lines {
		if l.shipped > currentDay {
			open++
		}
		total += l.price * (100 - l.discount) / 100 * (100 + l.tax) / 100
	}
	switch open {
	case 0:
		g.word("F")
	case len(lines):
		g.word("O")
	default:
		g.word("P")
	}
	g.cents(total)
	g.word(g.dates[day])
	g.word(g.pick(priorities))
	g.numbered("Clerk#", g.between(1, max(g.Customers/150, 1)))
	g.number(0)
	g.last(19, 78)
}
