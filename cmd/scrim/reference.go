package main

import (
	"os"

	"github.com/spf13/cobra"

	"scrim/engine/reference"
)

// referenceCommand keeps docs/reference.md true.
func referenceCommand(_ streams) *cobra.Command {
	return &cobra.Command{
		Use:   "reference FILE",
		Short: "Write the reference of functions, procedures, variables and errors into a document",
		Long: `Reference replaces what stands between the lines <!-- reference:begin --> and <!-- reference:end --> of a
Markdown document by the tables of this program's functions, procedures, variables and errors.`,
		Example: `  scrim reference docs/reference.md`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			old, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			text, err := reference.Replace(string(old))
			if err != nil || text == string(old) {
				return err
			}
			return os.WriteFile(args[0], []byte(text), 0o644)
		},
	}
}
