// ESCAPES row 27, the failing allocator: whichever allocation of a call fails, the call returns
// BERTH_RESOURCE_EXHAUSTED with an error, its results are untouched, and it works again afterwards.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <functional>
#include <new>
#include <string>

#include "capi/berth.h"
#include "gtest/gtest.h"

extern "C" {
#include "capi/c_test_support.h"
}

namespace {

// The allocation of this thread that fails: 0 is none, 1 is the next.
thread_local int64_t failing = 0;

void* Allocate(size_t size) {
  if (failing > 0 && --failing == 0) throw std::bad_alloc();
  void* const memory = malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t) noexcept { free(memory); }

namespace {

class OutOfMemory : public testing::Test {
 protected:
  void SetUp() override {
    state_dir_ = make_state_dir();
    runtime_ = new_runtime(state_dir_);
  }
  void TearDown() override {
    berth_runtime_free(runtime_);
    check_nothing_left(state_dir_, 0);
  }

  // Fails the call's first allocation, then its second, …, until it needs no more of them.
  static void FailEach(const char* what, const std::function<int32_t(berth_error**)>& call) {
    for (int n = 1;; ++n) {
      ASSERT_LT(n, 2000) << what;
      berth_error* error = nullptr;
      failing = n;
      const int32_t code = call(&error);
      const bool failed = failing == 0;
      failing = 0;
      if (!failed) {
        EXPECT_EQ(code, BERTH_OK) << what << ": " << berth_error_message(error, nullptr);
        return;
      }
      if (code == BERTH_OK) return;  // it could do without
      EXPECT_EQ(code, BERTH_RESOURCE_EXHAUSTED) << what << ", allocation " << n;
      EXPECT_EQ(berth_error_code(error), BERTH_RESOURCE_EXHAUSTED);
      EXPECT_STRNE(berth_error_message(error, nullptr), "");
      berth_error_free(error);
    }
  }

  // The same for a call that is wrong: it is, or there is no memory to say so.
  static void FailEachError(const std::function<int32_t(berth_error**)>& call) {
    for (int n = 1; n < 50; ++n) {
      berth_error* error = nullptr;
      failing = n;
      const int32_t code = call(&error);
      const bool failed = failing == 0;
      failing = 0;
      EXPECT_EQ(code, berth_error_code(error));
      EXPECT_TRUE(code == BERTH_INVALID_ARGUMENT || (failed && code == BERTH_RESOURCE_EXHAUSTED));
      berth_error_free(error);
      if (!failed) return;
    }
  }

  const char* state_dir_ = nullptr;
  berth_runtime* runtime_ = nullptr;
};

TEST_F(OutOfMemory, MakingARuntimeFailsAndThenWorks) {
  berth_runtime* runtime = nullptr;
  FailEach("runtime_new", [&](berth_error** error) {
    return berth_runtime_new(&runtime, state_dir_, strlen(state_dir_), error);
  });
  berth_runtime_free(runtime);
}

// Of what is below the C ABI, not yet: create, spawn and find use maps of Abseil's, which an
// allocation that fails leaves broken, and records are read by a JSON parser that ends the program.
TEST_F(OutOfMemory, CallsOfAProcessFailAndThenWork) {
  berth_process_spec* spec = nullptr;
  FailEach("process_spec_new",
           [&](berth_error** error) { return berth_process_spec_new(&spec, error); });
  berth_process_spec_set_shell(spec, "exit 3", 6);
  berth_process* process = nullptr;
  ASSERT_EQ(berth_process_spawn(&process, runtime_, spec, nullptr), BERTH_OK);
  berth_exit status = {};
  EXPECT_EQ(berth_process_wait(&status, process, WAIT_MS, nullptr), BERTH_OK);
  berth_string* text = nullptr;
  FailEach("describe",
           [&](berth_error** error) { return berth_exit_describe(&text, &status, error); });
  EXPECT_STREQ(berth_string_data(text, nullptr), "exited with code 3");
  berth_string_free(text);
  // The error itself cannot be made.
  FailEachError(
      [&](berth_error** error) { return berth_process_wait(&status, nullptr, 0, error); });
  berth_process_free(process);
  berth_process_spec_free(spec);
}

TEST_F(OutOfMemory, CallsOfASessionFailAndThenWork) {
  berth_session_spec* spec = nullptr;
  FailEach("session_spec_new",
           [&](berth_error** error) { return berth_session_spec_new(&spec, "oom", 3, error); });
  berth_session_spec_set_shell(spec, "exec cat", 8);
  berth_session* session = nullptr;
  ASSERT_EQ(berth_session_create(&session, runtime_, spec, nullptr), BERTH_OK);
  berth_session_spec_free(spec);
  FailEach("send", [&](berth_error** error) {
    return berth_session_send(nullptr, session, "hello", 5, nullptr, WAIT_MS, error);
  });
  berth_string* screen = nullptr;
  FailEach("capture", [&](berth_error** error) {
    return berth_session_capture(&screen, session, 0, 0, error);
  });
  berth_string_free(screen);
  berth_stats stats;
  FailEach("stats",
           [&](berth_error** error) { return berth_session_stats(&stats, session, error); });
  FailEach("destroy",
           [&](berth_error** error) { return berth_session_destroy(session, 0, error); });
  berth_session_free(session);
}

// The setter has no error object of its own: the call that takes the spec says it.
TEST_F(OutOfMemory, ASetterKeepsItForTheCallThatTakesTheSpec) {
  berth_session_spec* spec = nullptr;
  ASSERT_EQ(berth_session_spec_new(&spec, "oom", 3, nullptr), BERTH_OK);
  const std::string line(1000, 'x');
  failing = 1;
  EXPECT_EQ(berth_session_spec_set_shell(spec, line.data(), line.size()), BERTH_RESOURCE_EXHAUSTED);
  failing = 0;
  berth_session* session = nullptr;
  EXPECT_EQ(berth_session_create(&session, runtime_, spec, nullptr), BERTH_RESOURCE_EXHAUSTED);
  EXPECT_EQ(session, nullptr);
  berth_session_spec_free(spec);
}

}  // namespace
