package berth

/*
#include "berth.h"

// Exported by pull.go; cgo knows no const.
int32_t berthOnPull(void* context, berth_pull_progress* progress);

static int32_t on_pull(void* context, const berth_pull_progress* progress) {
  return berthOnPull(context, (berth_pull_progress*)progress);
}

static int32_t pull(berth_image** image, const char* engine, size_t engine_size, const char* name,
                    size_t name_size, uintptr_t context, int64_t timeout_ms, berth_error** error) {
  return berth_image_pull(image, engine, engine_size, name, name_size, on_pull, (void*)context,
                          timeout_ms, error);
}
*/
import "C"

import (
	"context"
	"runtime/cgo"
)

// ImageInfo is an image of a container engine.
type ImageInfo struct {
	ID, Architecture string
	Env              []string // KEY=value
}

// InspectImage asks the engine ("" as the docker command finds it). NotFound if it does not have the image.
func InspectImage(ctx context.Context, engine, name string) (ImageInfo, error) {
	return image(ctx, func(raw **C.berth_image, e **C.berth_error) C.int32_t {
		at, atSize := view(engine)
		n, nSize := view(name)
		return C.berth_image_inspect(raw, at, atSize, n, nSize, e)
	})
}

// PullImage pulls an image. If tell is not nil it is told how far it is, until PullImage returns. If ctx is done first,
// the pull is given up.
func PullImage(ctx context.Context, engine, name string, tell func(PullProgress)) (ImageInfo, error) {
	limit, err := timeout(ctx)
	if err != nil {
		return ImageInfo{}, err
	}
	telling := &telling{tell: tell}
	defer telling.end()
	return image(ctx, func(raw **C.berth_image, e **C.berth_error) C.int32_t {
		handle := cgo.NewHandle(telling)
		defer handle.Delete()
		at, atSize := view(engine)
		n, nSize := view(name)
		return C.pull(raw, at, atSize, n, nSize, C.uintptr_t(handle), C.int64_t(limit), e)
	})
}

// LoadImage loads an archive as docker save writes it. If ctx is done first, that goes on by itself.
func LoadImage(ctx context.Context, engine string, tar []byte) error {
	return aside(ctx, func(e **C.berth_error) C.int32_t {
		at, atSize := view(engine)
		data, size := viewBytes(tar)
		return C.berth_image_load(at, atSize, data, size, e)
	})
}

// ImportImage makes an image of a root file system in a tar, as repository:tag. changes are lines as of a Dockerfile
// ("ENV A=b"). If ctx is done first, that goes on by itself.
func ImportImage(ctx context.Context, engine string, tar []byte, name string, changes ...string) (ImageInfo, error) {
	return image(ctx, func(raw **C.berth_image, e **C.berth_error) C.int32_t {
		at, atSize := view(engine)
		data, size := viewBytes(tar)
		n, nSize := view(name)
		code := C.int32_t(C.BERTH_RESOURCE_EXHAUSTED)
		withStrings(changes, func(list *C.berth_strings) error {
			code = C.berth_image_import(raw, at, atSize, data, size, n, nSize, list, e)
			return nil
		})
		return code
	})
}

// image is the one that a call gives, which may take long.
func image(ctx context.Context, give func(**C.berth_image, **C.berth_error) C.int32_t) (ImageInfo, error) {
	var info ImageInfo
	err := aside(ctx, func(e **C.berth_error) C.int32_t {
		var raw *C.berth_image
		code := give(&raw, e)
		if code == C.BERTH_OK {
			info = takeImage(raw)
		}
		return code
	})
	if err != nil {
		return ImageInfo{}, err
	}
	return info, nil
}

func takeImage(raw *C.berth_image) ImageInfo {
	defer C.berth_image_free(raw)
	info := ImageInfo{
		ID:           text(func(size *C.size_t) *C.char { return C.berth_image_text(raw, C.BERTH_IMAGE_ID, size) }),
		Architecture: text(func(size *C.size_t) *C.char { return C.berth_image_text(raw, C.BERTH_IMAGE_ARCHITECTURE, size) }),
	}
	var env *C.berth_strings
	if C.berth_image_env(&env, raw, nil) == C.BERTH_OK {
		info.Env = takeStrings(env)
	}
	return info
}
