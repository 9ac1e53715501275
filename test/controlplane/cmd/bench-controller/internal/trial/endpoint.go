package trial

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// endpoint is where a controller listens.
type endpoint struct{ metrics, probes string }

// newEndpoint chooses ports that are free.
func newEndpoint() (endpoint, error) {
	var addresses [2]string
	for i := range addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return endpoint{}, err
		}
		// Both are closed at the end, or they might be the same.
		defer listener.Close()
		addresses[i] = listener.Addr().String()
	}
	return endpoint{metrics: addresses[0], probes: addresses[1]}, nil
}

// ready complains until the controller says that it is ready.
func (e endpoint) ready(ctx context.Context) error {
	_, err := get(ctx, "http://"+e.probes+"/readyz")
	return err
}

// values are the metrics, the series of each added up.
func (e endpoint) values(ctx context.Context) (map[string]float64, error) {
	text, err := get(ctx, "http://"+e.metrics+"/metrics")
	if err != nil {
		return nil, err
	}
	return sums(text)
}

// sums adds up the series of each metric.
func sums(text string) (map[string]float64, error) {
	values := map[string]float64{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metric %q: %w", line, err)
		}
		name, _, _ := strings.Cut(line[:at], "{")
		values[name] += value
	}
	return values, nil
}

// get asks a URL and wants status 200.
func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", url, response.Status, body)
	}
	return string(body), err
}
