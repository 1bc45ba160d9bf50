package main

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressOn returns a progress report on w in bytes, silent where w is not a terminal.
func progressOn(w io.Writer, title string) (report func(done, total int64), finish func()) {
	return progress(w, title, progressbar.OptionShowBytes(true))
}

// countOn returns a progress report on w in records, silent where w is not a terminal.
func countOn(w io.Writer, title string) (report func(done, total int64), finish func()) {
	return progress(w, title, progressbar.OptionShowCount(), progressbar.OptionSetItsString("records"))
}

func progress(w io.Writer, title string, unit ...progressbar.Option) (report func(done, total int64), finish func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	report = func(done, total int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(total, append(unit, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(title),
				progressbar.OptionClearOnFinish())...)
		}
		_ = bar.Set64(done)
	}
	return report, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}
