package tpch

import "slices"

// suppliersPerPart is the number of suppliers that offer a part.
const suppliersPerPart = 4

// complaints is the number of suppliers, in 10 000, about whom customers complain in the comment;
// as many are recommended.
const complaints = 5

func (g *generator) writeRegions() error {
	return g.rows("region", "r_regionkey,r_name,r_comment", len(regions), func(i int) {
		g.number(i)
		g.word(regions[i])
		g.last(31, 115)
	})
}

func (g *generator) writeNations() error {
	return g.rows("nation", "n_nationkey,n_name,n_regionkey,n_comment", len(nations), func(i int) {
		g.number(i)
		g.word(nations[i])
		g.number(regionOf[i])
		g.last(31, 114)
	})
}

func (g *generator) writeSuppliers() error {
	spoken := map[int]string{} // how the phrase of a supplier ends
	for _, end := range []string{"Complaints", "Recommends"} {
		for range max(g.Suppliers*complaints/10_000, 1) {
			i := g.r.IntN(g.Suppliers)
			for spoken[i] != "" {
				i = g.r.IntN(g.Suppliers)
			}
			spoken[i] = end
		}
	}
	return g.rows("supplier", "s_suppkey,s_name,s_address,s_nationkey,s_phone,s_acctbal,s_comment", g.Suppliers, func(i int) {
		g.number(i + 1)
		g.numbered("Supplier#", i+1)
		g.address()
		nation := g.r.IntN(len(nations))
		g.line = append(g.line, ',')
		g.number(nation)
		g.phone(nation)
		g.cents(g.between(-99_999, 999_999))
		from := len(g.line)
		g.comment(25, 100)
		if end := spoken[i]; end != "" {
			g.phrase(from, "Customer", end)
		}
		g.line = append(g.line, '\n')
	})
}

// retailPrice is the price of a part, in cents.
func retailPrice(part int) int { return 90_000 + part/10%20_001 + 100*(part%1_000) }

// offeredBy is the supplier of a part's i-th offer, i from 0 to 3.
func (g *generator) offeredBy(part, i int) int {
	return (part+i*(g.Suppliers/suppliersPerPart+(part-1)/g.Suppliers))%g.Suppliers + 1
}

func (g *generator) writeParts() error {
	order := slices.Clone(colours)
	return g.rows("part", "p_partkey,p_name,p_mfgr,p_brand,p_type,p_size,p_container,p_retailprice,p_comment", g.Parts, func(i int) {
		g.number(i + 1)
		for j := range 5 { // five different words
			k := j + g.r.IntN(len(order)-j)
			order[j], order[k] = order[k], order[j]
			g.line = append(append(g.line, order[j]...), ' ')
		}
		g.line[len(g.line)-1] = ','
		maker := byte('1' + g.r.IntN(5))
		g.line = append(g.line, "Manufacturer#"...)
		g.line = append(g.line, maker, ',')
		g.line = append(g.line, "Brand#"...)
		g.line = append(g.line, maker, byte('1'+g.r.IntN(5)), ',')
		for _, words := range [][]string{classes, finishes, metals} {
			g.line = append(append(g.line, g.pick(words)...), ' ')
		}
		g.line[len(g.line)-1] = ','
		g.number(g.between(1, 50))
		g.line = append(append(g.line, g.pick(packings)...), ' ')
		g.word(g.pick(containers))
		g.cents(retailPrice(i + 1))
		g.last(5, 22)
	})
}

func (g *generator) writeOffers() error {
	return g.rows("partsupp", "ps_partkey,ps_suppkey,ps_availqty,ps_supplycost,ps_comment", g.Parts, func(i int) {
		for j := range suppliersPerPart {
			g.number(i + 1)
			g.number(g.offeredBy(i+1, j))
			g.number(g.between(1, 9_999))
			g.cents(g.between(100, 100_000))
			g.last(49, 198)
		}
	})
}

func (g *generator) writeCustomers() error {
	return g.rows("customer", "c_custkey,c_name,c_address,c_nationkey,c_phone,c_acctbal,c_mktsegment,c_comment", g.Customers, func(i int) {
		g.number(i + 1)
		g.numbered("Customer#", i+1)
		g.address()
		g.line = append(g.line, ',')
		nation := g.r.IntN(len(nations))
		g.number(nation)
		g.phone(nation)
		g.cents(g.between(-99_999, 999_999))
		g.word(g.pick(segments))
		g.last(29, 116)
	})
}
