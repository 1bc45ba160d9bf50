package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"scrim/engine"
)

const environmentPrefix = "SCRIM_"

// configVariable names the environment variable that stands for --config.
const configVariable = environmentPrefix + "CONFIG"

// flagValue is a flag as it was typed: what is wrong with it is told with all other problems.
type flagValue struct{ text, kind string }

func (v *flagValue) String() string     { return v.text }
func (v *flagValue) Set(s string) error { v.text = s; return nil }
func (v *flagValue) Type() string       { return v.kind }

// registerSettings makes a flag of every setting, and --config.
func registerSettings(f *pflag.FlagSet) {
	o := defaultOptions()
	for _, s := range settings {
		if s.noFlag {
			continue
		}
		initial := s.text(o)
		if (initial == "0" || initial == "false") && s.field != "AuditDays" {
			initial = "" // help does not show it
		}
		flag := f.VarPF(&flagValue{initial, s.kind()}, s.name, "", s.doc)
		if s.kind() == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
	f.String("config", "", "TOML file of settings; flags go before the environment, and that before the file")
}

// layer is where settings come from. Later layers go before earlier ones.
type layer struct {
	values *koanf.Koanf
	source func(setting) string
}

// loaded is a configuration with the source of each value.
type loaded struct {
	options
	source   map[string]string // by the setting's name; "default" where nobody said anything
	notes    []string          // what is odd, but no problem
	problems []error
}

// load reads the file, the environment and the flags. Problems are in the result, all of them.
func load(f *pflag.FlagSet, environ []string) *loaded {
	l := &loaded{options: defaultOptions(), source: map[string]string{}}
	layers := []layer{l.file(configPath(f, environ)), l.environment(environ), l.flags(f)}
	for _, s := range settings {
		l.source[s.name] = "default"
		for _, layer := range layers {
			if layer.values != nil && layer.values.Exists(s.name) {
				l.take(s, layer)
			}
		}
	}
	l.readPassword()
	l.validate()
	return l
}

// configPath is --config, or else what the environment says.
func configPath(f *pflag.FlagSet, environ []string) string {
	if path, _ := f.GetString("config"); path != "" {
		return path
	}
	for _, e := range environ {
		if path, ok := strings.CutPrefix(e, configVariable+"="); ok {
			return path
		}
	}
	return ""
}

func (l *loaded) bad(format string, args ...any) {
	l.problems = append(l.problems, fmt.Errorf(format, args...))
}

// file is the configuration file; keys that no setting has are problems.
func (l *loaded) file(path string) layer {
	out := layer{source: func(setting) string { return "file " + path }}
	if path == "" {
		return out
	}
	k := koanf.New("\x00") // names have no parts
	if err := k.Load(file.Provider(path), toml.Parser()); err != nil {
		l.bad("configuration file %s: %w", path, err)
		return out
	}
	out.values = k
	for _, key := range k.Keys() {
		name, _, _ := strings.Cut(key, "\x00")
		if _, ok := find(name); !ok {
			l.bad("configuration file %s: there is no setting %q%s", path, name, like(name))
		}
	}
	return out
}

// environment is every SCRIM_ variable that a setting has. Others are noted only: a container's
// host may put some there.
func (l *loaded) environment(environ []string) layer {
	k := koanf.New("\x00")
	names := map[string]string{}
	for _, s := range settings {
		names[s.variable()] = s.name
	}
	err := k.Load(env.Provider("\x00", env.Opt{
		Prefix:      environmentPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(variable, value string) (string, any) {
			if names[variable] == "" && variable != configVariable && variable != clientPassword {
				l.notes = append(l.notes, fmt.Sprintf("the environment variable %s is no setting and is ignored", variable))
			}
			return names[variable], value
		},
	}), nil)
	if err != nil {
		l.bad("environment: %w", err)
	}
	slices.Sort(l.notes)
	return layer{k, func(s setting) string { return "environment " + s.variable() }}
}

// flags are those of the command line that were given.
func (l *loaded) flags(f *pflag.FlagSet) layer {
	k := koanf.New("\x00")
	given := posflag.ProviderWithFlag(f, "\x00", nil, func(flag *pflag.Flag) (string, any) {
		if _, ok := find(flag.Name); !ok {
			return "", nil
		}
		return flag.Name, flag.Value.String()
	})
	if err := k.Load(given, nil); err != nil {
		l.bad("flags: %w", err)
	}
	return layer{k, func(s setting) string { return "flag --" + s.name }}
}

// take parses a layer's value.
func (l *loaded) take(s setting, from layer) {
	l.source[s.name] = from.source(s)
	switch v := from.values.Get(s.name).(type) {
	case string, bool, int64, int, float64:
		if err := s.set(&l.options, fmt.Sprint(v)); err != nil {
			l.bad("%s = %q (%s): %w", s.name, fmt.Sprint(v), l.source[s.name], err)
		} else if d := defaultOptions(); s.in(&l.options).IsZero() && !s.in(&d).IsZero() && s.field != "AuditDays" {
			// A zero stands for the default in engine.Config.
			l.bad("%s = %q (%s): want something; the default is %s", s.name, fmt.Sprint(v), l.source[s.name], s.text(d))
		}
	default:
		l.bad("%s (%s): want one value", s.name, l.source[s.name])
	}
}

// readPassword takes the password of root from its file.
func (l *loaded) readPassword() {
	if l.RootPasswordFile == "" {
		return
	}
	b, err := os.ReadFile(l.RootPasswordFile)
	switch text := strings.TrimRight(string(b), "\r\n"); {
	case err != nil:
		l.bad("root-password-file (%s): %w", l.source["root-password-file"], err)
	case text == "" || strings.ContainsAny(text, "\r\n"):
		l.bad("root-password-file (%s): want one line, the password", l.source["root-password-file"])
	case l.RootPassword != "":
		l.bad("root-password (%s) and root-password-file (%s) exclude each other", l.source["root-password"], l.source["root-password-file"])
	default:
		l.RootPassword = text
	}
}

// validate adds what is wrong with the values, each with its source.
func (l *loaded) validate() {
	if _, ok := logLevels[l.LogLevel]; !ok {
		l.bad("log level %q: want debug, info, warn or error (%s)", l.LogLevel, l.source["log-level"])
	}
	if l.LogFormat != "json" && l.LogFormat != "text" {
		l.bad("log format %q: want json or text (%s)", l.LogFormat, l.source["log-format"])
	}
	err := l.Config.Validate()
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			l.attribute(err)
		}
	}
}

// attribute adds a problem of the server's configuration under the setting's name.
func (l *loaded) attribute(err error) {
	var p *engine.Problem
	if !errors.As(err, &p) {
		l.problems = append(l.problems, err)
		return
	}
	s, ok := ofField(p.Field)
	if source := l.source[s.name]; ok && source != "default" {
		l.bad("%s (%s)", p.Text, source)
		return
	}
	l.bad("%s: set --%s, %s, or %s in the configuration file", p.Text, s.name, s.variable(), s.name)
}

// err joins the problems; nil when there is none.
func (l *loaded) err() error {
	if len(l.problems) == 0 {
		return nil
	}
	return fmt.Errorf("the configuration has %s:\n%w", count(len(l.problems), "problem"), errors.Join(l.problems...))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// like suggests the setting that a name was probably meant to be.
func like(name string) string {
	plain := func(s string) string { return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s)) }
	for _, s := range settings {
		if p := plain(name); plain(s.name) == p || plain(s.field) == p {
			return fmt.Sprintf("; did you mean %q?", s.name)
		}
	}
	return ""
}
