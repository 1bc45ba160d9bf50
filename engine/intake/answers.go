package intake

import (
	"encoding/json"
	"errors"
	"net/http"

	"scrim/internal/refuse"
)

// Failure is an answer to a request that brought nothing: the error of the published specification.
type Failure struct {
	Status  int    `json:"-"`
	Code    string `json:"error"`
	Message string `json:"message"`
}

// Error implements error.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// The answers that come before a report is looked at.
var (
	errNotFound    = &Failure{http.StatusNotFound, "NOT_FOUND", "There is no such address here."}
	errRequest     = &Failure{http.StatusBadRequest, "BAD_REQUEST", "The request has not the form that the specification gives it."}
	errMedia       = &Failure{http.StatusUnsupportedMediaType, "BAD_REQUEST", "Send the report as application/json."}
	errTooLarge    = &Failure{http.StatusRequestEntityTooLarge, "BAD_REQUEST", "The request is longer than any report."}
	errTooMany     = &Failure{http.StatusTooManyRequests, "TOO_MANY_REQUESTS", "There were too many requests from this address. Send the same bytes again later."}
	errUnavailable = &Failure{http.StatusServiceUnavailable, "UNAVAILABLE", "Whether the report was taken is not known. Send the same bytes again later."}
)

// refusals are the fixed answers for what a Backend refuses: the words of the wire name cells and
// rounds, and here nothing is told that the contributor does not hold.
var refusals = map[refuse.Code]*Failure{
	refuse.UnknownToken:    {http.StatusForbidden, string(refuse.UnknownToken), "The token was not issued for this collection."},
	refuse.SpentToken:      {http.StatusConflict, string(refuse.SpentToken), "The token has brought another report already."},
	refuse.ClosedToken:     {http.StatusConflict, string(refuse.ClosedToken), "The token is of another cell, or of a round that is not open."},
	refuse.MalformedReport: {http.StatusBadRequest, string(refuse.MalformedReport), "The report was not made from the parameters of the round."},
	refuse.CollectionState: {http.StatusNotFound, string(refuse.CollectionState), "There is no such collection here, or it takes no reports and its parameters are not public."},
}

// failure returns what is answered where a Backend gave an error.
func failure(err error) *Failure {
	var own *Failure
	if errors.As(err, &own) {
		return own
	}
	if r, ok := refuse.As(err); ok && refusals[r.Code] != nil {
		return refusals[r.Code]
	}
	return errUnavailable
}

func (f *Failure) write(w http.ResponseWriter) {
	if f.Status == http.StatusTooManyRequests || f.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	writeJSON(w, f.Status, f)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("intake: " + err.Error()) // structs of texts and booleans
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}
