package main

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"scrim/engine"
)

// reloader reads the configuration again when the process is told to.
type reloader struct {
	mu      sync.Mutex
	srv     *engine.Server
	flags   *pflag.FlagSet
	current *loaded
	log     zerolog.Logger
}

func (r *reloader) run(ctx context.Context, hangups <-chan os.Signal) {
	for {
		select {
		case <-hangups:
			r.reload()
		case <-ctx.Done():
			return
		}
	}
}

// reload puts into effect what has changed and can, or nothing where anything is wrong.
func (r *reloader) reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := load(r.flags, os.Environ())
	if err := next.err(); err != nil {
		r.log.Error().Strs("problems", texts(next.problems)).Msg("the configuration is not reloaded: nothing has changed")
		return
	}
	now, later := r.changes(next)
	if err := r.srv.Reload(next.Config, strings.Join(now, ", ")); err != nil {
		r.log.Error().Err(err).Msg("the configuration is not reloaded: nothing has changed")
		return
	}
	zerolog.SetGlobalLevel(logLevels[next.LogLevel])
	for _, name := range later {
		s, _ := find(name)
		r.log.Warn().Str("setting", name).Str("now", s.shown(r.current.options)).Str("configured", s.shown(next.options)).
			Msg("the setting changes with the next start of the server only")
	}
	r.keep(next)
	// At any level: the one that has just been set may be higher.
	r.log.Log().Strs("changed", now).Msg("the configuration is reloaded")
}

// reopen opens the data directory of a server that is closed anew, at the same addresses and with
// what was reloaded.
func (r *reloader) reopen() (*engine.Server, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cfg := r.current.Config
	cfg.Listen = r.srv.Addr().String()
	if a := r.srv.HTTPAddr(); a != nil {
		cfg.HTTP = a.String()
	}
	if a := r.srv.ContributeAddr(); a != nil {
		cfg.ContributeListen = a.String()
	}
	srv, err := engine.Open(cfg)
	if err == nil {
		r.srv = srv
	} else {
		srv = r.srv
	}
	return srv, err
}

// changes lists the settings that are to take effect now, and those that need a restart.
func (r *reloader) changes(next *loaded) (now, later []string) {
	now, later = []string{}, []string{}
	for _, s := range settings {
		if s.text(r.current.options) == s.text(next.options) || s.field == "RootPassword" || s.field == "RootPasswordFile" {
			continue // the password of root is for the first start
		}
		switch tls := s.field == "TLSCert" || s.field == "TLSKey"; {
		case !s.reload, tls && (r.current.TLSCert == "") != (next.TLSCert == ""):
			later = append(later, s.name)
		default:
			now = append(now, s.name)
		}
	}
	return now, later
}

// keep makes next's reloadable values the current ones.
func (r *reloader) keep(next *loaded) {
	now, _ := r.changes(next)
	for _, s := range settings {
		if slices.Contains(now, s.name) {
			s.in(&r.current.options).Set(s.in(&next.options))
		}
	}
}

func texts(errs []error) []string {
	out := make([]string, len(errs))
	for i, err := range errs {
		out[i] = err.Error()
	}
	return out
}

// notify tells systemd about the process, where systemd has started it: sd_notify(3).
func notify(state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Write([]byte(state))
}
