package admin

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/internal/refuse"
)

// changeColumns are the columns of what dp_alter_budget returns.
var changeColumns = []column{text("part"), text("before"), text("after")}

// alterBudget changes parts of a budget: target, principal, a JSON object and perhaps why.
func (a *Admin) alterBudget(ctx *sql.Context, args []string) ([]sql.Row, error) {
	h, err := a.holder(ctx, args[0], args[1])
	if err != nil {
		return nil, err
	}
	change, err := parts(args[2])
	if err != nil {
		return nil, err
	}
	a.altering.Lock()
	defer a.altering.Unlock()
	before := find(a.o.Ledger.Budgets(), h.Account, h.Entity, h.Principal)
	if before == nil {
		return nil, refuse.New(refuse.Policy, "There is no budget of %q on %s.", cut(h.Principal), cut(h.Account)).
			With("CALL dp_set_budget(target, principal, epsilon | 'rho=R', delta, window) makes one.")
	}
	after, err := altered(*before, change)
	if err != nil {
		return nil, err
	}
	if err := a.put(ctx, after, optional(args, 3)); err != nil {
		return nil, err
	}
	return differences(*before, after), nil
}

// budgetParts are the keys of the JSON object.
const budgetParts = `of "epsilon", "rho", "delta", "window" and "account"`

// accountPart is the key of the kind of account.
const accountPart = "account"

// gaussian reads whether the kind of account is the Gaussian one.
func gaussian(value any) (bool, error) {
	switch value {
	case budget.GaussianAccount:
		return true, nil
	case budget.ZCDPAccount:
		return false, nil
	}
	return false, badPart(accountPart)
}

// parts reads the JSON object of what to change.
func parts(text string) (map[string]any, error) {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m); err != nil || d.More() || len(m) == 0 {
		return nil, refuse.New(refuse.Policy, "%q is no JSON object of parts of a budget.", cut(text)).
			With(`Write for example '{"epsilon": 2}', with some %s.`, budgetParts)
	}
	return m, nil
}

// altered returns a budget with some of its parts changed. A limit of one kind takes the place of
// that of the other.
func altered(b budget.Budget, change map[string]any) (budget.Budget, error) {
	if _, both := change["epsilon"]; both && change["rho"] != nil {
		return b, refuse.New(refuse.Policy, "A budget is stated in epsilon or in rho.").With("Name one of the two.")
	}
	for _, key := range slices.Sorted(maps.Keys(change)) {
		value := change[key]
		n, isNumber := value.(json.Number)
		w, isText := value.(string)
		switch {
		case key == "window" && isText:
			b.Window = window(w)
			continue
		case key == accountPart:
			var err error
			if b.Gaussian, err = gaussian(value); err != nil {
				return b, err
			}
			continue
		case key == "window" || !isNumber:
			return b, badPart(key)
		}
		f, err := number(key, n.String())
		if err != nil {
			return b, err
		}
		switch key {
		case "epsilon":
			b.Epsilon, b.Rho = privacy.Epsilon(f), 0
		case "rho":
			if b.Rho, err = rho(f); err != nil {
				return b, err
			}
			b.Epsilon = 0
		case "delta":
			b.Delta = privacy.Delta(f)
		default:
			return b, badPart(key)
		}
	}
	return b, nil
}

func badPart(key string) error {
	return refuse.New(refuse.Policy, "%q is no part of a budget, or has no such value.", cut(key)).
		With(`Name some %s; the window is 'never', 'day', 'week' or 'month', the account 'gaussian' or 'zcdp', and the others are numbers.`, budgetParts)
}

// differences lists what is not as it was.
func differences(before, after budget.Budget) []sql.Row {
	var rows []sql.Row
	b, a := budgetTexts(before), budgetTexts(after)
	for i, part := range []string{"epsilon", "rho", "delta", "window", accountPart} {
		if b[i] != a[i] {
			rows = append(rows, sql.Row{part, b[i], a[i]})
		}
	}
	return rows
}

// budgetTexts shows the parts of a budget, nil what it has not.
func budgetTexts(b budget.Budget) [5]any {
	t := [5]any{nil, nil, shortest(float64(b.Delta)), string(b.Window), b.Kind()}
	if b.Rho > 0 {
		t[1] = shortest(b.Rho.Float())
	} else {
		t[0] = shortest(float64(b.Epsilon))
	}
	return t
}
