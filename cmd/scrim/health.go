package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// healthCommand asks a server on this machine whether it answers clients.
func healthCommand(s streams) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the server on this machine whether it is ready",
		Long: `Health asks /readyz at the address that serve was given with --http, and ends with exit code 0 where the server is ready.
It reads the configuration that serve reads. It is for health checks of containers, where nothing else can ask.`,
		Example: "  scrim health --http 127.0.0.1:8307",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l := load(cmd.Flags(), os.Environ())
			if l.HTTP == "" {
				return errors.New("there is no address to ask: want --http, SCRIM_HTTP, or http in the configuration file")
			}
			scheme := "http"
			if l.TLSCert != "" {
				scheme = "https"
			}
			if err := ready(cmd.Context(), scheme+"://"+l.HTTP+"/readyz", timeout); err != nil {
				return err
			}
			fmt.Fprintln(s.out, "ready")
			return nil
		},
	}
	registerSettings(cmd.Flags())
	cmd.Flags().DurationVar(&timeout, "timeout", 4*time.Second, "how long the answer may take")
	return cmd
}

// ready asks url. The certificate is not looked at: nothing is told, and its name is not that of
// the loopback address.
func ready(ctx context.Context, url string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}
