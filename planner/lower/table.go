package lower

import "strings"

func init() { table, byName = build() }

func build() ([]entry, map[string]*entry) {
	var all []entry
	for _, part := range [][]entry{control, numericFunctions, stringFunctions, dateFunctions, vectors} {
		all = append(all, part...)
	}
	m := map[string]*entry{}
	for i := range all {
		for _, n := range strings.Fields(all[i].names) {
			if m[n] != nil {
				panic("lower: function listed twice: " + n)
			}
			m[n] = &all[i]
		}
	}
	return all, m
}
