// A watch in a process of its own, which tells what each of its sweeps came to. For tests.
#ifndef BERTH_REAPER_TEST_WATCH_H_
#define BERTH_REAPER_TEST_WATCH_H_

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "reaper/engine.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "reaper/watch.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth::reaper {

class TestWatch {
 public:
  // `make_engines` is called in that process.
  template <typename MakeEngines>
  TestWatch(const Store& store, const Options& options, MakeEngines make_engines)
      : pipe_(), child_([&](int ready) {
          SayReady(ready);
          const Engines engines = make_engines();
          int never[2];
          if (pipe(never) != 0) _exit(1);
          const absl::Status watched = Watch(
              store, options, {}, engines, never[0], [this](const absl::StatusOr<Report>& report) {
                const std::string line =
                    report.ok() ? absl::StrCat("done ", report->done, " failed ", report->failed,
                                               " kept ", report->kept, "\n")
                                : absl::StrCat(report.status().ToString(), "\n");
                if (write(pipe_.writes.get(), line.data(), line.size()) < 0) _exit(2);
              });
          fprintf(stderr, "%s\n", watched.ToString().c_str());
          _exit(3);
        }) {}

  // What the next sweep came to: "done 0 failed 0 kept 1". "" and a failed test if there is none.
  std::string Next() {
    std::string line;
    const absl::Time deadline = absl::Now() + absl::Seconds(60);
    while (WaitFd(pipe_.reads.get(), POLLIN, deadline, "wait for a sweep").ok()) {
      char byte;
      if (read(pipe_.reads.get(), &byte, 1) != 1) break;
      if (byte == '\n') return line;
      line += byte;
    }
    ADD_FAILURE() << "no sweep in time";
    return "";
  }
  // Sweeps until one says that. Others may come before it: one event more or less.
  void Await(const std::string& wanted) {
    for (int tries = 0; tries < 20; ++tries) {
      const std::string line = Next();
      if (line == wanted || line.empty()) return;
      EXPECT_EQ(line.find("failed 0"), line.find("failed")) << line;
    }
    ADD_FAILURE() << "no sweep said '" << wanted << "'";
  }

 private:
  struct Pipe {
    UniqueFd reads, writes;
    Pipe() {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0) abort();
      reads.reset(ends[0]);
      writes.reset(ends[1]);
    }
  };
  Pipe pipe_;
  const TestChild child_;
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_TEST_WATCH_H_
