/* How long a start takes, from a small C program: start COUNT STATE_DIR prints the median in
 * nanoseconds. */
#include <berth.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare(const void* a, const void* b) {
  const int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int count = atoi(argv[1]);
  int64_t* times = calloc((size_t)count, sizeof(*times));
  berth_runtime* runtime = NULL;
  berth_process_spec* spec = NULL;
  if (times == NULL || berth_runtime_new(&runtime, argv[2], strlen(argv[2]), NULL) != BERTH_OK)
    return 1;
  if (berth_process_spec_new(&spec, NULL) != BERTH_OK) return 1;
  berth_process_spec_add_arg(spec, "/bin/true", 9);
  berth_process_spec_set_stdio(spec, BERTH_STDOUT, BERTH_STDIO_NULL, -1);
  berth_process_spec_set_stdio(spec, BERTH_STDERR, BERTH_STDIO_NULL, -1);
  for (int i = -20; i < count; ++i) { /* the first ones warm up */
    berth_process* process = NULL;
    const int64_t begin = now();
    if (berth_process_spawn(&process, runtime, spec, NULL) != BERTH_OK) return 1;
    if (i >= 0) times[i] = now() - begin;
    if (berth_process_wait(NULL, process, -1, NULL) != BERTH_OK) return 1;
    berth_process_free(process);
  }
  qsort(times, (size_t)count, sizeof(*times), compare);
  printf("%lld\n", (long long)times[count / 2]);
  berth_runtime_free(runtime);
  return 0;
}
