package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// adminUser is whom kubectl is taken for.
const adminUser = "admin"

// kubectl applies what AppServices render to, from one file.
func (t trial) kubectl() way {
	return way{name: "kubectl apply --server-side", make: func(ctx context.Context, a *arena, apps int) (Sample, error) {
		file := filepath.Join(a.dir, "pairs.json")
		if err := writePairs(file, apps); err != nil {
			return nil, err
		}
		before, err := a.writes(ctx, adminUser)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if err := a.kubectl(ctx, "apply", "--server-side", "-f", file); err != nil {
			return nil, err
		}
		sample := Sample{Seconds: time.Since(start).Seconds()}
		after, err := a.writes(ctx, adminUser)
		sample[Writes] = float64(after - before)
		return sample, err
	}}
}

// writePairs makes a file with so many pairs.
func writePairs(path string, apps int) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	for index := range apps {
		objects, err := rendered(index)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := encoder.Encode(object.Object); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

// kubectl runs the cluster's own kubectl as admin.
func (a *arena) kubectl(ctx context.Context, args ...string) error {
	if out, err := a.cluster.Kubectl(ctx, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", args[0], err, lastLines(string(out)))
	}
	return nil
}
