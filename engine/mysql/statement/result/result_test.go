package result

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

var errMiddle = errors.New("in the middle")

// numberedRows gives rows of a number and a text up to n, then an error. It gives the text in a
// value that it uses again, as the store's rows do.
type numberedRows struct {
	n, at  int
	err    error
	before func(at int)
	closed int
	text   sqltypes.Value
}

func (c *numberedRows) Next(*sql.Context) (sql.Row, error) {
	if c.before != nil {
		c.before(c.at)
	}
	if c.at == c.n {
		return nil, c.err
	}
	c.at++
	c.text = sqltypes.MakeTrusted(sqltypes.VarChar, fmt.Appendf(nil, "row %d", c.at))
	return sql.Row{int64(c.at), &c.text}, nil
}

func (c *numberedRows) Close(*sql.Context) error {
	c.closed++
	return nil
}

// spoolAll collects what spool sends, and what it leaves to be sent.
func spoolAll(ctx context.Context, rows *numberedRows, send func(batch int) error) (sent []int, texts []string, err error) {
	schema := sql.Schema{{Name: "n", Type: types.Int64}, {Name: "t", Type: types.Text}}
	take := func(r *sqltypes.Result) {
		sent = append(sent, len(r.Rows))
		for _, row := range r.Rows {
			texts = append(texts, row[0].ToString()+" "+row[1].ToString())
		}
	}
	last, err := Spool(sql.NewContext(ctx), schema, rows, func(r *sqltypes.Result) error {
		take(r)
		return send(len(sent))
	})
	if last != nil {
		take(last)
	}
	return sent, texts, err
}

func TestSpoolSendsWholeBatches(t *testing.T) {
	for n, want := range map[int][]int{0: {0}, 1: {1}, 127: {127}, 128: {128}, 129: {128, 1}, 256: {128, 128}, 300: {128, 128, 44}} {
		rows := &numberedRows{n: n, err: io.EOF}
		sent, texts, err := spoolAll(t.Context(), rows, func(int) error { return nil })
		if err != nil || !reflect.DeepEqual(sent, want) || rows.closed != 1 {
			t.Errorf("%d rows: sent %v, error %v, closed %d times", n, sent, err, rows.closed)
		}
		for i, text := range texts {
			if want := fmt.Sprintf("%d row %d", i+1, i+1); text != want {
				t.Fatalf("%d rows: got %q, want %q", n, text, want)
			}
		}
	}
}

// An error of the first 128 rows leaves nothing sent; a later one, what was sent before.
func TestSpoolEndsWithTheFirstError(t *testing.T) {
	for n, want := range map[int][]int{0: nil, 128: nil, 129: {128}, 300: {128, 128}} {
		rows := &numberedRows{n: n, err: errMiddle}
		sent, _, err := spoolAll(t.Context(), rows, func(int) error { return nil })
		if !errors.Is(err, errMiddle) || !reflect.DeepEqual(sent, want) || rows.closed != 1 {
			t.Errorf("error after %d rows: sent %v, error %v, closed %d times", n, sent, err, rows.closed)
		}
	}
}

func TestSpoolEndsWithItsContextAndItsClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rows := &numberedRows{n: 1000, err: io.EOF, before: func(at int) {
		if at == 200 {
			cancel()
		}
	}}
	sent, _, err := spoolAll(ctx, rows, func(int) error { return nil })
	if !errors.Is(err, context.Canceled) || !reflect.DeepEqual(sent, []int{128, 128}) || rows.closed != 1 || rows.at > 300 {
		t.Errorf("cancelled: sent %v, error %v, closed %d times after %d rows", sent, err, rows.closed, rows.at)
	}
	rows = &numberedRows{n: 1000, err: io.EOF}
	sent, _, err = spoolAll(t.Context(), rows, func(int) error { return errMiddle })
	if !errors.Is(err, errMiddle) || !reflect.DeepEqual(sent, []int{128}) || rows.closed != 1 {
		t.Errorf("client gone: sent %v, error %v, closed %d times", sent, err, rows.closed)
	}
}

// TestDoublesOfOtherTypes: a column of doubles may hold values of another type, which are written
// as its own.
func TestDoublesOfOtherTypes(t *testing.T) {
	ctx := sql.NewEmptyContext()
	for _, c := range []struct {
		t    sql.Type
		v    any
		want string
	}{
		{types.Float64, 1e20, "1e20"}, {types.Float64, int64(1e15), "1e15"}, {types.Float64, apd.New(5, 20), "5e20"},
		{types.Float64, "1e20x", "1e20"}, {types.Float32, float32(1e20), "1e20"}, {types.Float32, 0.1, "0.1"},
	} {
		if got, ok := appendDouble(ctx, nil, c.t, c.v); !ok || string(got) != c.want {
			t.Errorf("%v %v: got %s, %v, want %s", c.t, c.v, got, ok, c.want)
		}
	}
	for _, v := range []any{math.NaN(), math.Inf(-1), []byte("not a number"), true} {
		if got, ok := appendDouble(ctx, nil, types.Float64, v); ok && v != true {
			t.Errorf("%v: got %s", v, got)
		}
	}
	if _, ok := appendDouble(ctx, nil, types.Int64, 1.5); ok {
		t.Error("a BIGINT is written as a DOUBLE")
	}
}
