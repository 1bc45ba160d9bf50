package views

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
	"scrim/planner/plan"
	"scrim/planner/settings"
)

const daily = "For example SELECT DATE(placed) AS day, COUNT(*) AS n, SUM(amount) AS s FROM shop.orders GROUP BY 1."

// defineSeries plans the definition of a series, whose days are those of the options, by a scan of
// rows of days and persons.
func (v *Views) defineSeries(ctx *sql.Context, query string, o SeriesOptions) (*definition, error) {
	as := settings.Series{PerPerson: o.PerPerson, Clip: o.Clip}
	for t := range o.Days {
		as.Days = append(as.Days, o.date(t))
	}
	d, err := v.planned(ctx, query, o.Loss, settings.View{Series: &as})
	if err != nil {
		return nil, err
	}
	if sc := d.scan(); len(d.node.Release.Scans) != 1 || !sc.Units || sc.Kept || sc.Held {
		return nil, fmt.Errorf("views: the plan of a series has no scan of persons")
	}
	return d, nil
}

// scan is that of a series: the number of the day, the person, and numbers of rows or of persons.
func (d *definition) scan() plan.Scan { return d.node.Release.Scans[0] }

// whom tells whom a series counts and is charged for.
func (d *definition) whom() string {
	r := d.node.Release
	return strings.Join(slices.Concat([]string{r.Relation.String()}, r.Belongs, r.Tables, r.Entities), "; ")
}

// goesOn refuses a definition that does not count as what was charged did: other persons, or
// numbers of other steps or bounds. The loss is that of the charge, whatever the definition would
// cost now.
func (r *Series) goesOn(d *definition) error {
	was, is := r.Params, d.series.Params()
	is.Rho = was.Rho
	if r.Whom == d.whom() && reflect.DeepEqual(was, is) {
		return nil
	}
	return refuse.New(refuse.View, "The definition of the series %s does not mean what it did when it was charged: whom a row belongs to, the type or the range of a number have changed since.", r.Ref()).
		With("Change that back; or make another series, for another charge.")
}
