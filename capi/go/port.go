package berth

// #include "berth.h"
import "C"

import (
	"context"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// IsFreePort reports whether any server could bind this loopback port now.
func IsFreePort(port uint16) bool { return C.berth_port_is_free(C.uint16_t(port)) == 1 }

// IsBoundPort reports whether a process has a TCP socket bound to it on any address.
func IsBoundPort(port uint16) bool { return C.berth_port_is_bound(C.uint16_t(port)) == 1 }

// FindFreePort finds one that was free a moment ago. Nothing keeps it so: see LeasePort.
func FindFreePort() (uint16, error) {
	var port C.uint16_t
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_port_find_free(&port, e) })
	return uint16(port), err
}

// WaitUnbound returns as soon as no process has the port bound, or ctx is done.
func WaitUnbound(ctx context.Context, port uint16) error {
	limit, err := timeout(ctx)
	if err != nil {
		return err
	}
	return aside(ctx, func(e **C.berth_error) C.int32_t {
		return C.berth_port_wait_unbound(C.uint16_t(port), C.int64_t(limit), e)
	})
}

// PortLease is a loopback port that no other berth process of this user is given, and that no stranger can bind until it
// is handed over.
type PortLease struct {
	raw  *C.berth_port_lease
	once sync.Once
}

// LeasePort leases a port; 0 is any. Leases are kept in the state directory, "" for the default one.
func LeasePort(stateDir string, preferred uint16) (*PortLease, error) {
	var raw *C.berth_port_lease
	data, size := view(stateDir)
	err := call(context.Background(), func(e **C.berth_error) C.int32_t {
		return C.berth_port_lease_new(&raw, data, size, C.uint16_t(preferred), e)
	})
	if err != nil {
		return nil, err
	}
	l := &PortLease{raw: raw}
	runtime.SetFinalizer(l, func(l *PortLease) { l.Close() })
	return l, nil
}

// Close ends the lease.
func (l *PortLease) Close() (err error) {
	l.once.Do(func() {
		runtime.SetFinalizer(l, nil)
		err = call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_port_lease_release(l.raw, e) })
		C.berth_port_lease_free(l.raw)
	})
	return err
}

// Port is the port.
func (l *PortLease) Port() uint16 {
	defer runtime.KeepAlive(l)
	return uint16(C.berth_port_lease_port(l.raw))
}

// Listen listens on it; once, then FailedPrecondition. The lease goes on.
func (l *PortLease) Listen() (net.Listener, error) {
	defer runtime.KeepAlive(l)
	var fd C.int32_t
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_port_lease_take_fd(&fd, l.raw, e) })
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "berth port")
	defer file.Close()
	if err := syscall.Listen(int(fd), syscall.SOMAXCONN); err != nil {
		return nil, os.NewSyscallError("listen", err)
	}
	return net.FileListener(file)
}

// ReleaseSocket closes the sockets for a program that binds by itself. The lease goes on.
func (l *PortLease) ReleaseSocket() error {
	defer runtime.KeepAlive(l)
	return call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_port_lease_release_socket(l.raw, e) })
}
