package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"kudevops.io/appsvc/internal/cli"
)

// typicalAppService is about 450 bytes: two ports, two variables, resources.
const typicalAppService = `apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: app-%04[1]d
  namespace: shop
spec:
  replicas: 2
  image: registry.example.com/shop/app-%04[1]d:1.2.3
  ports:
  - name: http
    port: 80
    targetPort: 8080
  - name: metrics
    port: 9090
  env:
  - name: LOG_LEVEL
    value: info
  - name: REGION
    value: eu-west-1
  resources:
    requests:
      cpu: 100m
      memory: 128Mi
    limits:
      memory: 256Mi
`

// typicalStream is n AppServices in one file.
func typicalStream(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		if i > 0 {
			b.WriteString("---\n")
		}
		fmt.Fprintf(&b, typicalAppService, i)
	}
	return b.Bytes()
}

// BenchmarkBuild renders 1,000 AppServices in one file, within the process.
func BenchmarkBuild(b *testing.B) {
	input := typicalStream(1000)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	for b.Loop() {
		if code := cli.Main(b.Context(), []string{"build", "-"}, bytes.NewReader(input), io.Discard, io.Discard); code != 0 {
			b.Fatalf("exit code %d", code)
		}
	}
}
