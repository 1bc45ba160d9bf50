package tables

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// textLimit is how many characters a text column may have from an alteration on.
type textLimit struct {
	column string // as it is named before
	length int64
}

// longestText is the length from which on texts are not measured: it is that of TEXT.
const longestText = 65535 / 4

// limitOf is the greatest length that a type gives a text; ok is false for other types.
func limitOf(t sql.Type) (n int64, ok bool) {
	text, isText := t.(sql.StringType)
	if !isText || !types.IsTextOnly(t) {
		return 0, false
	}
	n = text.MaxCharacterLength()
	return n, n < longestText
}

// checkLimits refuses an alteration where a stored text is longer than it will be allowed to be.
func (d *definition) checkLimits(ctx *sql.Context, s store.Session) error {
	for _, l := range d.limits {
		longer := false
		rows, err := s.Query(ctx, fmt.Sprintf("SELECT 1 FROM %s WHERE length(%s) > %d LIMIT 1", quote(d.ref), sqltext.StoreName(l.column), l.length))
		if err == nil {
			err = store.Each(rows, func([]any) error { longer = true; return nil })
		}
		switch {
		case err != nil:
			return classify(err, &d.ref)
		case longer:
			return types.ErrLengthBeyondLimit.New("", l.column)
		}
	}
	return nil
}
