package intake

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"scrim/engine/collect"
)

// Backend is where parameters come from and reports go to: a server or a shuffler.
type Backend interface {
	// Round returns the public parameters of a round of a stratum; round 0 is the latest one. The
	// error is a refusal where there are none.
	Round(name string, round int, stratum string) (*collect.Params, error)
	// Accept takes a report with its token, once. It returns when that is durable.
	Accept(ctx context.Context, name string, token, report []byte) error
}

// tokenSize is the length of a token.
const tokenSize = 16

// submission is the body of a POST.
type submission struct {
	Token  string `json:"token"`  // 32 digits of hex
	Report string `json:"report"` // standard base64 with padding
}

// handler answers requests.
type handler struct {
	o Options
	*rates
}

// newHandler answers requests, at most as many at a time as bounded lets pass.
func newHandler(o Options, bounded func(next http.Handler, full http.HandlerFunc) http.Handler) http.Handler {
	h := &handler{o, newRates()}
	mux := http.NewServeMux()
	if o.Page {
		servePage(mux)
	}
	mux.HandleFunc("GET /v1/collections/{name}/round", h.round)
	mux.HandleFunc("POST /v1/collections/{name}/reports", h.report)
	mux.HandleFunc("OPTIONS /v1/collections/{name}/{what}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { errNotFound.write(w) })
	return h.guarded(bounded(mux, func(w http.ResponseWriter, _ *http.Request) { errTooMany.write(w) }))
}

// guarded does what comes before every answer: headers, origins, and the rate of one address.
func (h *handler) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		header.Set("Referrer-Policy", "no-referrer")
		if h.o.Secure {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		h.allow(header, r.Header.Get("Origin"))
		if !h.admit(r.RemoteAddr) {
			errTooMany.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allow lets pages of the operator's origins read the answers. No cookie and no account takes part,
// so that credentials are never allowed.
func (h *handler) allow(header http.Header, origin string) {
	header.Set("Vary", "Origin")
	for _, o := range h.o.Origins {
		if o != "*" && o != origin {
			continue
		}
		header.Set("Access-Control-Allow-Origin", o)
		header.Set("Access-Control-Allow-Methods", "GET, POST")
		header.Set("Access-Control-Allow-Headers", "Content-Type")
		header.Set("Access-Control-Expose-Headers", "Scrim-Fingerprint, Scrim-Shuffler")
		header.Set("Access-Control-Max-Age", "600")
		return
	}
}

// round answers with the canonical parameters, byte for byte.
func (h *handler) round(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	round := 0
	if text := query.Get("round"); text != "" {
		n, err := strconv.ParseUint(text, 10, 8)
		if err != nil || n == 0 {
			errRequest.write(w)
			return
		}
		round = int(n)
	}
	p, err := h.o.Backend.Round(r.PathValue("name"), round, query.Get("stratum"))
	if err != nil {
		failure(err).write(w)
		return
	}
	print := p.Fingerprint()
	w.Header().Set("Scrim-Fingerprint", hex.EncodeToString(print[:]))
	if h.o.Shuffler != "" {
		w.Header().Set("Scrim-Shuffler", h.o.Shuffler)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(p.Canonical())
}

// report takes a report.
func (h *handler) report(w http.ResponseWriter, r *http.Request) {
	token, report, err := h.read(w, r)
	if err == nil {
		err = h.o.Backend.Accept(r.Context(), r.PathValue("name"), token, report)
	}
	if err != nil {
		failure(err).write(w)
		return
	}
	writeJSON(w, http.StatusOK, map[string]bool{"accepted": true})
}

// read reads the body of a POST.
func (h *handler) read(w http.ResponseWriter, r *http.Request) (token, report []byte, err error) {
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return nil, nil, errMedia
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, h.o.MaxBody()))
	d.DisallowUnknownFields()
	var s submission
	err = d.Decode(&s)
	if err == nil {
		err = ended(d)
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, nil, errTooLarge
	case err != nil:
		return nil, nil, errRequest
	}
	token, err = hex.DecodeString(s.Token)
	if err != nil || len(token) != tokenSize {
		return nil, nil, errRequest
	}
	if report, err = base64.StdEncoding.Strict().DecodeString(s.Report); err != nil || len(report) == 0 {
		return nil, nil, errRequest
	}
	return token, report, nil
}

// ended tells whether nothing follows.
func ended(d *json.Decoder) error {
	switch _, err := d.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errRequest
}
