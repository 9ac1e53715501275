# The two that matter: "make demo" shows what this does, "make test" proves it.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

BIN := $(CURDIR)/bin
# Where what is given away is written to, and where the bundle is.
DIST ?= dist
BUNDLE ?= bundle
# A tag, or the commit after one.
VERSION ?= $(shell git describe --tags --match 'v*' --dirty 2>/dev/null || echo "v0.0.0-g$$(git rev-parse --short HEAD 2>/dev/null || echo unknown)")
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
# What is built carries the time of the commit, so that building it again gives the
# same bytes (reproducible-builds.org/specs/source-date-epoch).
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
# The images: IMG is the controller's.
IMG ?= appsvc-controller:$(VERSION)
RENDER_IMG ?= appsvc-render:$(VERSION)
# A static program, with the commit in it and no path of this machine.
GO_BUILD := CGO_ENABLED=0 go build -trimpath -buildvcs=auto -ldflags '-s -w'
# The modules of this repository, the main one first.
MODULES := . test/controlplane test/peers test/argocd
# What is generated from api/v1alpha1.
CRD := config/crd/bases/apps.kudevops.io_appservices.yaml

##@ General

.PHONY: help
help: ## Show this text
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*##/ {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## Render the sample, plain and through an overlay, and show what a change changes
	@demo() { printf '\n\033[1m$$ appsvc-render %s\033[0m\n' "$$*"; $(BIN)/appsvc-render "$$@"; }; \
	demo validate config/samples; \
	demo build config/samples; \
	demo build examples/overlay; \
	sed -e 's/nginx:latest/nginx:1.29/' -e 's/replicas: 3/replicas: 5/' config/samples/apps_v1alpha1_appservice.yaml > $(BIN)/changed.yaml; \
	demo diff config/samples/apps_v1alpha1_appservice.yaml $(BIN)/changed.yaml || [ $$? -eq 1 ]

# KEEP=1 leaves the cluster running at the end.
.PHONY: demo-cluster
demo-cluster: controlplane ## Show the controller at work in a real Kubernetes; with KEEP=1 it runs on
	$(NESTED) -C test/controlplane run ./cmd/demo $(if $(KEEP),-keep)

.PHONY: build
build: ## Build the commands into bin/
	@mkdir -p $(BIN)
	$(GO_BUILD) -o $(BIN)/ ./cmd/...

.PHONY: clean
clean: ## Remove what was built here
	rm -rf $(BIN) $(DIST) $(BUNDLE)

##@ Cluster

KUBECTL ?= kubectl
# The placeholder for the image, as kubebuilder's users know it, gives way to IMG.
DEFAULT_MANIFESTS = $(BIN)/kustomize build config/default | sed 's|image: controller:latest$$|image: $(IMG)|'

.PHONY: install
install: $(BIN)/kustomize ## Install the CRD into the current cluster
	$(BIN)/kustomize build config/crd | $(KUBECTL) apply --server-side -f -

.PHONY: uninstall
uninstall: $(BIN)/kustomize ## Remove the CRD, all AppServices and all that they run
	$(BIN)/kustomize build config/crd | $(KUBECTL) delete --ignore-not-found -f -

.PHONY: run
run: ## Run the controller here, against the current cluster, with ARGS
	go run ./cmd/appsvc-controller --metrics-bind-address=0 --log-format=text $(ARGS)

.PHONY: deploy
deploy: $(BIN)/kustomize ## Install the CRD and the controller of image IMG
	$(DEFAULT_MANIFESTS) | $(KUBECTL) apply --server-side -f -

.PHONY: undeploy
undeploy: $(BIN)/kustomize ## Remove the controller; AppServices stay, and run on
	$(BIN)/kustomize build config/without-crd | $(KUBECTL) delete --ignore-not-found -f -

##@ Release

IMAGE_PLATFORMS ?= linux/amd64 linux/arm64
CONTROLLER_PLATFORMS ?= linux/amd64 linux/arm64
RENDER_PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# $(DIST)/build/OS/ARCH/PROGRAM; the go command knows when it is stale.
.PHONY: FORCE
$(DIST)/build/%: FORCE
	GOOS=$(word 1,$(subst /, ,$*)) GOARCH=$(word 2,$(subst /, ,$*)) $(GO_BUILD) -o $@ ./cmd/$(basename $(notdir $*))

# $(call write-image,PROGRAM,NAME,DESCRIPTION)
define write-image
$(BIN)/image -out $(DIST)/$(1)-image.tar -name '$(2)' -title $(1) -description '$(3)' \
	-version '$(VERSION)' -revision '$(REVISION)' -created $(SOURCE_DATE_EPOCH) -source https://kudevops.io/appsvc \
	$(foreach p,$(IMAGE_PLATFORMS),$(p)=$(DIST)/build/$(p)/$(1))
endef

.PHONY: image
image: $(BIN)/image $(foreach p,$(IMAGE_PLATFORMS),$(DIST)/build/$(p)/appsvc-controller $(DIST)/build/$(p)/appsvc-render) ## Write the images IMG and RENDER_IMG into dist/, without a container engine
	$(call write-image,appsvc-controller,$(IMG),Keeps what AppServices stand for in a Kubernetes cluster)
	$(call write-image,appsvc-render,$(RENDER_IMG),Renders AppServices to Kubernetes manifests)

# $(call named,IMG) is not empty if the user said it.
named = $(filter-out file,$(origin $(1)))

.PHONY: image-push
image-push: image $(BIN)/crane ## Push the images that IMG and RENDER_IMG name, without a container engine
	@$(if $(call named,IMG)$(call named,RENDER_IMG),,echo 'name the images by IMG and RENDER_IMG'; exit 1)
	@layout=$$(mktemp -d); trap 'rm -rf "$$layout"' EXIT; \
	push() { mkdir "$$layout/$$1"; tar -xf "$(DIST)/$$1-image.tar" -C "$$layout/$$1"; $(BIN)/crane push "$$layout/$$1" "$$2"; }; \
	$(if $(call named,IMG),push appsvc-controller '$(IMG)';) \
	$(if $(call named,RENDER_IMG),push appsvc-render '$(RENDER_IMG)';)

.PHONY: docker-build
docker-build: ## Build the images IMG and RENDER_IMG with Docker
	docker build --target appsvc-controller -t '$(IMG)' --build-arg VERSION='$(VERSION)' --build-arg REVISION='$(REVISION)' .
	docker build --target appsvc-render -t '$(RENDER_IMG)' --build-arg VERSION='$(VERSION)' --build-arg REVISION='$(REVISION)' .

RELEASED := $(foreach p,$(RENDER_PLATFORMS),$(p)/appsvc-render$(if $(filter windows/%,$(p)),.exe)) \
	$(addsuffix /appsvc-controller,$(CONTROLLER_PLATFORMS))

.PHONY: dist
dist: $(addprefix $(DIST)/build/,$(RELEASED)) ## Write release archives and their checksums into dist/
	go run ./internal/archive -out $(DIST) -build $(DIST)/build -version '$(VERSION)' -modified $(SOURCE_DATE_EPOCH) $(RELEASED)

.PHONY: build-installer
build-installer: $(BIN)/kustomize ## Write the manifests of deploy into dist/install.yaml
	@mkdir -p $(DIST)
	$(DEFAULT_MANIFESTS) > $(DIST)/install.yaml

.PHONY: bundle
bundle: $(BIN)/kustomize ## Write a bundle for the Operator Lifecycle Manager into bundle/
	$(DEFAULT_MANIFESTS) | go run ./internal/bundle -version '$(VERSION)' -out $(BUNDLE) \
		-base config/manifests/bases/appsvc.clusterserviceversion.yaml -sample config/samples/apps_v1alpha1_appservice.yaml

##@ Tests

# For each package. A machine that does other work takes several times as long.
TIMEOUT := 45m

.PHONY: test
test: test-unit test-race test-controlplane test-peers test-argocd ## Run all tests

.PHONY: test-unit
test-unit: gitops packaging
	go test -timeout $(TIMEOUT) ./...

# The race detector needs a C compiler, which a machine with only Go lacks.
.PHONY: test-race
test-race:
	@if command -v "$$(go env CC)" >/dev/null; then \
		echo CGO_ENABLED=1 go test -race -timeout $(TIMEOUT) ./pkg/... ./internal/...; \
		CGO_ENABLED=1 go test -race -timeout $(TIMEOUT) ./pkg/... ./internal/...; \
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
	$(NESTED) -C test/controlplane test -timeout $(TIMEOUT) ./...

.PHONY: test-peers
test-peers: controlplane peers
	$(NESTED) -C test/peers test -timeout $(TIMEOUT) ./...

# What is tested stands outside of the module, where the go command sees no change.
.PHONY: test-argocd
test-argocd: argocd
	$(NESTED) -C test/argocd test -count=1 -timeout $(TIMEOUT) ./...

# -v names each package when it is compiled, which is all of them the first time.
.PHONY: argocd
argocd: ## Build Argo CD's plugin server from Go modules, once a version
	$(NESTED) -C test/argocd build -v github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands
	@$(NESTED) -C test/argocd tool -n argocd-cmp-server >/dev/null

.PHONY: peers
peers: ## Build the peers of the benchmarks from Go modules, once a version
	$(NESTED) -C test/peers run ./cmd/bench-peers -build

.PHONY: controlplane
controlplane: ## Build a real Kubernetes from Go modules, once a version
	$(NESTED) -C test/controlplane run ./cmd/controlplane build

.PHONY: gitops
gitops: ## Build kustomize and kpt from Go modules, once a version
	go test -run '^TestPrograms$$' -count=1 -v -timeout 60m ./test/gitops

.PHONY: packaging
packaging: ## Build the tools of the release, and what judges it, from Go modules
	go test -run '^TestPrograms$$' -count=1 -v -timeout 60m ./test/packaging

.PHONY: oracle
N ?= 5000
oracle: controlplane ## Hold pkg/diff to a real API server over N random cases
	$(NESTED) -C test/controlplane test -run 'TestReferee$$' -count=1 -timeout 0 -v . -referee.n=$(N)

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
bench-peers: controlplane peers ## Measure beside the peers, a quarter of an hour, and write docs/benchmarks.md
	$(NESTED) -C test/peers run ./cmd/bench-peers -large -write ../../docs/benchmarks.md

##@ Code

.PHONY: generate
generate: $(BIN)/controller-gen ## Generate what follows from the types
	@rm -rf $(BIN)/crd
	$(BIN)/controller-gen object crd:maxDescLen=60,generateEmbeddedObjectMeta=true applyconfiguration paths=./api/... output:crd:dir=$(BIN)/crd
	go run ./internal/crd/gen -in $(BIN)/crd/$(notdir $(CRD)) -out $(CRD) internal/crd/appservices.yaml
	go run ./internal/specdoc -in api/v1alpha1/appservice_types.go -out docs/spec.md
	go run ./internal/schemagen -out pkg/diff/zz_generated.schema.go
	$(BIN)/controller-gen rbac:roleName=manager-role paths=./internal/controller/... output:rbac:dir=config/rbac

.PHONY: fmt
fmt: ## Format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: lint
lint: $(BIN)/staticcheck ## Look for mistakes
	@export CGO_ENABLED=0; for module in $(MODULES) tools test/packaging/referee; do echo "lint $$module"; (cd $$module && go vet ./... && $(BIN)/staticcheck ./...); done

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
	for path in api config/crd config/rbac internal/crd docs/spec.md pkg/diff/zz_generated.schema.go; do \
		diff -r "$$path" "$$copy/$$path" || { echo 'what is generated is stale: run make generate'; exit 1; }; \
	done

# The tools have a module of their own, so that nothing of them reaches users of
# the libraries.
$(BIN)/controller-gen: tools/go.mod
	@mkdir -p $(BIN)
	$(NESTED) -C tools build -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(BIN)/kustomize: tools/go.mod
	@mkdir -p $(BIN)
	$(NESTED) -C tools build -o $@ sigs.k8s.io/kustomize/kustomize/v5

$(BIN)/crane: tools/go.mod
	@mkdir -p $(BIN)
	$(NESTED) -C tools build -o $@ github.com/google/go-containerregistry/cmd/crane

$(BIN)/image: tools/go.mod $(wildcard tools/image/*.go)
	@mkdir -p $(BIN)
	$(NESTED) -C tools build -o $@ ./image

$(BIN)/staticcheck: tools/go.mod
	@mkdir -p $(BIN)
	$(NESTED) -C tools build -o $@ honnef.co/go/tools/cmd/staticcheck
