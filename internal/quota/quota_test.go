package quota

import (
	"errors"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/mysql"
)

func refused(err error, of string) bool {
	e := new(mysql.SQLError)
	return errors.As(err, &e) && e.Num == errCapacity && strings.Contains(e.Message, "'"+of+"'")
}

// TestBoundsHold: of a statement, of a connection and of all of them; what is refused is not taken.
func TestBoundsHold(t *testing.T) {
	pool := NewPool(20 << 20)
	a, b := New(Limits{8 << 20, 12 << 20, pool}), New(Limits{20 << 20, 20 << 20, pool})
	if err := a.Take(6 << 20); err != nil {
		t.Fatal(err)
	}
	if err := a.Take(3 << 20); !refused(err, "statement") {
		t.Errorf("9 MiB of 8: %v", err)
	}
	if err := a.Push(a.Mark(), 3<<20); !refused(err, "statement") || a.Mark() != 0 {
		t.Errorf("9 MiB of 8 with texts: %v, %d", err, a.Mark())
	}
	if err := a.Keep(7 << 20); !refused(err, "connection") {
		t.Errorf("13 MiB of 12: %v", err)
	}
	if err := errors.Join(a.Keep(6<<20), b.Take(8<<20)); err != nil {
		t.Error(err)
	}
	if err := b.Take(6 << 20); !refused(err, "all connections") {
		t.Errorf("26 MiB of 20: %v", err)
	}
	a.Begin()
	if err := b.Take(6 << 20); err != nil {
		t.Errorf("after a statement has ended: %v", err)
	}
	a.Close()
	b.Close()
	if pool.Used() != 0 {
		t.Errorf("%d bytes are taken at the end", pool.Used())
	}
	if a.Take(2<<20) == nil {
		t.Error("a closed account gives memory")
	}
}

// TestSmallStatementsAlwaysFit, whatever others hold.
func TestSmallStatementsAlwaysFit(t *testing.T) {
	pool := NewPool(4 << 20)
	a, b := New(Limits{1 << 30, 1 << 30, pool}), New(Limits{1 << 30, 1 << 30, pool})
	for a.Take(1<<20) == nil {
	}
	if err := b.Take(step); err != nil {
		t.Error(err)
	}
}

// TestLiveTextsAreAStack: what is above a mark goes at once.
func TestLiveTextsAreAStack(t *testing.T) {
	a := New(Limits{100 << 20, 100 << 20, nil})
	outer := a.Mark()
	if err := errors.Join(a.Push(outer, 30), a.Push(a.Mark(), 40)); err != nil || a.Mark() != 70 {
		t.Fatalf("%v, %d", err, a.Mark())
	}
	a.Reset(outer)
	if a.Mark() != 0 {
		t.Errorf("%d bytes are left", a.Mark())
	}
}

// TestNilAccount bounds nothing.
func TestNilAccount(t *testing.T) {
	var a *Account
	a.Begin()
	a.Free(1)
	a.Reset(a.Mark())
	a.Close()
	if err := errors.Join(a.Take(1<<60), a.Keep(1<<60), a.Push(0, 1<<60)); err != nil {
		t.Error(err)
	}
}
