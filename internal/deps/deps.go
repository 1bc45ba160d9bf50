//go:build never

// Package deps names modules that are about to be used, so that they are pinned at once.
package deps

import (
	_ "github.com/RoaringBitmap/roaring/v2"
	_ "github.com/chromedp/chromedp"
	_ "github.com/knadh/koanf/parsers/toml/v2"
	_ "github.com/knadh/koanf/providers/env/v2"
	_ "github.com/knadh/koanf/providers/file"
	_ "github.com/knadh/koanf/providers/posflag"
	_ "github.com/knadh/koanf/v2"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
)
