package berth

/*
#cgo pkg-config: berth
#include <stdlib.h>
#include "berth.h"
*/
import "C"

import (
	"context"
	"unsafe"
)

// Code says what kind of failure an Error is. The numbers are those of gRPC.
type Code int32

// Codes. As errors they match with errors.Is: errors.Is(err, berth.NotFound).
const (
	Cancelled          Code = 1
	Unknown            Code = 2
	InvalidArgument    Code = 3
	DeadlineExceeded   Code = 4
	NotFound           Code = 5 // no such session (any more), no such program
	AlreadyExists      Code = 6
	PermissionDenied   Code = 7
	ResourceExhausted  Code = 8
	FailedPrecondition Code = 9 // it has ended, or was taken already
	Aborted            Code = 10
	OutOfRange         Code = 11
	Unimplemented      Code = 12 // this engine cannot
	Internal           Code = 13
	Unavailable        Code = 14 // the engine does not answer: nothing is known, least of all "dead"
	DataLoss           Code = 15
	Unauthenticated    Code = 16
)

// Error makes a Code usable as the target of errors.Is.
func (c Code) Error() string { return C.GoString(C.berth_code_name(C.int32_t(c))) }

// Error is a failed call: its code, and in words the step, the object and the system's reason.
type Error struct {
	Code    Code
	Message string
}

func (e *Error) Error() string { return "berth: " + e.Message }

// Is reports whether target is the error's code, or what the context package calls it.
func (e *Error) Is(target error) bool {
	if code, ok := target.(Code); ok {
		return code == e.Code
	}
	return target == context.DeadlineExceeded && e.Code == DeadlineExceeded
}

// call makes one call, unless ctx is done, and turns its code and error object into an error.
func call(ctx context.Context, f func(**C.berth_error) C.int32_t) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var object *C.berth_error
	code := f(&object)
	if code == C.BERTH_OK {
		return nil
	}
	var size C.size_t
	text := C.berth_error_message(object, &size)
	err := &Error{Code: Code(code), Message: C.GoStringN(text, C.int(size))}
	C.berth_error_free(object)
	return err
}

// aside makes a call that may take long; if ctx is done first, its error is returned and the call goes on by itself.
func aside(ctx context.Context, f func(**C.berth_error) C.int32_t) error {
	if ctx.Done() == nil {
		return call(ctx, f)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- call(context.Background(), f) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// text copies what a getter gives: data first, then its size through the argument.
func text(get func(*C.size_t) *C.char) string {
	var size C.size_t
	data := get(&size)
	return C.GoStringN(data, C.int(size))
}

// viewed copies a text of a structure that a call filled in.
func viewed(data *C.char, size C.size_t) string { return C.GoStringN(data, C.int(size)) }

// view is a Go string as pointer and size, for the time of a call.
func view(text string) (*C.char, C.size_t) {
	if text == "" {
		return nil, 0
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text))
}

// viewBytes is the same of bytes.
func viewBytes(data []byte) (*C.char, C.size_t) {
	return view(unsafe.String(unsafe.SliceData(data), len(data)))
}

// takeString copies and frees a string object.
func takeString(object *C.berth_string) string {
	var size C.size_t
	text := C.berth_string_data(object, &size)
	out := C.GoStringN(text, C.int(size))
	C.berth_string_free(object)
	return out
}

// withStrings has a list of texts for the time of a call.
func withStrings(items []string, use func(*C.berth_strings) error) error {
	var list *C.berth_strings
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_strings_new(&list, e) })
	if err != nil {
		return err
	}
	defer C.berth_strings_free(list)
	for _, item := range items {
		data, size := view(item)
		C.berth_strings_add(list, data, size)
	}
	return use(list)
}

// takeStrings copies and frees a list.
func takeStrings(list *C.berth_strings) []string {
	defer C.berth_strings_free(list)
	out := make([]string, 0, int(C.berth_strings_count(list)))
	for i := C.size_t(0); i < C.berth_strings_count(list); i++ {
		var size C.size_t
		text := C.berth_strings_at(list, i, &size)
		out = append(out, C.GoStringN(text, C.int(size)))
	}
	return out
}
