# The two that matter: "make demo" shows what this does, "make test" proves it.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

BIN := $(CURDIR)/bin
# The modules of this repository, the main one first.
MODULES := . test/controlplane test/peers test/argocd
# What is generated from api/v1alpha1.
CRD := config/crd/bases/apps.kudevops.io_appservices.yaml

##@ General

.PHONY: help
help: ## Show this text
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*##/ {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## Render the sample, plain and through a kustomize overlay
	@demo() { printf '\n\033[1m$$ appsvc-render %s\033[0m\n' "$$*"; $(BIN)/appsvc-render "$$@"; }; \
	demo validate config/samples; \
	demo build config/samples; \
	demo build examples/overlay

.PHONY: build
build: ## Build the commands into bin/
	@mkdir -p $(BIN)
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $(BIN)/ ./cmd/...

.PHONY: clean
clean: ## Remove what was built here
	rm -rf $(BIN) dist

##@ Tests

.PHONY: test
test: test-unit test-race test-controlplane test-peers test-argocd ## Run all tests

.PHONY: test-unit
test-unit:
	go test ./...

# The race detector needs a C compiler, which a machine with only Go lacks.
.PHONY: test-race
test-race:
	@if command -v "$$(go env CC)" >/dev/null; then \
		echo CGO_ENABLED=1 go test -race ./pkg/... ./internal/...; \
		CGO_ENABLED=1 go test -race ./pkg/... ./internal/...; \
	else \
		echo 'SKIPPED: the tests under the race detector, which needs a C compiler ($(shell go env CC))'; \
	fi

# Flags of the user's that say how to build the main module would break the others.
# Without cgo, as the programs are built that the tests run: what is shared is compiled
# once.
NESTED := CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off go

# The programs come first: "go test" is silent until its end, and gives up before a
# first build is through.
.PHONY: test-controlplane
test-controlplane: controlplane
	$(NESTED) -C test/controlplane test ./...

.PHONY: test-peers
test-peers:
	$(NESTED) -C test/peers test ./...

# What is tested stands outside of the module, where the go command sees no change.
.PHONY: test-argocd
test-argocd: argocd
	$(NESTED) -C test/argocd test -count=1 ./...

# -v names each package when it is compiled, which is all of them the first time.
.PHONY: argocd
argocd: ## Build Argo CD's plugin server from Go modules, once a version
	$(NESTED) -C test/argocd build -v github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands
	@$(NESTED) -C test/argocd tool -n argocd-cmp-server >/dev/null

.PHONY: controlplane
controlplane: ## Build a real Kubernetes from Go modules, once a version
	$(NESTED) -C test/controlplane run ./cmd/controlplane build

.PHONY: fuzz
FUZZTIME ?= 60s
fuzz: ## Fuzz each target for FUZZTIME
	@for package in $$(grep -rl --include='*_test.go' '^func Fuzz' pkg internal | xargs -n1 dirname | sort -u); do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9]*' $$package/*_test.go | cut -c6-); do \
			echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./$$package; \
		done; \
	done

.PHONY: bench
bench: ## Run the benchmarks of the libraries
	go test -run '^$$' -bench . -benchmem ./pkg/... ./internal/...

.PHONY: bench-peers
bench-peers: ## Measure beside the peers and write docs/benchmarks.md
	$(NESTED) -C test/peers run ./cmd/bench-peers -write ../../docs/benchmarks.md

##@ Code

.PHONY: generate
generate: $(BIN)/controller-gen ## Generate what follows from the types
	@rm -rf $(BIN)/crd
	$(BIN)/controller-gen object crd:maxDescLen=60,generateEmbeddedObjectMeta=true applyconfiguration paths=./api/... output:crd:dir=$(BIN)/crd
	go run ./internal/crd/gen -in $(BIN)/crd/$(notdir $(CRD)) -out $(CRD) internal/crd/appservices.yaml
	go run ./internal/specdoc -in api/v1alpha1/appservice_types.go -out docs/spec.md
	go run ./internal/schemagen -out pkg/diff/zz_generated.schema.go

.PHONY: fmt
fmt: ## Format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: lint
lint: $(BIN)/staticcheck ## Look for mistakes
	@export CGO_ENABLED=0; for module in $(MODULES); do echo "lint $$module"; (cd $$module && go vet ./... && $(BIN)/staticcheck ./...); done

.PHONY: verify
verify: verify-format verify-tidy verify-generate lint ## Check what is committed: formatted, tidy, generated, linted

.PHONY: verify-format
verify-format:
	@files=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$files" ]; then echo "not formatted, run make fmt: $$files"; exit 1; fi

# The modules that only name programs to be built are left out: tidying them downloads
# what Kubernetes' own tests need, close to a gigabyte.
.PHONY: verify-tidy
verify-tidy:
	@for module in $(MODULES) tools; do echo "tidy $$module"; $(NESTED) -C $$module mod tidy -diff; done

# Generates in a copy, so that it neither needs nor leaves a clean work tree.
.PHONY: verify-generate
verify-generate: $(BIN)/controller-gen
	@copy=$$(mktemp -d); trap 'rm -rf "$$copy"' EXIT; \
	git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$$copy"; \
	mkdir -p "$$copy/bin"; cp $(BIN)/controller-gen "$$copy/bin/"; \
	$(MAKE) -C "$$copy" -o "$$copy/bin/controller-gen" generate >/dev/null; \
	for path in api config/crd internal/crd docs/spec.md pkg/diff/zz_generated.schema.go; do \
		diff -r "$$path" "$$copy/$$path" || { echo 'what is generated is stale: run make generate'; exit 1; }; \
	done

# The tools have a module of their own, so that nothing of them reaches users of
# the libraries.
$(BIN)/controller-gen: tools/go.mod
	@mkdir -p $(BIN)
	$(NESTED) -C tools build -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(BIN)/staticcheck: tools/go.mod
	@mkdir -p $(BIN)
	$(NESTED) -C tools build -o $@ honnef.co/go/tools/cmd/staticcheck
