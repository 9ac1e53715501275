# The images of make image, for those who prefer Docker: make docker-build.
#
# Each holds one static program and nothing else: no shell, no library, no user but by
# number, and no CA certificates, since the API server's comes with the ServiceAccount.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY api api
COPY cmd cmd
COPY internal internal
COPY pkg pkg
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=auto -ldflags '-s -w' -o /out/ ./cmd/...

FROM scratch AS appsvc-render
ARG VERSION REVISION
LABEL org.opencontainers.image.title="appsvc-render" \
      org.opencontainers.image.description="Renders AppServices to Kubernetes manifests" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://kudevops.io/appsvc"
COPY --from=build /out/appsvc-render /usr/local/bin/appsvc-render
ENV PATH=/usr/local/bin
WORKDIR /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/appsvc-render"]

FROM scratch AS appsvc-controller
ARG VERSION REVISION
LABEL org.opencontainers.image.title="appsvc-controller" \
      org.opencontainers.image.description="Keeps what AppServices stand for in a Kubernetes cluster" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://kudevops.io/appsvc"
COPY --from=build /out/appsvc-controller /usr/local/bin/appsvc-controller
ENV PATH=/usr/local/bin
WORKDIR /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/appsvc-controller"]
