package bench

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// The constants of TPC-H's generator that the queries' selectivities rest on.
const (
	ordersPerCustomer = 15 // of each customer that has any: a third has none
	linesPerOrder     = 4  // on average
	suppliersPerPart  = 4
)

var (
	nations = []string{"ALGERIA", "ARGENTINA", "BRAZIL", "CANADA", "EGYPT", "ETHIOPIA", "FRANCE", "GERMANY", "INDIA", "INDONESIA", "IRAN", "IRAQ", "JAPAN",
		"JORDAN", "KENYA", "MOROCCO", "MOZAMBIQUE", "PERU", "CHINA", "ROMANIA", "SAUDI ARABIA", "VIETNAM", "RUSSIA", "UNITED KINGDOM", "UNITED STATES"}
	regionOf   = []int{0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1}
	regions    = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}
	shipModes  = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
	instructs  = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	classes    = []string{"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"}
	finishes   = []string{"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"}
	metals     = []string{"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"}
	sizes      = []string{"SM", "LG", "MED", "JUMBO", "WRAP"}
	containers = []string{"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"}
)

// tpchTables are the statements that make the tables, with the columns that the queries read and
// TPC-H's types.
var tpchTables = []string{
	"CREATE TABLE region (r_regionkey INTEGER PRIMARY KEY, r_name CHAR(25) NOT NULL)",
	"CREATE TABLE nation (n_nationkey INTEGER PRIMARY KEY, n_name CHAR(25) NOT NULL, n_regionkey INTEGER NOT NULL)",
	"CREATE TABLE supplier (s_suppkey BIGINT PRIMARY KEY, s_nationkey INTEGER NOT NULL)",
	"CREATE TABLE part (p_partkey BIGINT PRIMARY KEY, p_brand CHAR(10) NOT NULL, p_type VARCHAR(25) NOT NULL, p_size INTEGER NOT NULL, p_container CHAR(10) NOT NULL)",
	"CREATE TABLE customer (c_custkey BIGINT PRIMARY KEY, c_nationkey INTEGER NOT NULL)",
	"CREATE TABLE orders (o_orderkey BIGINT PRIMARY KEY, o_custkey BIGINT NOT NULL, o_orderdate DATE NOT NULL)",
	"CREATE TABLE lineitem (l_orderkey BIGINT NOT NULL, l_partkey BIGINT NOT NULL, l_suppkey BIGINT NOT NULL, l_quantity DECIMAL(15,2) NOT NULL, " +
		"l_extendedprice DECIMAL(15,2) NOT NULL, l_discount DECIMAL(15,2) NOT NULL, l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, " +
		"l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL)",
}

// tpchFiles writes a CSV file of each table, in the order in which the tables are made, with about
// so many rows of lineitem. The numbers are those of a fixed seed.
func tpchFiles(b *testing.B, dir string, lines int) (tables, files []string) {
	b.Helper()
	orders := max(lines/linesPerOrder, ordersPerCustomer)
	g := &tpch{b: b, dir: dir, r: rand.New(rand.NewPCG(1, 2)), orders: orders, customers: orders / 10, parts: max(orders*2/15, suppliersPerPart),
		suppliers: max(orders/150, suppliersPerPart)}
	g.file("region", "r_regionkey,r_name", func(w *bufio.Writer) {
		for i, name := range regions {
			fmt.Fprintf(w, "%d,%s\n", i, name)
		}
	})
	g.file("nation", "n_nationkey,n_name,n_regionkey", func(w *bufio.Writer) {
		for i, name := range nations {
			fmt.Fprintf(w, "%d,%s,%d\n", i, name, regionOf[i])
		}
	})
	g.file("supplier", "s_suppkey,s_nationkey", func(w *bufio.Writer) { g.keyed(w, g.suppliers) })
	g.file("part", "p_partkey,p_brand,p_type,p_size,p_container", func(w *bufio.Writer) {
		for i := range g.parts {
			fmt.Fprintf(w, "%d,Brand#%d%d,%s %s %s,%d,%s %s\n", i+1, 1+g.r.IntN(5), 1+g.r.IntN(5), g.pick(classes), g.pick(finishes), g.pick(metals),
				1+g.r.IntN(50), g.pick(sizes), g.pick(containers))
		}
	})
	g.file("customer", "c_custkey,c_nationkey", func(w *bufio.Writer) { g.keyed(w, g.customers) })
	g.file("orders", "o_orderkey,o_custkey,o_orderdate", g.order)
	g.file("lineitem", "l_orderkey,l_partkey,l_suppkey,l_quantity,l_extendedprice,l_discount,l_tax,l_returnflag,l_linestatus,l_shipdate,l_shipinstruct,l_shipmode", g.line)
	return g.tables, g.files
}

// tpch makes the data of TPC-H's tables, near enough to its own generator's for the queries of the
// benchmark.
type tpch struct {
	b                                   *testing.B
	dir                                 string
	r                                   *rand.Rand
	orders, customers, parts, suppliers int
	days                                []int16 // of each order, days after the first one
	tables, files                       []string
}

var (
	firstDay   = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	orderDays  = int(time.Date(1998, 8, 2, 0, 0, 0, 0, time.UTC).Sub(firstDay).Hours()/24) + 1
	currentDay = int(time.Date(1995, 6, 17, 0, 0, 0, 0, time.UTC).Sub(firstDay).Hours() / 24)
)

func (g *tpch) file(table, header string, rows func(*bufio.Writer)) {
	g.b.Helper()
	path := filepath.Join(g.dir, table+".csv")
	f, err := os.Create(path)
	if err != nil {
		g.b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintln(w, header)
	rows(w)
	if err := w.Flush(); err != nil {
		g.b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		g.b.Fatal(err)
	}
	g.tables, g.files = append(g.tables, table), append(g.files, path)
}

func (g *tpch) pick(from []string) string { return from[g.r.IntN(len(from))] }

// keyed writes rows of a number and a nation.
func (g *tpch) keyed(w *bufio.Writer, rows int) {
	for i := range rows {
		fmt.Fprintf(w, "%d,%d\n", i+1, g.r.IntN(len(nations)))
	}
}

// number is that of an order: as in TPC-H, 8 of 32 numbers in a row are used.
func number(order int) int { return order/8*32 + order%8 + 1 }

func (g *tpch) order(w *bufio.Writer) {
	dates := make([]string, orderDays)
	for d := range dates {
		dates[d] = date(d)
	}
	var line []byte
	for i := range g.orders {
		customer := 1 + g.r.IntN(g.customers)
		for customer%3 == 0 && g.customers > 1 {
			customer = 1 + g.r.IntN(g.customers)
		}
		day := g.r.IntN(orderDays)
		g.days = append(g.days, int16(day))
		line = comma(strconv.AppendInt(line[:0], int64(number(i)), 10))
		line = comma(strconv.AppendInt(line, int64(customer), 10))
		w.Write(append(append(line, dates[day]...), '\n'))
	}
}

func (g *tpch) line(w *bufio.Writer) {
	dates := make([]string, orderDays+200)
	for d := range dates {
		dates[d] = date(d)
	}
	var line []byte
	for i, day := range g.days {
		for range 1 + g.r.IntN(2*linesPerOrder-1) {
			part := 1 + g.r.IntN(g.parts)
			supplier := 1 + (part+g.r.IntN(suppliersPerPart)*(g.suppliers/suppliersPerPart+(part-1)/g.suppliers))%g.suppliers
			quantity := 1 + g.r.IntN(50)
			price := 90000 + part/10%20001 + 100*(part%1000) // of a part, in cents
			shipped := int(day) + 1 + g.r.IntN(121)
			received := shipped + 1 + g.r.IntN(30)
			flag, status := "N", "O"
			if received <= currentDay {
				flag = []string{"R", "A"}[g.r.IntN(2)]
			}
			if shipped <= currentDay {
				status = "F"
			}
			line = line[:0]
			for _, n := range []int{number(i), part, supplier, quantity} {
				line = comma(strconv.AppendInt(line, int64(n), 10))
			}
			for _, cents := range []int{quantity * price, g.r.IntN(11), g.r.IntN(9)} {
				line = append(strconv.AppendInt(line, int64(cents/100), 10), '.', byte('0'+cents/10%10), byte('0'+cents%10), ',')
			}
			for _, s := range []string{flag, status, dates[shipped], g.pick(instructs)} {
				line = comma(append(line, s...))
			}
			w.Write(append(append(line, g.pick(shipModes)...), '\n'))
		}
	}
}

func comma(line []byte) []byte { return append(line, ',') }

func date(day int) string { return firstDay.AddDate(0, 0, day).Format(time.DateOnly) }
