package shuffler

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	bolt "go.etcd.io/bbolt"

	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// procedure is what the operator may CALL; scrim shuffle's commands do.
type procedure struct {
	args   []string // names, all of them required; NULL where there is none
	fields []*querypb.Field
	run    func(ctx context.Context, s *Shuffler, a arguments) ([][]sqltypes.Value, error)
}

var procedures = map[string]procedure{
	"shuffle_pin":     {[]string{"name", "fingerprint"}, []*querypb.Field{textField("pinned")}, callPin},
	"shuffle_tokens":  {[]string{"name", "tokens", "stratum", "round"}, []*querypb.Field{textField("token"), numberField("round"), numberField("cell"), textField("stratum")}, callTokens},
	"shuffle_hashes":  {[]string{"name", "list"}, []*querypb.Field{numberField("added")}, callHashes},
	"shuffle_close":   {[]string{"name", "round", "stratum", "cell", "destroy", "go on"}, batchFields, onPlaces(callClose)},
	"shuffle_give_up": {[]string{"name", "round", "stratum", "cell"}, []*querypb.Field{numberField("given_up")}, onPlaces(counting((*Shuffler).GiveUp))},
	"shuffle_reopen":  {[]string{"name", "round", "stratum", "cell"}, []*querypb.Field{numberField("reopened")}, onPlaces(counting((*Shuffler).Reopen))},
}

// call understands CALL of a procedure.
func (h *handler) call(s *sqlparser.Call) (*answer, error) {
	name := s.ProcName.Name.Lowered()
	p, ok := procedures[name]
	if !ok {
		return nil, mysql.NewSQLError(mysql.ERSPDoesNotExist, mysql.SSClientError, "PROCEDURE %.64s does not exist", name)
	}
	if len(s.Params) != len(p.args) {
		return nil, refuse.New(refuse.CollectionParameter, "%s takes %d arguments.", name, len(p.args)).With("CALL %s(%s).", name, strings.Join(p.args, ", "))
	}
	if slices.ContainsFunc(s.Params, func(e sqlparser.Expr) bool { return !constant(e) }) {
		return nil, refuse.New(refuse.CollectionParameter, "The arguments of %s are constants.", name)
	}
	return &answer{fields: p.fields, run: func(ctx context.Context, v bindings) (*sqltypes.Result, error) {
		rows, err := p.run(ctx, h.shuffler, arguments{v, p.args, s.Params})
		return &sqltypes.Result{Rows: rows}, err
	}}, nil
}

// arguments are a call's.
type arguments struct {
	bindings
	names []string
	exprs []sqlparser.Expr
}

func (a arguments) text(i int) string { return string(a.value(a.exprs[i])) }

func (a arguments) whole(i, bits int) (n uint64, none bool, err error) {
	return a.number(a.names[i], a.exprs[i], bits)
}

func callPin(ctx context.Context, s *Shuffler, a arguments) ([][]sqltypes.Value, error) {
	name, fingerprint, err := ParsePin(a.text(0) + ":" + a.text(1))
	if err != nil {
		return nil, refuse.New(refuse.CollectionParameter, "%.20q is not a fingerprint.", a.text(1)).With("It has 64 digits of hex.")
	}
	p, err := s.Pin(ctx, name, fingerprint)
	if _, ok := refuse.As(err); err != nil && !ok {
		return nil, refuse.New(refuse.CollectionParameter, "The parameters could not be fetched: %v.", err).With("Nothing was pinned.")
	}
	if err != nil {
		return nil, err
	}
	return [][]sqltypes.Value{{textValue(Describe(p))}}, nil
}

func callTokens(_ context.Context, s *Shuffler, a arguments) ([][]sqltypes.Value, error) {
	n, _, err := a.whole(1, 32)
	if err != nil {
		return nil, err
	}
	round, _, err := a.whole(3, 8)
	if err != nil {
		return nil, err
	}
	list, err := s.Issue(a.text(0), n, a.text(2), int(round))
	if err != nil {
		return nil, err
	}
	return lists.Map(list, func(t Token) []sqltypes.Value {
		return []sqltypes.Value{textValue(hex.EncodeToString(t.Secret[:])), count(t.Round), count(t.Cell), textValue(t.Stratum)}
	}), nil
}

func callHashes(_ context.Context, s *Shuffler, a arguments) ([][]sqltypes.Value, error) {
	list, err := ParseHashes([]byte(a.text(1)))
	if err != nil {
		return nil, err
	}
	n, err := s.AddHashes(a.text(0), list)
	return [][]sqltypes.Value{{count(n)}}, err
}

// selection reads name, round, stratum and cell.
func (a arguments) selection() (w Selection, err error) {
	w.Collection = a.text(0)
	round, _, err := a.whole(1, 8)
	if err != nil {
		return w, err
	}
	w.Round = int(round)
	if b := a.value(a.exprs[2]); b != nil {
		stratum := string(b)
		w.Stratum = &stratum
	}
	cell, none, err := a.whole(3, 32)
	if !none && err == nil {
		c := uint32(cell)
		w.Cell = &c
	}
	return w, err
}

// onPlaces is a procedure on the places that its first arguments choose.
func onPlaces(f func(ctx context.Context, s *Shuffler, w Selection, a arguments) ([][]sqltypes.Value, error)) func(context.Context, *Shuffler, arguments) ([][]sqltypes.Value, error) {
	return func(ctx context.Context, s *Shuffler, a arguments) ([][]sqltypes.Value, error) {
		w, err := a.selection()
		if err != nil {
			return nil, err
		}
		return f(ctx, s, w, a)
	}
}

// counting answers with the number that f returns.
func counting(f func(s *Shuffler, w Selection) (int, error)) func(context.Context, *Shuffler, Selection, arguments) ([][]sqltypes.Value, error) {
	return func(_ context.Context, s *Shuffler, w Selection, _ arguments) ([][]sqltypes.Value, error) {
		n, err := f(s, w)
		return [][]sqltypes.Value{{count(n)}}, err
	}
}

func callClose(ctx context.Context, s *Shuffler, w Selection, a arguments) ([][]sqltypes.Value, error) {
	list, err := s.CloseBatches(ctx, w, a.text(4) == "1", a.text(5) == "1")
	return batchRows(list), err
}

// ParseHashes reads an independent issuer's list: a line has the SHA-256 of a token in hex, its
// round, its cell and, where there is one, its stratum, between tabs. A line that begins with a
// column's name is skipped.
func ParseHashes(text []byte) (list []Hash, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimRight(lines.Text(), "\r\t ")
		if line == "" || n == 1 && strings.HasPrefix(strings.ToLower(line), "sha") {
			continue
		}
		f := append(strings.Split(line, "\t"), "")
		bad := refuse.New(refuse.CollectionParameter, "Line %d is not a token's hash.", n).With("Write the SHA-256 of the token's 16 bytes in hex, round, cell and stratum, with tabs between.")
		if len(f) < 4 {
			return nil, bad
		}
		h := Hash{Stratum: f[3]}
		digest, err := hex.DecodeString(f[0])
		round, badRound := strconv.ParseUint(f[1], 10, 8)
		cell, badCell := strconv.ParseUint(f[2], 10, 32)
		if err != nil || len(digest) != len(h.SHA256) || badRound != nil || badCell != nil || round == 0 {
			return nil, bad
		}
		h.SHA256, h.Round, h.Cell = [32]byte(digest), int(round), uint32(cell)
		list = append(list, h)
	}
	return list, lines.Err()
}

// Status is what the operator sees of a batch.
type Status struct {
	Collection  string `json:"collection"`
	Round       int    `json:"round"`
	Stratum     string `json:"stratum,omitempty"`
	Cell        uint32 `json:"cell"`
	Batch       uint32 `json:"batch"`
	State       State  `json:"state"`
	Reports     uint64 `json:"reports"`
	Tokens      uint64 `json:"tokens"` // issued for the place
	Min         uint64 `json:"n_min"`
	Max         uint64 `json:"n_max"`
	Sent        int    `json:"parts_sent"`
	Parts       int    `json:"parts"`
	Ended       bool   `json:"ended"` // no further bundles are taken at the place
	Note        string `json:"note,omitempty"`
	Fingerprint string `json:"fingerprint"`
}

func (t *slot) status(number uint32, r Record, tokens uint64) Status {
	p := t.pin.params
	s := Status{
		Collection: p.Collection, Round: p.Round, Stratum: p.Stratum, Cell: t.place.cell, Batch: number, State: r.State, Reports: r.Reports,
		Tokens: tokens, Min: p.Batch.Min, Max: p.Batch.Max, Ended: t.over.Load(), Note: r.Note, Fingerprint: hex.EncodeToString(t.pin.shape.Fingerprint[:]),
	}
	if r.Part > 0 {
		s.Parts = r.parts()
	}
	if r.State == Acknowledged {
		s.Sent = s.Parts
	}
	return s
}

// Status lists all batches: of every place those that were closed, and the open one unless the
// place has ended.
func (s *Shuffler) Status() ([]Status, error) {
	var out []Status
	s.mu.RLock()
	defer s.mu.RUnlock()
	err := s.db.View(func(tx *bolt.Tx) error {
		issued := tx.Bucket(bucketIssued)
		last := map[place]uint32{}
		err := tx.Bucket(bucketBatches).ForEach(func(k, v []byte) error {
			t, number := s.slots[placeOf(k)], numberAt(k)
			var r Record
			if err := unmarshal(v, &r); err != nil || t == nil {
				return err
			}
			last[t.place] = max(last[t.place], number)
			row := t.status(number, r, uint64At(issued.Get(t.place.key())))
			if n, ok := s.sent[t.place.file(number)]; ok {
				row.Sent = n
			}
			if !r.State.over() {
				row.Note = s.trouble[t.place.file(number)]
			}
			out = append(out, row)
			return nil
		})
		for p, t := range s.slots {
			if n := t.reports.Load(); n > 0 || !t.over.Load() || last[p] == 0 {
				out = append(out, t.status(last[p]+1, Record{State: Open, Reports: n}, uint64At(issued.Get(p.key()))))
			}
		}
		return err
	})
	slices.SortStableFunc(out, func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.Round, b.Round), cmp.Compare(a.Stratum, b.Stratum),
			cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Batch, b.Batch))
	})
	return out, err
}

// pinned lists the pins in the order of their places.
func (s *Shuffler) pinned() []*pin {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.pins), func(a, b *pin) int { return bytes.Compare(a.place.key(), b.place.key()) })
}
