package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"scrim/internal/client"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// command is what a line that begins with a backslash does.
type command struct {
	name, argument, help string
	run                  func(s *Shell, ctx context.Context, argument string) error
}

// commands lists them in the order of \help. It is made by a function since \help reads it.
func commands() []command {
	return []command{
		{`\help`, "", "this list", func(s *Shell, _ context.Context, _ string) error { s.help(); return nil }},
		{`\d`, "[TABLE]", "the tables, or the columns of one", (*Shell).describe},
		{`\l`, "", "the databases", asking("SHOW DATABASES")},
		{`\df`, "[NAME]", "the DP functions, or one with its options and an example", (*Shell).functions},
		{`\dv`, "", "the privacy parameters of the session", asking("SHOW VARIABLES LIKE 'dp\\_%'")},
		{`\u`, "DATABASE", "use a database", func(s *Shell, ctx context.Context, name string) error {
			return s.ask(ctx, "USE "+sqltext.Name(name), s.Format)
		}},
		{`\price`, "[QUERY]", "what a query would cost and how many more fit; charges nothing", (*Shell).price},
		{`\explain`, "[QUERY]", "its plan: mechanisms, loss, expected error; charges nothing", (*Shell).explain},
		{`\chart`, "[QUERY]", "its answer of two columns as bars with 95 % intervals", (*Shell).chart},
		{`\budget`, "", "what is left, in questions at the default loss", (*Shell).budget},
		{`\warnings`, "", "the warnings of the last private answer, with what would do", asking("SELECT level, code, message, remedy FROM dp.last_warnings")},
		{`\suggest`, "TABLE", "statements that would declare public domains of its columns (DBA)", func(s *Shell, ctx context.Context, table string) error {
			return s.look(ctx, "CALL dp_suggest_domains("+sqltext.Text(table)+")", "vertical")
		}},
		{`\format`, "NAME", "how answers are written: " + strings.Join(Formats(), ", "), (*Shell).setFormat},
		{`\i`, "FILE", "run the statements of a file", func(s *Shell, ctx context.Context, path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if s.Script(ctx, string(text)) != nil {
				return fmt.Errorf("%s: not all of it was run", path)
			}
			return nil
		}},
		{`\q`, "", "leave; so does Ctrl-D", func(s *Shell, _ context.Context, _ string) error { s.left = true; return nil }},
	}
}

// asking is a command that stands for one statement.
func asking(query string) func(*Shell, context.Context, string) error {
	return func(s *Shell, ctx context.Context, _ string) error { return s.aside(ctx, query) }
}

// aside asks what the shell itself wants to know: it is no query of the user's. Columns without any
// value are left out.
func (s *Shell) aside(ctx context.Context, query string) error {
	return s.look(ctx, query, s.asideFormat())
}

// asideFormat is the form of what is no query of the user's.
func (s *Shell) asideFormat() string {
	if s.Format == "chart" {
		return "table"
	}
	return s.Format
}

// budget shows what is left, in three digits as the costs beside answers.
func (s *Shell) budget(ctx context.Context, _ string) error {
	answers, _, err := s.send(ctx, client.BudgetQuery)
	if err != nil {
		return err
	}
	for i := range answers {
		answers[i] = answers[i].Rounded(3)
	}
	return s.write(answers, s.asideFormat())
}

// look is aside in a form of its own.
func (s *Shell) look(ctx context.Context, query, format string) error {
	answers, _, err := s.send(ctx, query)
	if err != nil {
		return err
	}
	return s.write(answers, format)
}

func (s *Shell) write(answers []client.Answer, format string) error {
	return lists.Each(answers, func(a client.Answer) error { return writers[format](s.Out, a.Filled(), s.Width()) })
}

// command runs a line that begins with a backslash.
func (s *Shell) command(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	switch name {
	case `\?`, `\h`:
		name = `\help`
	case `\quit`:
		name = `\q`
	}
	for _, c := range commands() {
		if c.name != name {
			continue
		}
		if argument == "" && c.argument != "" && !strings.HasPrefix(c.argument, "[") {
			return fmt.Errorf("want %s %s", c.name, c.argument)
		}
		return c.run(s, ctx, argument)
	}
	return fmt.Errorf("there is no command %s; \\help lists them", name)
}

func (s *Shell) help() {
	for _, c := range commands() {
		fmt.Fprintf(s.Err, "  %-20s %s\n", c.name+" "+c.argument, c.help)
	}
	fmt.Fprintln(s.Err, `A statement ends with ; or, for one value a line, \G. Without a query a command takes the last one.`)
}

func (s *Shell) describe(ctx context.Context, table string) error {
	if table == "" {
		return s.aside(ctx, "SELECT table_name, state, unit, entity FROM dp.policies")
	}
	return s.aside(ctx, "DESCRIBE "+tableName(table))
}

// tableName quotes a name that may have its schema before it.
func tableName(name string) string {
	if strings.Contains(name, "`") {
		return name
	}
	parts := strings.Split(name, ".")
	for i := range parts {
		parts[i] = sqltext.Name(parts[i])
	}
	return strings.Join(parts, ".")
}

func (s *Shell) functions(ctx context.Context, name string) error {
	if name == "" {
		return s.aside(ctx, "SELECT name, function_type AS kind, signature, result FROM dp.functions")
	}
	return s.look(ctx, "SELECT * FROM dp.functions WHERE name = "+sqltext.Text(strings.ToUpper(name)), "vertical")
}

// errNoQuery is the refusal of a command that has no query to be about.
var errNoQuery = errors.New("there is no query yet; write it after the command")

// about is the query of a command: its argument, or the last one.
func (s *Shell) about(argument string) (string, error) {
	if argument == "" && s.query == "" {
		return "", errNoQuery
	}
	if argument != "" {
		return argument, nil
	}
	return s.query, nil
}

func (s *Shell) price(ctx context.Context, argument string) error {
	query, err := s.about(argument)
	if err != nil {
		return err
	}
	return s.aside(ctx, "CALL dp_price("+sqltext.Text(query)+")")
}

func (s *Shell) explain(ctx context.Context, argument string) error {
	query, err := s.about(argument)
	if err != nil {
		return err
	}
	answers, _, err := s.send(ctx, "EXPLAIN "+query)
	for _, a := range answers {
		for _, row := range a.Rows {
			fmt.Fprintln(s.Out, strings.Join(lists.Map(row, func(v any) string { return client.Printable(client.Cell(v), "\n") }), "\t"))
		}
	}
	return err
}

// chart asks a query of two columns with the interval of the second, where the server knows one,
// and draws it. EXPLAIN, which charges nothing, tells whether it does.
func (s *Shell) chart(ctx context.Context, argument string) error {
	query, err := s.about(argument)
	if err != nil {
		return err
	}
	if extended, ok := client.WithIntervals(query); ok {
		if _, _, err := s.send(ctx, "EXPLAIN "+extended); err == nil {
			err = s.ask(ctx, extended, "chart")
			s.query = query
			return err
		}
	}
	return s.ask(ctx, query, "chart")
}

func (s *Shell) setFormat(_ context.Context, name string) error {
	if writers[name] == nil {
		return fmt.Errorf("there is no format %q; want one of %s", name, strings.Join(Formats(), ", "))
	}
	s.Format = name
	return nil
}
