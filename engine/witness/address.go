package witness

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

// address is a witness at an HTTP address.
type address string

// client does not follow a redirect, which would turn a POST into a GET.
var client = &http.Client{
	Timeout:       5 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (a address) tail() ([]byte, error) {
	r, err := client.Get(string(a))
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	switch r.StatusCode {
	case http.StatusNotFound, http.StatusNoContent:
		return nil, nil
	case http.StatusOK:
		return io.ReadAll(io.LimitReader(r.Body, tailSize))
	}
	return nil, fmt.Errorf("GET: have status %s, want 200, or 404 where there is no line", r.Status)
}

func (a address) add(line []byte) error {
	r, err := client.Post(string(a), "application/json", bytes.NewReader(line))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode/100 != 2 {
		return fmt.Errorf("POST: have status %s, want 200", r.Status)
	}
	return nil
}
