// DockerTest: a RuntimeTest whose sessions run in containers of a real engine, one for the whole
// test binary. When a test ends, no container of ours may be left.
#ifndef BERTH_TESTS_DOCKER_DOCKER_TEST_H_
#define BERTH_TESTS_DOCKER_DOCKER_TEST_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/docker/dockerd.h"
#include "tests/support/runtime_test.h"

namespace berth {

class DockerTest : public RuntimeTest {
 protected:
  static void SetUpTestSuite();
  void SetUp() override;
  void TearDown() override;

  static DockerEngine& engine();

  // With the image, and no network unless the spec names one.
  absl::StatusOr<std::unique_ptr<Session>> Create(SessionSpec spec);
  // Of a shell line; null, and a failed test, if it cannot be had.
  std::unique_ptr<Session> Start(const std::string& name, const std::string& line,
                                 SessionSpec spec = {});
  // What the docker command prints; "" and a failed test if it fails.
  std::string Docker(const std::string& arguments);
  std::string Container(const Session& session);  // its id, by its label
  std::string Everything(Session& session, OutputStream stream = OutputStream::kStdout);
};

}  // namespace berth

#endif  // BERTH_TESTS_DOCKER_DOCKER_TEST_H_
