package device

import (
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
)

// BenchmarkReport makes a report of each local protocol and round as an app does, from verified
// parameters on: 10 ms are allowed.
func BenchmarkReport(b *testing.B) {
	for _, info := range collect.Protocols {
		if info.Model != collect.Local {
			continue
		}
		for round := 1; round <= info.Rounds; round++ {
			p := roundOf(b, info.Protocol, "", round)
			b.Run(string(info.Protocol)+string(rune('0'+round)), func(b *testing.B) {
				for range b.N {
					if _, err := Report(exact.Secure(), p, uint32(len(p.Cells)-1), nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkBundle makes and seals the messages of each shuffle protocol and round. SHUF_SUM,
// planned for 10^5 contributors, is allowed 10 ms.
func BenchmarkBundle(b *testing.B) {
	key, err := seal.Generate()
	if err != nil {
		b.Fatal(err)
	}
	for _, info := range collect.Protocols {
		if info.Model != collect.Shuffle {
			continue
		}
		for round := 1; round <= info.Rounds; round++ {
			p := planned(b, info.Protocol, 100_000, "", round)
			sealer, err := seal.NewSealer(key.Public(), p.Fingerprint())
			if err != nil {
				b.Fatal(err)
			}
			b.Run(string(info.Protocol)+string(rune('0'+round)), func(b *testing.B) {
				for range b.N {
					m, err := Messages(exact.Secure(), p, 0, nil)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := seal.ShapeOf(p).Bundle(sealer, m); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
