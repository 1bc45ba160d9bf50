package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"scrim/engine/reference"
	"scrim/internal/release"
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

// manCommand writes the manual pages that archives and packages hold.
func manCommand(_ streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands into a directory",
		Long: `Man writes a manual page of section 1 for this program and one for each of its commands. Their date is that of
SOURCE_DATE_EPOCH, where it is set.`,
		Example: "  scrim man share/man/man1",
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // it has the day of the build
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Scrim " + release.Version, Manual: "Scrim"}, args[0])
		},
	}
}
