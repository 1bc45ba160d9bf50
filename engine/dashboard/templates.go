package dashboard

import (
	"embed"
	"html/template"
	"io/fs"
)

//go:embed templates
var templateFiles embed.FS

// shared are the templates that every page is made with.
var shared = []string{"templates/layout.html", "templates/parts.html", "templates/chart.svg"}

// pages are the templates by the name of their file, each with the shared ones.
var pages = parse()

func parse() map[string]*template.Template {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic("dashboard: templates: " + err.Error()) // embedded
	}
	all := map[string]*template.Template{}
	for _, name := range names {
		t := template.New("").Funcs(functions)
		all[name[len("templates/"):]] = template.Must(t.ParseFS(templateFiles, append(shared, name)...))
	}
	return all
}
