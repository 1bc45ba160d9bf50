package seal

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"scrim/engine/collections/collect"
)

func TestOpenAllKeepsOrderAndCountsFailures(t *testing.T) {
	s, o, _ := pair(t)
	var bag, want []byte
	const n = 2*chunk + 7
	for i := range n {
		m := collect.Message{byte(i), byte(i >> 8)}
		c := sealed(t, s, m)
		if i%50 == 3 {
			c[40] ^= 1
		} else {
			want = append(want, m[:]...)
		}
		bag = append(bag, c...)
	}
	last := 0
	got, failed, err := o.OpenAll(context.Background(), bag, func(done int) {
		if done <= last {
			t.Errorf("progress went from %d to %d", last, done)
		}
		last = done
	})
	if err != nil || failed != 11 || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of messages, want %d; %d failed, want 11; %v", len(got), len(want), failed, err)
	}
	if last != n {
		t.Errorf("progress ended at %d of %d", last, n)
	}
}

func TestOpenAllOfNothingAndOfBadBags(t *testing.T) {
	_, o, _ := pair(t)
	if m, failed, err := o.OpenAll(context.Background(), nil, nil); err != nil || len(m) != 0 || failed != 0 {
		t.Errorf("an empty bag gives %v, %d, %v", m, failed, err)
	}
	if _, _, err := o.OpenAll(context.Background(), make([]byte, 100), nil); err == nil {
		t.Error("a bag cut within a message is taken")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := o.OpenAll(ctx, make([]byte, SealedSize), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// BenchmarkOpenAll opens bags of 2048 messages on all cores; a batch of 10^5 SHUF_SUM bundles of
// nine messages takes 9·10^5/(opens/s) seconds.
func BenchmarkOpenAll(b *testing.B) {
	s, o, _ := pair(b)
	const n = 2048
	bag := make([]byte, 0, n*SealedSize)
	for i := range n {
		bag = append(bag, sealed(b, s, collect.Message{byte(i)})...)
	}
	b.ResetTimer()
	for range b.N {
		if _, failed, err := o.OpenAll(context.Background(), bag, nil); err != nil || failed != 0 {
			b.Fatal(failed, err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "opens/s")
}

// BenchmarkSeal9 seals the nine messages of one SHUF_SUM report.
func BenchmarkSeal9(b *testing.B) {
	s, _, _ := pair(b)
	shape := Shape{Least: 9, Most: 9}
	for range b.N {
		if _, err := shape.Bundle(s, make([]collect.Message, 9)); err != nil {
			b.Fatal(err)
		}
	}
}
