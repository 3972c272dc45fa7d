/* berth: sessions and processes for programs that must not be trusted or lost. The C interface
   (C11, also C++).

     berth_runtime* runtime = NULL;
     berth_session* session = NULL;
     berth_session_spec* spec = NULL;
     berth_error* error = NULL;
     if (berth_runtime_new(&runtime, NULL, 0, &error) != BERTH_OK) goto failed;
     if (berth_session_spec_new(&spec, "fix-42", 6, &error) != BERTH_OK) goto failed;
     berth_session_spec_set_shell(spec, "make test", 9);
     if (berth_session_create(&session, runtime, spec, &error) != BERTH_OK) goto failed;
     ...
   failed:
     fprintf(stderr, "%s\n", berth_error_message(error, NULL));

   Conventions:

   (1) Every function that can fail returns a code: 0 (BERTH_OK), else one of enum berth_code. Its
   last argument, `error`, may be NULL; if not, a failure stores an error object there, to be freed
   with berth_error_free. An error object that is there already is freed first, so one variable,
   NULL at first, serves many calls. Success leaves it.

   (2) Results come through the first arguments. A failure leaves them as they were. They must not
   be NULL unless it says "may be NULL".

   (3) Objects are handles. berth looks a handle up and never follows it as an address: NULL, a
   handle that was freed, one of another type and one from before a fork() are all answered with
   BERTH_INVALID_ARGUMENT. X_free(NULL), freeing twice and freeing in a forked child do nothing. A
   handle's value is never used again.

   (4) Texts go in as pointer and size, any bytes, not kept after the call; NULL with size 0 is the
   empty text. Texts come out with their size (the `size` argument may be NULL) and a NUL behind
   them, and live until their object is freed. So do the texts of a structure that tells of one item
   of an object, as berth_violation does: each has its size beside it.

   (5) Enumerations are int32_t and start with what 0 means. Later versions may return values that
   are not listed here: treat them as "unknown". A value that berth does not know is answered with
   BERTH_INVALID_ARGUMENT.

   (6) Setters of specs return a code too, but it may be ignored: the spec keeps its first error,
   and the call that takes the spec reports it.

   (7) `timeout_ms` is the longest that a call may take, in milliseconds from now: 0 does not wait,
   -1 waits without limit. Past it the code is BERTH_DEADLINE_EXCEEDED. (One call may take longer:
   berth_sweep_watch_next finishes a sweep that it has begun.) Calls without it end by themselves:
   those that ask a session's engine give up with BERTH_UNAVAILABLE after 20 s (60 s for starts),
   those with `grace_ms` 60 s after the grace.

   (8) Descriptors that come out are the caller's to close, and have FD_CLOEXEC set. Those that go
   in stay the caller's.

   (9) Every call may be made from any thread, any number at once, on one object too: also X_free,
   while other threads use the object; it goes when the last of them returns. Only specs,
   environments and lists are for one thread at a time.

   (10) Nothing aborts, exits, prints, logs, throws, handles signals or starts threads. Without
   memory a call returns BERTH_RESOURCE_EXHAUSTED.

   (11) Functions are never removed or changed, structures never grow; berth_abi_version() goes up
   when something is added, and berth_features() tells what this library was built with.

   (12) What makes a sandbox weak on purpose has a function of its own with "dangerous" in its name,
   so that every use is found by that word.

   Programs include this header; its parts, one for each kind of thing, are in berth/. */
#ifndef BERTH_CAPI_BERTH_H_
#define BERTH_CAPI_BERTH_H_

#include "berth/agent.h"
#include "berth/base.h"
#include "berth/environment.h"
#include "berth/image.h"
#include "berth/machine.h"
#include "berth/policy.h"
#include "berth/port.h"
#include "berth/process.h"
#include "berth/runtime.h"
#include "berth/session.h"
#include "berth/spec.h"
#include "berth/sweep.h"
#include "berth/values.h"

#endif /* BERTH_CAPI_BERTH_H_ */
