package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type opened struct{ at Endpoint }

func (o *opened) Open(_ context.Context, at Endpoint) (Snapshot, error) { o.at = at; return nil, nil }
func (*opened) Port() string                                            { return "3306" }
func (*opened) Promise() string                                         { return "nothing" }

func TestServersAreDeclared(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("p,w\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SCRIM_TEST_SECRET", "other")
	kind := &opened{}
	kinds := map[string]Kind{"mysql": kind}
	servers, err := ParseServers("shop=mysql://scrim@127.0.0.1?password=file:"+secret+", far=mysql://db.example:3307?password=env:SCRIM_TEST_SECRET", kinds)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := servers["shop"].Open(t.Context(), kinds); err != nil || kind.at != (Endpoint{"127.0.0.1:3306", "scrim", "p,w", nil}) {
		t.Errorf("opened %+v, %v", kind.at, err)
	}
	if _, err := servers["far"].Open(t.Context(), kinds); err != nil || kind.at.Password != "other" || kind.at.TLS == nil || kind.at.TLS.InsecureSkipVerify || kind.at.TLS.ServerName != "db.example" {
		t.Errorf("opened %+v, %v", kind.at, err)
	}
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := servers["shop"].Open(t.Context(), kinds); err == nil || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), "p,w") {
		t.Errorf("a password that others may read: %v", err)
	}
	for _, text := range []string{"shop", "mysql://a@b", "Shop=mysql://a@b", "shop=pg://a@b", "shop=mysql://a:secret@b", "shop=mysql://a@b/db", "shop=mysql://a@b?password=secret", "shop=mysql://a@b?tls=on", "x=mysql://a,x=mysql://b"} {
		if _, err := ParseServers(text, kinds); err == nil {
			t.Errorf("taken: %s", text)
		}
	}
}
