package lower

import (
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"scrim/internal/refuse"
)

// The years whose changes of the clock are known to a conversion between zones: MySQL's TIMESTAMP.
const firstZoneYear, lastZoneYear = 1970, 2038

// What is outside of these moments, in UTC, is not converted, as in MySQL from 8.0.28.
const firstZoned, lastZoned = "TIMESTAMP '1970-01-01 00:00:01'", "TIMESTAMP '3001-01-18 23:59:59.999999'"

// convertTz is CONVERT_TZ(d, from, to) between constant zones: offsets such as '+02:00', SYSTEM,
// UTC, or names of the IANA data base. The changes of the clock are written out, so that no row can
// name a zone that the store does not know.
func convertTz(l *lowerer, c *call) (Expr, error) {
	from, ok1 := c.constantText(1)
	to, ok2 := c.constantText(2)
	if !ok1 || !ok2 {
		return Expr{}, c.needConstant("time zone")
	}
	a, err := zone(from)
	if err != nil {
		return maybe(Datetime, "CAST(NULL AS TIMESTAMP)"), nil // as MySQL: an unknown zone
	}
	b, err := zone(to)
	if err != nil {
		return maybe(Datetime, "CAST(NULL AS TIMESTAMP)"), nil
	}
	d := l.toDatetime(c.args[0])
	s := l.let(d.SQL, func(r string) string {
		return l.let("("+r+" - to_seconds("+offsets(r, a, true)+"))", func(utc string) string {
			return "(CASE WHEN " + utc + " BETWEEN " + firstZoned + " AND " + lastZoned + " THEN " + utc + " + to_seconds(" + offsets(utc, b, false) + ") ELSE " + r + " END)"
		})
	})
	if len(s) > maxSQL {
		return Expr{}, refuse.New(refuse.Expression, "CONVERT_TZ() between these zones is too large.")
	}
	return maybe(Datetime, s), nil
}

// clockOf converts a moment from UTC to the clock of the session's time_zone, or back; in UTC it is
// itself. The zone is written out in the statement, so that answers in one zone are not those of
// another.
func (l *lowerer) clockOf(d Expr, back bool) (Expr, error) {
	name, err := function.SessionTimeZone(l.ctx)
	if err != nil {
		return d, err
	}
	at, err := zone(name)
	if err != nil {
		return d, nil // as go-mysql-server
	}
	sign := "+"
	if back {
		sign = "-"
	}
	s := l.let(d.SQL, func(r string) string {
		ahead := offsets(r, at, back)
		if ahead == "0" {
			return r
		}
		return "(" + r + " " + sign + " to_seconds(" + ahead + "))"
	})
	if len(s) > maxSQL {
		return d, refuse.New(refuse.Expression, "The clock of the time zone %s changes too often; SET time_zone to an offset such as '+02:00'.", name)
	}
	return maybe(Datetime, s), nil
}

// SessionZone is the name of the session's time_zone.
func SessionZone(ctx *sql.Context) (string, bool) {
	name, err := function.SessionTimeZone(ctx)
	return name, err == nil
}

// ZoneStep is the longest time, in seconds, that divides a day, and by whole multiples of which a
// zone's clock is ahead of UTC and changes: within such a stretch, counted from 1970, the clock
// goes on evenly.
func ZoneStep(name string) (int64, bool) {
	at, err := zone(name)
	if err != nil {
		return 0, false
	}
	step := int64(86400)
	with := func(x int64) {
		for x != 0 {
			step, x = x, step%x
		}
		if step < 0 {
			step = -step
		}
	}
	t := time.Date(firstZoneYear, 1, 1, 0, 0, 0, 0, time.UTC).In(at)
	for {
		_, offset := t.Zone()
		with(int64(offset))
		_, end := t.ZoneBounds()
		if end.IsZero() || end.UTC().Year() > lastZoneYear {
			return step, true
		}
		with(end.Unix())
		t = end
	}
}

// zone reads the name of a zone as MySQL writes it.
func zone(name string) (*time.Location, error) {
	if name == "SYSTEM" {
		name = sql.SystemTimezoneOffset()
	}
	if len(name) > 1 && (name[0] == '+' || name[0] == '-') {
		var h, m int
		if n, err := fmt.Sscanf(name[1:], "%d:%d", &h, &m); err != nil || n != 2 || h > 14 || m > 59 {
			return nil, fmt.Errorf("lower: %q is no offset", name)
		}
		seconds := h*3600 + m*60
		if name[0] == '-' {
			seconds = -seconds
		}
		return time.FixedZone(name, seconds), nil
	}
	if name == "" || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("lower: %q is no zone", name)
	}
	return time.LoadLocation(name)
}

// offsets is SQL for the seconds that a zone's clock is ahead of UTC at moment r: a moment in UTC,
// or of the zone's own clock. An hour that the clock shows twice is taken as the later one.
func offsets(r string, at *time.Location, local bool) string {
	t := time.Date(firstZoneYear, 1, 1, 0, 0, 0, 0, time.UTC).In(at)
	_, offset := t.Zone()
	var b strings.Builder
	changes := 0
	for {
		_, end := t.ZoneBounds()
		if end.IsZero() || end.UTC().Year() > lastZoneYear {
			break
		}
		moment := end.UTC()
		t = end
		_, next := t.Zone()
		if local {
			moment = moment.Add(time.Duration(next) * time.Second)
		}
		fmt.Fprintf(&b, " WHEN %s < TIMESTAMP '%s' THEN %d", r, moment.Format("2006-01-02 15:04:05"), offset)
		offset, changes = next, changes+1
	}
	if changes == 0 {
		return fmt.Sprint(offset)
	}
	return fmt.Sprintf("(CASE%s ELSE %d END)", b.String(), offset)
}
