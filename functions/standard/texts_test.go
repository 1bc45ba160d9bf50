package standard

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TestTexts compares with what the reference manual of MySQL 8.0 says of functions of texts.
func TestTexts(t *testing.T) {
	cases := []struct {
		name string
		args []any
		want any
	}{
		{"lpad", []any{"hi", 4, "??"}, "??hi"}, {"lpad", []any{"hi", 1, "??"}, "h"}, {"lpad", []any{"é", 3, "日本"}, "日本é"}, {"lpad", []any{"é日", 1, "x"}, "é"},
		{"lpad", []any{"a", -1, "x"}, nil}, {"lpad", []any{"a", 3, ""}, ""}, {"lpad", []any{5, 3, 0}, "005"}, {"rpad", []any{"hi", 5, "?!"}, "hi?!?"}, {"rpad", []any{"日本", 3, "é"}, "日本é"},
		{"insert", []any{"Quadratic", 3, 4, "What"}, "QuWhattic"}, {"insert", []any{"Quadratic", -1, 4, "What"}, "Quadratic"}, {"insert", []any{"Quadratic", 3, 100, "What"}, "QuWhat"},
		{"insert", []any{"日本語", 2, 1, "é"}, "日é語"}, {"insert", []any{"ab", 3, 1, "x"}, "ab"}, {"insert", []any{"abc", 2, -1, "x"}, "ax"}, {"insert", []any{"abc", 1, 0, "x"}, "xabc"},
		{"left", []any{"foobarbar", 5}, "fooba"}, {"left", []any{"é日", -1}, ""}, {"left", []any{12345, 2}, "12"}, {"right", []any{"foobarbar", 4}, "rbar"}, {"right", []any{"é日", 1}, "日"}, {"right", []any{"a", -1}, ""},
		{"right", []any{"ab", 9}, "ab"}, {"repeat", []any{"MySQL", 2}, "MySQLMySQL"}, {"repeat", []any{"a", -1}, ""}, {"space", []any{"2.9x"}, "  "}, {"repeat", []any{"a", nil}, nil}, {"reverse", []any{"aé日"}, "日éa"},
		{"substring_index", []any{"www.mysql.com", ".", 2}, "www.mysql"}, {"substring_index", []any{"www.mysql.com", ".", -2}, "mysql.com"}, {"substring_index", []any{"a.b", ".", 0}, ""},
		{"substring_index", []any{"a.b", "", 1}, ""}, {"substring_index", []any{"a.b", ".", 9}, "a.b"}, {"substring_index", []any{"a.b", ".", -9}, "a.b"}, {"substring_index", []any{"", ".", 1}, ""},
		{"substring", []any{"Quadratically", 5}, "ratically"}, {"substring", []any{"Quadratically", 5, 6}, "ratica"}, {"substring", []any{"Sakila", -3}, "ila"}, {"substring", []any{"Sakila", -5, 3}, "aki"},
		{"substring", []any{"Sakila", -9}, ""}, {"substring", []any{"Sakila", 0}, ""}, {"substring", []any{"é日", 2, -1}, ""}, {"mid", []any{12345, 2, 3}, "234"}, {"substr", []any{1e20, 1, 3}, "1e2"},
		{"locate", []any{"bar", "foobarbar"}, "4"}, {"locate", []any{"xbar", "foobar"}, "0"}, {"locate", []any{"bar", "foobarbar", 5}, "7"}, {"locate", []any{"a", "", 2}, "0"}, {"locate", []any{"", "", 1}, "1"},
		{"locate", []any{"", "ab", 3}, "3"}, {"locate", []any{"", "ab", 4}, "0"}, {"locate", []any{"b", "éb", 0}, "0"}, {"locate", []any{"b", "éb", 2}, "2"}, {"locate", []any{"b", "éb", -1}, "0"},
		{"instr", []any{"foobarbar", "bar"}, "4"}, {"instr", []any{"xbar", "foobar"}, "0"}, {"instr", []any{"日本", ""}, "1"}, {"instr", []any{123, 3}, "3"},
		{"replace", []any{"www.mysql.com", "w", "Ww"}, "WwWwWw.mysql.com"}, {"replace", []any{"abc", "", "x"}, "abc"}, {"elt", []any{1, "Aa", "Bb"}, "Aa"}, {"elt", []any{3, "Aa", "Bb"}, nil}, {"elt", []any{2, nil, "Bb"}, "Bb"},
		{"quote", []any{"Don't!"}, `'Don\'t!'`}, {"quote", []any{nil}, "NULL"}, {"concat", []any{"a", nil}, nil}, {"concat", []any{"a", 1, 1.5}, "a11.5"}, {"concat_ws", []any{",", "a", nil, "b"}, "a,b"},
		{"concat_ws", []any{nil, "a"}, nil}, {"upper", []any{1.5}, "1.5"}, {"ltrim", []any{" \ta "}, "\ta "}, {"left", []any{"abc", "2x"}, "ab"}, {"left", []any{"abc", "1.9"}, "a"},
	}
	for _, c := range cases {
		if got := eval(t, c.name, c.args...); got != c.want {
			t.Errorf("%s%q: got %v, want %v", c.name, c.args, got, c.want)
		}
	}
}

// TestTextsOfMembersAndBytes: a member of ENUM or SET is its text, and a binary text has no
// characters but bytes.
func TestTextsOfMembersAndBytes(t *testing.T) {
	ctx := sql.NewEmptyContext()
	enum := expression.NewGetField(0, types.MustCreateEnumType([]string{"red", "blue"}, sql.Collation_Default), "e", true)
	set := expression.NewGetField(1, types.MustCreateSetType([]string{"a", "b"}, sql.Collation_Default), "s", true)
	bytes := expression.NewGetField(2, types.LongBlob, "x", true)
	bits := expression.NewGetField(3, types.MustCreateBitType(12), "b", true)
	row := sql.NewRow(uint16(2), uint64(3), []byte("a\xff\xc3\xa9"), uint64(0x141))
	n := func(i int) sql.Expression { return expression.NewLiteral(int64(i), types.Int64) }
	s := func(s string) sql.Expression { return expression.NewLiteral(s, types.LongText) }
	for _, c := range []struct {
		name string
		args []sql.Expression
		want any
	}{
		{"upper", []sql.Expression{enum}, "BLUE"}, {"concat", []sql.Expression{enum, set}, "bluea,b"}, {"lpad", []sql.Expression{set, n(5), enum}, "bla,b"},
		{"upper", []sql.Expression{bytes}, "a\xff\xc3\xa9"}, {"reverse", []sql.Expression{bytes}, "\xa9\xc3\xffa"}, {"left", []sql.Expression{bytes, n(2)}, "a\xff"},
		{"lpad", []sql.Expression{bytes, n(6), s("é")}, "\xc3\xa9a\xff\xc3\xa9"}, {"locate", []sql.Expression{s("é"), bytes}, int64(3)}, {"concat", []sql.Expression{bits, s("z")}, "\x01Az"},
	} {
		f, _ := Function(c.name)
		e, err := f.NewInstance(ctx, c.args)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Eval(ctx, row)
		if b, ok := got.([]byte); ok {
			if !types.IsBinaryType(e.Type(ctx)) {
				t.Errorf("%s: type %s of bytes", e, e.Type(ctx))
			}
			got = string(b)
		}
		if err != nil || got != c.want {
			t.Errorf("%s: got %q %v, want %q", e, got, err, c.want)
		}
	}
}
