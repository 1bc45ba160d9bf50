package contribute

import (
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkReport sizes what a contributor waits for, from parsed parameters to bytes:
// verification, randomisation, and for bundles sealing, without a disk. The wallet's fsyncs are
// BenchmarkKeep.
func BenchmarkReport(b *testing.B) {
	for _, name := range []string{"bit", "uv2", "hier", "haar", "scm3", "sum", "vec", "nodes"} {
		p := first(b, name)
		token := tokenOf(p, 0, 1)
		info, _ := p.Protocol.Info()
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w := InMemory(generous(b))
				make := w.Report
				if info.Model == "SHUFFLE" {
					make = func(p *Params, t Token, v Value) ([]byte, error) {
						return w.Bundle(pinOf(p), p, t, v, TrustedOperator)
					}
				}
				if _, err := make(p, token, someValue(p)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkKeep sizes one write of a wallet that holds n reports: two fsyncs and a rename.
func BenchmarkKeep(b *testing.B) {
	for _, n := range []int{0, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := walletAt(b, filepath.Join(b.TempDir(), "wallet"))
			if err := w.SetCaps(generous(b)); err != nil {
				b.Fatal(err)
			}
			for i := range n {
				p, _ := roundOf(b, planned(b, "bit", fmt.Sprintf("0190a6f2-7b1c-7c3e-9d5a-%012d", i)), 1)
				if _, err := w.Report(p, tokenOf(p, 0, byte(i)), Number(1)); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if err := w.SetCaps(generous(b)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
