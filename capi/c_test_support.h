/* What the C tests share: checks, a state directory of their own, reading with a deadline, proof
 * that nothing is left. */
#ifndef BERTH_CAPI_C_TEST_SUPPORT_H_
#define BERTH_CAPI_C_TEST_SUPPORT_H_

#include <stddef.h>
#include <stdint.h>

#include "capi/berth.h"

#define WAIT_MS 30000

/* Ends the program, naming the line, if it does not hold. */
#define CHECK(condition) \
  ((condition) ? (void)0 : fail_check(__FILE__, __LINE__, #condition, last_error))
#define CHECK_CODE(expected, call) check_code(__FILE__, __LINE__, #call, expected, call)
#define CHECK_OK(call) CHECK_CODE(BERTH_OK, call)
#define CHECK_TEXT(expected, actual) check_text(__FILE__, __LINE__, expected, actual)

/* Where CHECKed calls put their errors. One for each thread. */
#ifdef __cplusplus
extern thread_local berth_error* last_error;
#else
extern _Thread_local berth_error* last_error;
#endif

void fail_check(const char* file, int line, const char* what, const berth_error* error)
    __attribute__((noreturn));
void check_code(const char* file, int line, const char* call, int32_t expected, int32_t actual);
void check_text(const char* file, int line, const char* expected, const char* actual);

/* The state directory, fresh; its path stays. And the end of it: fails if a file or a process of it
   is left, but for the leases of owners that were killed, which are the reaper's to remove. */
const char* make_state_dir(void);
void check_nothing_left(const char* state_dir, int killed_owners);

berth_runtime* new_runtime(const char* state_dir);
/* A session that runs `line`; `rows` 0 is pipes. */
berth_session* new_session(berth_runtime* runtime, const char* name, const char* line,
                           uint16_t rows);
berth_process* new_process(berth_runtime* runtime, const char* line);

/* Reads until `text` was seen, or until end of file if it is NULL. To be freed with free(). Closes
 * nothing. */
char* read_until(int fd, const char* text);

#endif /* BERTH_CAPI_C_TEST_SUPPORT_H_ */
