package berth

// #include "berth.h"
import "C"

import (
	"runtime/cgo"
	"sync"
	"unsafe"
)

// PullProgress is how far a pull is.
type PullProgress struct {
	Layer, Status      string // "" for a line about the whole image; in the engine's words
	Done, Total        int64  // bytes of this layer; 0: not known
	Layers, LayersDone int
	Percent            int // of all bytes known so far
}

// telling is what berthOnPull is given.
type telling struct {
	mutex sync.Mutex
	ended bool
	tell  func(PullProgress)
}

// end has the pull given up, if it is not over; nothing is told from then on.
func (t *telling) end() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.ended = true
}

//export berthOnPull
func berthOnPull(context unsafe.Pointer, it *C.berth_pull_progress) C.int32_t {
	t := cgo.Handle(uintptr(context)).Value().(*telling)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.ended {
		return 1
	}
	if t.tell != nil {
		t.tell(PullProgress{viewed(it.layer, it.layer_size), viewed(it.status, it.status_size), int64(it.done),
			int64(it.total), int(it.layers), int(it.layers_done), int(it.percent)})
	}
	return 0
}
