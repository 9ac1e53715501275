package controlplane

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// ports that the cluster listens on. The other processes listen on none.
type ports struct{ etcd, etcdPeer, apiServer int }

// choosePorts finds ports that are free now.
func choosePorts() (p ports, err error) {
	for _, port := range []*int{&p.etcd, &p.etcdPeer, &p.apiServer} {
		if *port, err = freePort(); err != nil {
			return ports{}, err
		}
	}
	return p, nil
}

// freePort finds a port below those that systems take for outgoing connections
// (32768 and up on Linux, 49152 and up on macOS): one of these could be gone while
// a process that is to have its old address again is down.
func freePort() (int, error) {
	const first, count, attempts = 20000, 10000, 100
	var err error
	for range attempts {
		port := first + rand.IntN(count)
		var listener net.Listener
		if listener, err = net.Listen("tcp", address(port)); err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}

// address of a port on the loopback address.
func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
