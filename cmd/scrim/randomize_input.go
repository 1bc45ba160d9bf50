package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"scrim/engine/contribute"
)

// maxInput bounds what is read of a token or a value.
const maxInput = 1 << 20

// readToken reads the token of a file or of standard input.
func readToken(in io.Reader, file string) (contribute.Token, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return contribute.Token{}, fmt.Errorf("token: %w", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return contribute.Token{}, fmt.Errorf("token: %w", err)
	}
	return contribute.ParseToken(string(b))
}

// readValue reads the value of the command line; nil is NULL.
func (r *randomizing) readValue(in io.Reader) (contribute.Value, error) {
	switch {
	case r.hasValue:
		text, err := lineOr(in, r.value)
		if err != nil {
			return nil, err
		}
		x, err := strconv.ParseFloat(text, 64)
		// beyond the range of floats is beyond every collection's, and counts as its end
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, errors.New("--value: want a number such as 37.5, or --null for no value")
		}
		return contribute.Number(x), nil
	case r.hasVector:
		text, err := lineOr(in, r.vector)
		if err != nil {
			return nil, err
		}
		var v []float64
		if err := json.Unmarshal([]byte(text), &v); err != nil || v == nil {
			return nil, errors.New("--vector: want a JSON array of numbers such as [1.5, -2], or --null for no value")
		}
		return contribute.Vector(v...), nil
	}
	return contribute.Null(), nil
}

// fits refuses a value of another shape than the collection asks for: the library would count it as
// NULL, which is right for data, and here a slip of who typed it.
func (r *randomizing) fits(p *contribute.Params) error {
	want := max(p.Declaration.Dimension, 1)
	switch {
	case !r.hasValue && !r.hasVector || len(r.parsedValue) == want:
		return nil
	case p.Declaration.Dimension == 0:
		return fmt.Errorf("%s asks for one number, and --vector has %d; nothing was made or sent; --null reports that there is no value", p.Collection, len(r.parsedValue))
	}
	return fmt.Errorf("%s asks for a vector of %d numbers, and there are %d; nothing was made or sent; --null reports that there is no value", p.Collection, want, len(r.parsedValue))
}

// lineOr returns text, or a line of standard input where it is "-".
func lineOr(in io.Reader, text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	line, err := bufio.NewReader(io.LimitReader(in, maxInput)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("value: %w", err)
	}
	return strings.TrimSpace(line), nil
}
