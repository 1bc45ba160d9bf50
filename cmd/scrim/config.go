package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// configCommand checks, shows and explains what serve would run with.
func configCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check, show and explain the configuration of serve",
		Long: `The commands take the flags of serve and read the same environment and file. Each value comes from the first of
these that has it: the flag, the environment variable, the file of --config (or SCRIM_CONFIG), the default.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(configCheckCommand(s), configShowCommand(s), configExampleCommand(s))
	return cmd
}

func configCheckCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Tell every problem of the configuration, or that there is none",
		Example: "  scrim config check --config /etc/scrim/scrim.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l := load(cmd.Flags(), os.Environ())
			for _, note := range l.notes {
				fmt.Fprintln(s.err, "scrim:", note)
			}
			if err := l.err(); err != nil {
				return err
			}
			n := 0
			for _, source := range l.source {
				if source != "default" {
					n++
				}
			}
			fmt.Fprintf(s.out, "The configuration is good: %s set, the rest by default.\n", count(n, "value"))
			return nil
		},
	}
	registerSettings(cmd.Flags())
	return cmd
}

func configShowCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Print every value in effect and where it comes from; secrets are hidden",
		Example: "  scrim config show --config /etc/scrim/scrim.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l := load(cmd.Flags(), os.Environ())
			for _, x := range settings {
				line := x.name + " = " + x.shown(l.options)
				fmt.Fprintf(s.out, "%-44s # %s\n", line, l.source[x.name])
			}
			return l.err()
		},
	}
	registerSettings(cmd.Flags())
	return cmd
}

func configExampleCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "example",
		Short:   "Print a configuration file in which every setting is explained",
		Example: "  scrim config example > /etc/scrim/scrim.toml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.out.Write([]byte(exampleFile()))
			return err
		},
	}
}

// exampleFile is a configuration file of defaults. Only data is set.
func exampleFile() string {
	o := defaultOptions()
	o.DataDir = "/var/lib/scrim"
	var b strings.Builder
	b.WriteString("# Configuration of scrim serve, for --config. An environment variable (SCRIM_MAX_CONNECTIONS for max-connections)\n" +
		"# goes before this file, and a flag (--max-connections) before both. Paths are relative to the working directory.\n" +
		"# What is marked with (reload) changes on SIGHUP, the rest with the next start.\n")
	for _, x := range settings {
		if x.secret {
			continue // not for a file that many read
		}
		mark, off := "", "# "
		if x.reload {
			mark = " (reload)"
		}
		if x.name == "data" {
			off = ""
		}
		fmt.Fprintf(&b, "\n# %s%s\n%s%s = %s\n", x.doc, mark, off, x.name, x.shown(o))
	}
	return b.String()
}
