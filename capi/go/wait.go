package berth

import (
	"context"
	"math"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// readable parks the goroutine until fd, which becomes the poller's, is readable, or ctx is done.
func readable(ctx context.Context, fd int, name string) error {
	if err := syscall.SetNonblock(fd, true); err != nil {
		syscall.Close(fd)
		return err
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := conn.Read(func(fd uintptr) bool { return pollIn(fd) }); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

// pollIn reports whether fd is readable now.
func pollIn(fd uintptr) bool {
	poll := struct {
		fd      int32
		events  int16
		revents int16
	}{fd: int32(fd), events: 1}
	var now syscall.Timespec
	n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1,
		uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return errno == 0 && n > 0
}

// millis is a duration for the C side, rounded up so that a short wait is not none.
func millis(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	if d > math.MaxInt64-time.Millisecond {
		return int64(d / time.Millisecond)
	}
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// timeout is what is left until ctx's deadline: -1 if it has none.
func timeout(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return -1, nil
	}
	return millis(time.Until(deadline)), nil
}
