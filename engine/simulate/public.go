package simulate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/collect"
	"scrim/engine/collect/exact"
)

// repeatable is the source of a run of a simulation over public values that can be repeated.
// Nothing private is ever drawn from it.
func repeatable(seed uint64, run int) *rand.ChaCha8 {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "simulation %d run %d", seed, run)))
}

// publicValues reads the rows of a public query into slots: of more rows than slots a random
// choice, of fewer all of them again and again.
func (s *Simulator) publicValues(ctx *sql.Context, node sql.Node, width, slots int, r *exact.Rand) ([]collect.Value, error) {
	schema := node.Schema(ctx)
	if len(schema) != width && !(len(schema) == 1 && width > 1) {
		return nil, unsuitable("The source has %d columns, and a value of the collection %d numbers.", len(schema), width)
	}
	rows, err := s.Engine.Analyzer.ExecBuilder.Build(ctx, node, nil)
	if err != nil {
		return nil, err
	}
	values, err := choose(ctx, rows, width, slots, r)
	if closed := rows.Close(ctx); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, unsuitable("The source of the simulation has no rows.")
	}
	for i := 0; len(values) < slots; i++ {
		values = append(values, values[i])
	}
	return values, nil
}

// choose takes all rows, or a uniform choice of as many as there are slots (reservoir sampling), in
// random order.
func choose(ctx *sql.Context, rows sql.RowIter, width, slots int, r *exact.Rand) ([]collect.Value, error) {
	var out []collect.Value
	for seen := uint64(0); ; seen++ {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			return out, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		at := r.Uniform(seen + 1)
		if at >= uint64(slots) {
			continue
		}
		v, err := valueOf(ctx, row, width)
		if err != nil {
			return nil, err
		}
		if len(out) < slots {
			out = append(out, v)
			out[at], out[len(out)-1] = out[len(out)-1], out[at]
			continue
		}
		out[at] = v
	}
}

// valueOf reads one value; nil for NULL.
func valueOf(ctx *sql.Context, row sql.Row, width int) (collect.Value, error) {
	if width > 1 && len(row) == 1 {
		return numbersOf(ctx, row[0])
	}
	out := make(collect.Value, len(row))
	for i, x := range row {
		if x == nil {
			return nil, nil
		}
		v, _, err := types.Float64.Convert(ctx, x)
		f, ok := v.(float64)
		if err != nil || !ok {
			return nil, unsuitable("The source of the simulation has a value that is no number.")
		}
		out[i] = f
	}
	return out, nil
}

// numbersOf reads a vector: a JSON array of numbers, or what prints as one.
func numbersOf(ctx *sql.Context, x any) (collect.Value, error) {
	if x == nil {
		return nil, nil
	}
	doc, _, err := types.JSON.Convert(ctx, x)
	if err != nil {
		return nil, unsuitable("The source of the simulation has a value that is no vector.")
	}
	text, err := types.JSON.SQL(ctx, nil, doc)
	var out collect.Value
	if err != nil || json.Unmarshal(text.ToBytes(), &out) != nil {
		return nil, unsuitable("The source of the simulation has a value that is no vector of numbers.")
	}
	return out, nil
}
