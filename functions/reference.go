package functions

import (
	"fmt"
	"strings"
)

// Reference returns the Markdown tables of functions and options.
func Reference() string {
	var b strings.Builder
	b.WriteString("| function | weight | options | what it answers |\n| --- | --- | --- | --- |\n")
	for _, f := range table {
		if f.Role == Refused {
			continue
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s | %s |\n", strings.ReplaceAll(f.Signature, "|", `\|`), f.aliasText(), f.weightText(), f.optionText(), f.Doc)
	}
	for _, f := range errorBarFunctions {
		fmt.Fprintf(&b, "| `%s` |  |  | %s |\n", f.Signature, f.Doc)
	}
	for _, f := range scalars {
		fmt.Fprintf(&b, "| `%s` |  |  | %s |\n", f.Signature, f.Doc)
	}
	for _, f := range reportFunctions {
		fmt.Fprintf(&b, "| `%s` |  |  | %s |\n", f.Signature, f.Doc)
	}
	b.WriteString("\n| refused | why | what serves |\n| --- | --- | --- |\n")
	for _, f := range table {
		if f.Role == Refused {
			fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", f.Name, f.Doc, f.Instead)
		}
	}
	b.WriteString("\n| option | values | default | meaning |\n| --- | --- | --- | --- |\n")
	for _, o := range optionTable {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Name, o.Values, o.Default, o.Doc)
	}
	return b.String()
}

// Row is one line of dp.functions.
type Row struct {
	Name, Aliases, Kind, Signature, Result, Weight, Options, Description, Example string
}

// Rows returns dp.functions.
func Rows() []Row {
	var out []Row
	for _, f := range table {
		doc := f.Doc
		if f.Role == Refused {
			doc += " Use " + f.Instead + "."
		}
		out = append(out, Row{
			Name: f.Name, Aliases: strings.Join(f.Aliases, ", "), Kind: f.Role.String(), Signature: f.Signature,
			Result: f.resultText(), Weight: f.weightText(), Options: f.optionDoc(),
			Description: doc, Example: f.Example,
		})
	}
	for _, f := range errorBarFunctions {
		out = append(out, Row{Name: f.Name, Kind: "error bar", Signature: f.Signature, Result: f.result(), Description: f.Doc, Example: f.Example})
	}
	for _, f := range reportFunctions {
		out = append(out, Row{Name: f.Name, Kind: "collection", Signature: f.Signature, Result: f.Result.String(), Description: f.Doc, Example: f.Example})
	}
	for _, f := range scalars {
		out = append(out, Row{Name: f.Name, Kind: "scalar", Signature: f.Signature, Result: f.Result.String(), Description: f.Doc, Example: f.Example})
	}
	return out
}

// String names the role in dp.functions.
func (r Role) String() string {
	return [...]string{"private", "rewritten", "refused"}[r]
}

// String names the result in dp.functions.
func (r Result) String() string {
	return [...]string{"BIGINT", "DOUBLE", "DECIMAL or DOUBLE", "JSON", "as x"}[r]
}

// resultText names the result, of vectors too where the function takes them.
func (f *Function) resultText() string {
	if f.Vectors != nil {
		return f.Result.String() + "; JSON for vectors"
	}
	return f.Result.String()
}

func (f *Function) weightText() string {
	if !f.Weighed {
		return ""
	}
	return f.Weight.String()
}

func (f *Function) aliasText() string {
	if len(f.Aliases) == 0 {
		return ""
	}
	return ", or `" + strings.Join(f.Aliases, "`, `") + "`"
}

func (f *Function) optionText() string {
	if len(f.Options) == 0 {
		return ""
	}
	return "`" + strings.Join(f.Options, "`, `") + "`"
}

// optionDoc lists the options with what each takes.
func (f *Function) optionDoc() string {
	parts := make([]string, len(f.Options))
	for i, name := range f.Options {
		o := documented(name)
		parts[i] = fmt.Sprintf("%s = %s (default %s)", o.Name, o.Values, o.Default)
	}
	return strings.Join(parts, "; ")
}
