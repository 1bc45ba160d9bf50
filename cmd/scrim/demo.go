package main

import (
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"scrim/engine"
	"scrim/engine/demo"
)

// demoCommand shows the product on public data.
func demoCommand(s streams) *cobra.Command {
	o := demo.Options{Config: engine.DefaultConfig(""), Out: s.out}
	o.Config.Logger = zerolog.New(s.err).Level(zerolog.WarnLevel)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Load public data, protect them, and take a tour over the wire",
		Long: `Demo loads two small public data sets that are part of the program, protects them, starts a server on
loopback, asks as an analyst would, shows each private answer beside the true one, prints how to
connect, with a client or a browser, and serves until Ctrl-C. The data directory is temporary unless --data names a new one.`,
		Example: `  scrim demo
  scrim demo --exit --listen 127.0.0.1:0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := demo.Run(cmd.Context(), o)
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Exit, "exit", false, "end after the tour")
	f.StringVar(&o.Config.Listen, "listen", o.Config.Listen, "TCP address to listen on")
	f.StringVar(&o.Config.HTTP, "http", "127.0.0.1:0", "TCP address of the console and the dashboard, port 0 for a free one; empty for none")
	f.StringVar(&o.Config.DataDir, "data", "", "new directory for the data (default: a temporary one)")
	return cmd
}
