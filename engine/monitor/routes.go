package monitor

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// handler is all that is served over HTTP.
func (m *Monitor) handler(secure bool) http.Handler {
	mux, pages := http.NewServeMux(), http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { plainText(rw, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) {
		if err := m.Health.Check(); err != nil {
			plainText(rw, http.StatusServiceUnavailable, err.Error())
			return
		}
		if m.sources.Warnings.Degraded() {
			plainText(rw, http.StatusOK, "ready, but for an attached table that cannot be read")
			return
		}
		plainText(rw, http.StatusOK, "ready")
	})
	pages.Handle("GET /metrics", m.guarded(m.Metrics.Handler()))
	pages.Handle("/console", m.console)
	pages.Handle("/console/", m.console)
	pages.Handle("/", m.dashboard)
	mux.Handle("/", m.http.Bounded(pages, func(rw http.ResponseWriter, _ *http.Request) {
		plainText(rw, http.StatusServiceUnavailable, "too many requests are being answered; ask again later")
	}))
	if secure {
		return mux
	}
	return ownHost(mux)
}

func plainText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

// guarded asks for a DBA's or an auditor's name and password where the address is not a loopback
// one; on a loopback address who can ask is on the machine.
func (m *Monitor) guarded(next http.Handler) http.Handler {
	if host, _, _ := net.SplitHostPort(m.sources.Address); Loopback(host) {
		return next
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := m.dashboard.Basic(r); err != nil {
			rw.Header().Set("WWW-Authenticate", `Basic realm="scrim", charset="UTF-8"`)
			plainText(rw, http.StatusUnauthorized, fmt.Sprint(err))
			return
		}
		next.ServeHTTP(rw, r)
	})
}

// ownHost refuses requests for other names than this machine's own: a page of another site could
// make its name lead here and read what is served without a log-in.
func ownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !Loopback(strings.Trim(host, "[]")) {
			plainText(w, http.StatusMisdirectedRequest, "served at a loopback address only")
			return
		}
		next.ServeHTTP(w, r)
	})
}
