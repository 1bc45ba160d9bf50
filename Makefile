# The build tag: Go's own regular expressions instead of libicu.
TAGS := gms_pure_go
ARGS ?=

.PHONY: build test demo bench everyday docs console page dist check tools bin/scrim-bench

build: tools
	go build -tags $(TAGS) -o bin/scrim ./cmd/scrim

bin/scrim-bench: tools
	go build -tags $(TAGS) -o bin/scrim-bench ./bench/cmd/scrim-bench

test: tools
	go test -tags $(TAGS) -timeout 45m ./... ./bench/...

demo: build
	./bin/scrim demo $(ARGS)

bench: tools
	go test -tags $(TAGS) -run '^$$' -bench . -benchtime 1x -timeout 60m ./bench

# everyday writes docs/everyday.md and its pictures; DATA is the directory of the public data files.
everyday: bin/scrim-bench
	./bin/scrim-bench everyday $(if $(DATA),--data $(DATA)) --runs 5 --ways --markdown docs/everyday.md $(ARGS)

# docs writes docs/reference.md and a part of docs/dialect.md from the code's own tables.
docs: build
	./bin/scrim reference docs/reference.md
	./bin/scrim reference docs/dialect.md

# console builds the console's script anew from its sources and the pinned packages of npm.
console:
	cd engine/ops/console/web && npm ci --ignore-scripts --no-audit --no-fund && npm run build

# page builds the script of the page behind contributors' links anew from typescript/ and the pinned packages of npm.
page:
	cd typescript && npm ci --ignore-scripts --no-audit --no-fund && npm run page

# dist builds what is shipped, into dist/: archives and Debian packages for linux on amd64 and arm64.
dist: tools
	deploy/dist.sh $(ARGS)

tools:
	@command -v go >/dev/null || { echo "scrim needs Go 1.26 or newer: https://go.dev/dl/"; exit 1; }
	@command -v $${CC:-cc} >/dev/null || command -v gcc >/dev/null || { echo "scrim needs a C and C++ compiler (on Debian: apt-get install build-essential)"; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || command -v g++ >/dev/null || { echo "scrim needs a C++ compiler (on Debian: apt-get install build-essential)"; exit 1; }
