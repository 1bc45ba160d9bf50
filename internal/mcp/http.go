package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	idleSession = 30 * time.Minute
	maxRequest  = 1 << 20 // bytes; a statement is far shorter
)

// Handler serves the protocol's streamable HTTP, a session with a connection of its own each.
//
// A request that names an Origin comes from a page in a browser and is refused: a page that had its
// name point at this address could otherwise ask here. The SDK refuses foreign names of the host on
// loopback. With a token, a request has to bear it.
func Handler(o Options, token string) http.Handler {
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return New(o) }, &sdk.StreamableHTTPOptions{
		SessionTimeout: idleSession, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values("Origin")) > 0 {
			http.Error(w, "pages in a browser may not ask here; connect from a program of its own", http.StatusForbidden)
			return
		}
		if token != "" && !bears(r, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "want the header Authorization: Bearer TOKEN, with the token that the operator has set", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// bears compares the token of a request in a time that tells nothing of it.
func bears(r *http.Request, token string) bool {
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
