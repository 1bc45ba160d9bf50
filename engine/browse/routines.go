package browse

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/session"
)

// routineDatabase is where the server's procedures are said to be. They are called by their name
// alone, too.
const routineDatabase = session.DPDatabase

// routineType is what all of them are: functions are part of the server, and not listed by MySQL
// either.
const routineType = "PROCEDURE"

func (s *Server) routines(*sql.Context) ([]sql.Row, error) {
	var list []sql.Row
	for _, r := range s.Routines {
		list = append(list, sql.Row{r.Name, defCatalog, routineDatabase, r.Name, routineType, "", nil, nil, nil, nil, nil, nil, nil, nil,
			"SQL", nil, nil, "SQL", "SQL", "NO", "MODIFIES SQL DATA", nil, "INVOKER", nil, nil, "", r.Doc, "root@%", charset(), collation(), collation()})
	}
	return list, nil
}

// parameters lists the parameters of the procedures, all of which are texts.
func (s *Server) parameters(*sql.Context) ([]sql.Row, error) {
	var list []sql.Row
	for _, r := range s.Routines {
		for i, p := range parametersOf(r.Signature) {
			list = append(list, sql.Row{defCatalog, routineDatabase, r.Name, uint64(i + 1), "IN", p, "text", nil, nil, nil, nil, nil, charset(), collation(), "text", routineType})
		}
	}
	return list, nil
}

// parametersOf reads the names of parameters in a signature such as
//
//	dp_set_budget(table | 'entity:NAME', principal, epsilon | 'rho=R', delta, window [, reason])
func parametersOf(signature string) []string {
	_, inside, ok := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	if !ok {
		return nil
	}
	var names []string
	for _, p := range strings.Split(inside, ",") {
		p, _, _ = strings.Cut(p, "|")
		if p = strings.Trim(p, " []"); p != "" {
			names = append(names, p)
		}
	}
	return names
}

// routine finds a procedure by its name.
func (s *Server) routine(name string) (Routine, bool) {
	for _, r := range s.Routines {
		if strings.EqualFold(r.Name, name) {
			return r, true
		}
	}
	return Routine{}, false
}
