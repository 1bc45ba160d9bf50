package tree

// walsh multiplies x, of a power of two in length, by the Hadamard matrix with entries (−1)^|j∧v|,
// in n·log2(n) additions. Steps are taken two at a time, so that memory is passed half as often.
func walsh(x []float64) {
	n, h := len(x), 1
	for ; 4*h <= n; h *= 4 {
		for i := 0; i < n; i += 4 * h {
			a, b, c, d := x[i:i+h], x[i+h:i+2*h], x[i+2*h:i+3*h], x[i+3*h:i+4*h]
			for j := range a {
				p, q, r, s := a[j]+b[j], a[j]-b[j], c[j]+d[j], c[j]-d[j]
				a[j], b[j], c[j], d[j] = p+r, q+s, p-r, q-s
			}
		}
	}
	if h < n { // one step is left
		a, b := x[:h], x[h:]
		for j, u := range a {
			a[j], b[j] = u+b[j], u-b[j]
		}
	}
}
