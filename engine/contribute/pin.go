package contribute

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"regexp"

	"scrim/internal/refuse"
)

// Pin is a shuffler's word that it waits for bundles of a fingerprint. AskPin gets one; the zero
// value is of no use.
type Pin struct{ fingerprint Hash }

// AskPin asks a shuffler whether it has pinned the parameters. It comes before a bundle is made:
// parameters that no shuffler has pinned may be those of one person only, and must cost nothing and
// bind nothing. No token and no value takes part.
func AskPin(ctx context.Context, shuffler Queryer, p *Params) (Pin, error) {
	if _, err := pinned(ctx, shuffler, p.Collection, p.Fingerprint()); err != nil {
		return Pin{}, err
	}
	return Pin{p.Fingerprint()}, nil
}

// fits refuses parameters of which no shuffler has said that it has pinned them.
func (n Pin) fits(p *Params) error {
	if n.fingerprint == p.Fingerprint() {
		return nil
	}
	return refuse.New(refuse.MalformedReport, "No shuffler has said that it has pinned the parameters of %.130q (fingerprint %x).", p.Collection, p.Fingerprint()).
		With("Nothing was made. Ask the shuffler with AskPin first, with these parameters.")
}

// identity is what shufflers are told apart by: 16 random bytes in hex.
var identity = regexp.MustCompile(`^[0-9a-f]{32}$`)

// pinned asks whether the other side is a shuffler that waits for bundles of a fingerprint, and
// which one.
func pinned(ctx context.Context, db Queryer, collection string, fingerprint Hash) (id string, err error) {
	err = persist(ctx, func(ctx context.Context) error {
		rows, err := db.QueryContext(ctx, "SELECT fingerprint, shuffler FROM pins WHERE fingerprint = ?", fingerprint[:])
		if err != nil {
			return err
		}
		defer rows.Close()
		var print, name sql.RawBytes
		if rows.Next() {
			if err := rows.Scan(&print, &name); err != nil {
				return err
			}
			if id = string(name); bytes.Equal(print, fingerprint[:]) && identity.MatchString(id) {
				return nil
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return refuse.New(refuse.MalformedReport, "The shuffler has not pinned the parameters of %.130q (fingerprint %v).", collection, fingerprint).
			With("Nothing was sent. Try again once the shuffler's operator has pinned them; if it pinned others, the server shows you other parameters than the shuffler.")
	})
	if err != nil {
		return "", fmt.Errorf("contribute: ask the shuffler which parameters it has pinned; nothing was sent: %w", err)
	}
	return id, nil
}
