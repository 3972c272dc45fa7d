package berth

// #include "berth.h"
import "C"

import (
	"context"
	"sync"
)

// closing is of an object that one goroutine may close while another waits on it.
type closing struct {
	once   sync.Once
	closed context.Context
	end    context.CancelFunc
}

func newClosing() *closing {
	closed, end := context.WithCancel(context.Background())
	return &closing{closed: closed, end: end}
}

// close ends the waits, and frees the object, once.
func (c *closing) close(free func()) {
	c.once.Do(func() {
		c.end()
		free()
	})
}

// call is the same as for others, but Cancelled for whatever comes of an object that was closed.
func (c *closing) call(ctx context.Context, f func(**C.berth_error) C.int32_t) error {
	return c.told(call(ctx, f))
}

func (c *closing) told(err error) error {
	if err != nil && c.closed.Err() != nil {
		return &Error{Cancelled, "it was closed"}
	}
	return err
}

// wait parks the goroutine until the descriptor that give gives is readable, ctx is done or the object is closed.
func (c *closing) wait(ctx context.Context, name string, give func(*C.int32_t, **C.berth_error) C.int32_t) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.closed, cancel)()
	var fd C.int32_t
	if err := c.call(ctx, func(e **C.berth_error) C.int32_t { return give(&fd, e) }); err != nil {
		return err
	}
	return c.told(readable(ctx, int(fd), name))
}
