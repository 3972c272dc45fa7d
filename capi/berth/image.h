/* Images of a container engine. Part of berth.h, whose conventions hold. */
#ifndef BERTH_CAPI_BERTH_IMAGE_H_
#define BERTH_CAPI_BERTH_IMAGE_H_

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `engine` is where it is (unix:///path, tcp://host:port); "": where the docker command finds it.
 */

typedef struct berth_image berth_image;

/* BERTH_NOT_FOUND if the engine does not have it. */
BERTH_API int32_t berth_image_inspect(berth_image** image, const char* engine, size_t engine_size,
                                      const char* name, size_t name_size, berth_error** error);

typedef struct berth_pull_progress {
  const char* layer; /* "" for a line about the whole image */
  size_t layer_size;
  const char* status;
  size_t status_size;
  int64_t done;  /* bytes of this layer */
  int64_t total; /* 0: not known */
  int32_t layers;
  int32_t layers_done;
  int32_t percent; /* of all bytes known so far */
  int32_t reserved;
} berth_pull_progress;
/* Called by the thread that pulls; its texts live for the call. Returns 0 to go on, anything else
   to give up (BERTH_CANCELLED). It must return: no exception, longjmp or panic may leave it. */
typedef int32_t (*berth_on_pull)(void* context, const berth_pull_progress* progress);
/* `on_pull` may be NULL. */
BERTH_API int32_t berth_image_pull(berth_image** image, const char* engine, size_t engine_size,
                                   const char* name, size_t name_size, berth_on_pull on_pull,
                                   void* context, int64_t timeout_ms, berth_error** error);
/* An archive as `docker save` writes it. */
BERTH_API int32_t berth_image_load(const char* engine, size_t engine_size, const char* tar,
                                   size_t tar_size, berth_error** error);
/* A root file system as a tar, as repository:tag. `changes`, which may be NULL, are lines as of a
 * Dockerfile ("ENV A=b"). */
BERTH_API int32_t berth_image_import(berth_image** image, const char* engine, size_t engine_size,
                                     const char* tar, size_t tar_size, const char* name,
                                     size_t name_size, const berth_strings* changes,
                                     berth_error** error);

enum berth_image_text { BERTH_IMAGE_ID = 0, BERTH_IMAGE_ARCHITECTURE = 1 };
BERTH_API const char* berth_image_text(const berth_image* image, int32_t field, size_t* size);
/* KEY=value. */
BERTH_API int32_t berth_image_env(berth_strings** env, const berth_image* image,
                                  berth_error** error);
BERTH_API void berth_image_free(berth_image* image);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_IMAGE_H_ */
