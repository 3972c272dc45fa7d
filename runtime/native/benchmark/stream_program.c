// The program at the other end of a stream: `pour MIB` writes that much to stdout; `stamp` answers
// each byte that it reads with the time at which it had it (CLOCK_MONOTONIC, ns).
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int Pour(long mib) {
  static char buffer[1 << 16];
  for (long left = mib * 16; left > 0; --left) {
    for (size_t done = 0; done < sizeof(buffer);) {
      const ssize_t n = write(1, buffer + done, sizeof(buffer) - done);
      if (n <= 0) return 1;
      done += (size_t)n;
    }
  }
  return 0;
}

static int Stamp(void) {
  char byte;
  while (read(0, &byte, 1) == 1) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (write(1, &ns, sizeof(ns)) != sizeof(ns)) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "pour") == 0) return Pour(atol(argv[2]));
  if (argc == 2 && strcmp(argv[1], "stamp") == 0) return Stamp();
  return 2;
}
