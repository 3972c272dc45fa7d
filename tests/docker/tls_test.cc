// An engine over TCP with TLS on both sides, as DOCKER_TLS_VERIFY and contexts name it. The engine
// and this test share a network of their own, in which there is nothing but loopback.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/docker/dockerd.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// An authority with a certificate for the engine and one for us; and another authority, of which
// the engine knows nothing.
constexpr char kMakeCertificates[] = R"sh(
set -e; exec 2>"$C/log"
authority() {
  mkdir -p "$C/$1"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
    -keyout "$C/$1/authority.pem" -out "$C/$1/ca.pem"
}
signed() { # AUTHORITY FILE EXTENSION
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" \
    -keyout "$C/$1/$2key.pem" -out "$C/$1/$2.csr"
  echo "$3" >"$C/$1/$2.ext"
  openssl x509 -req -days 2 -in "$C/$1/$2.csr" -CA "$C/$1/ca.pem" -CAkey "$C/$1/authority.pem" \
    -CAcreateserial -extfile "$C/$1/$2.ext" -out "$C/$1/$2cert.pem"
}
for each in good other; do
  authority $each
  signed $each "" extendedKeyUsage=clientAuth
done
signed good server "subjectAltName=IP:127.0.0.1
extendedKeyUsage=serverAuth"
mkdir "$C/none"; cp "$C/good/ca.pem" "$C/none"
mkdir "$C/mixed"; cp "$C/other/ca.pem" "$C/good/cert.pem" "$C/good/key.pem" "$C/mixed"
mkdir "$C/stranger"; cp "$C/good/ca.pem" "$C/other/cert.pem" "$C/other/key.pem" "$C/stranger"
)sh";

class Tls : public RuntimeTest {
 protected:
  static void SetUpTestSuite() {
    ASSERT_THAT(EnterOwnNetwork(), IsOk());
    char folder[] = "/dev/shm/berth-tlsXXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    certificates_ = new std::string(folder);
    ASSERT_EQ(system(absl::StrCat("C=", folder, "; ", kMakeCertificates).c_str()), 0);
    auto engine = DockerEngine::Start(
        {.flags = absl::StrCat("-H tcp://127.0.0.1:2376 --tlsverify --tlscacert ", folder,
                               "/good/ca.pem --tlscert ", folder, "/good/servercert.pem --tlskey ",
                               folder, "/good/serverkey.pem"),
         .own_network = false});
    ASSERT_THAT(engine, IsOk());
    engine_ = engine->release();
  }
  static void TearDownTestSuite() {
    delete engine_;
    if (certificates_ != nullptr) std::filesystem::remove_all(*certificates_);
    delete certificates_;
  }
  void SetUp() override {
    ASSERT_NE(engine_, nullptr);
    RuntimeTest::SetUp();
    for (const char* name : {"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS", "DOCKER_TLS_VERIFY"})
      unsetenv(name);
    setenv("DOCKER_CONFIG", work_.c_str(), 1);
  }
  // As a person would set it.
  static void Use(const std::string& certificates, const char* host = "tcp://127.0.0.1:2376") {
    setenv("DOCKER_HOST", host, 1);
    setenv("DOCKER_TLS_VERIFY", "1", 1);
    setenv("DOCKER_CERT_PATH", absl::StrCat(*certificates_, "/", certificates).c_str(), 1);
  }
  absl::StatusOr<std::unique_ptr<Session>> Create(const std::string& line) {
    return runtime_->CreateSession(
        {.name = "secret",
         .backend = "docker",
         .command = Command::Shell(line),
         .pty = false,
         .container = {.image = DockerEngine::kImage, .network = "none"}});
  }
  // Streams both ways, an exec, the end and the removal.
  void ExpectASessionWorks() {
    auto session = Create("read line; echo \"got $line\"; exit 7");
    ASSERT_THAT(session, IsOk());
    auto exec = (*session)->Exec({.command = Command::Shell("head -c 3000000 /dev/zero; exit 5")});
    ASSERT_THAT(exec, IsOk());
    auto bytes = (*exec)->TakeStdout();
    ASSERT_THAT(bytes, IsOk());
    EXPECT_EQ(ReadAll(bytes->get()).size(), 3000000u);
    EXPECT_THAT((*exec)->Wait(Soon()), IsOkAndHolds(ExitStatus{5, 0, EndReason::kExited}));
    EXPECT_EQ((*session)->CheckLiveness().liveness, Liveness::kAlive);
    EXPECT_THAT((*session)->GetStats(), IsOk());
    ASSERT_THAT((*session)->Send({.text = "word"}), IsOk());
    auto output = (*session)->OpenOutput({});
    ASSERT_THAT(output, IsOk());
    EXPECT_EQ(ReadAll(output->fd.get()), "got word\n");
    EXPECT_THAT((*session)->Wait(Soon()), IsOkAndHolds(ExitStatus{7, 0, EndReason::kExited}));
    // By its handle alone, whatever the variables say now.
    const std::string handle = (*session)->handle();
    unsetenv("DOCKER_HOST");
    unsetenv("DOCKER_TLS_VERIFY");
    unsetenv("DOCKER_CONTEXT");
    auto again = OtherRuntime();
    auto opened = again->Open(handle);
    ASSERT_THAT(opened, IsOk());
    EXPECT_THAT((*opened)->Destroy(absl::ZeroDuration()), IsOk());
    EXPECT_THAT(engine_->Shell("docker ps -aq"), IsOkAndHolds(""));
  }

  static DockerEngine* engine_;
  static std::string* certificates_;
};
DockerEngine* Tls::engine_ = nullptr;
std::string* Tls::certificates_ = nullptr;

TEST_F(Tls, ASessionWorksByTheVariables) {
  Use("good");
  ExpectASessionWorks();
}

TEST_F(Tls, ASessionWorksByAContext) {
  const std::string id(64, 'a');
  namespace fs = std::filesystem;
  fs::create_directories(work_ + "/contexts/meta/" + id);
  fs::create_directories(work_ + "/contexts/tls/" + id + "/docker");
  std::ofstream(work_ + "/contexts/meta/" + id + "/meta.json")
      << R"({"Name":"far","Endpoints":{"docker":{"Host":"tcp://127.0.0.1:2376"}}})";
  for (const char* name : {"ca.pem", "cert.pem", "key.pem"}) {
    fs::copy(absl::StrCat(*certificates_, "/good/", name),
             work_ + "/contexts/tls/" + id + "/docker/" + name);
  }
  setenv("DOCKER_CONTEXT", "far", 1);
  ExpectASessionWorks();
}

TEST_F(Tls, StopEndsASessionThatIsDeafToTerm) {
  Use("good");
  auto session = Create("trap '' TERM; echo up; while :; do sleep 1000; done");
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "up");
  auto end = (*session)->Stop(absl::Milliseconds(200));
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->reason, EndReason::kStopped);
  EXPECT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
}

TEST_F(Tls, AnEngineOfAnotherAuthorityIsNotTalkedTo) {
  Use("mixed");
  EXPECT_THAT(Create("true"), StatusIs(absl::StatusCode::kUnavailable,
                                       AllOf(HasSubstr("certificate"), HasSubstr("ca.pem"))));
}

TEST_F(Tls, ACertificateForAnotherHostIsRefused) {
  Use("good", "tcp://localhost:2376");
  EXPECT_THAT(Create("true"), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("localhost")));
}

TEST_F(Tls, WithoutACertificateOfOursItIsSaidWhichIsMissing) {
  Use("none");
  EXPECT_THAT(Create("true"), StatusIs(absl::StatusCode::kUnavailable,
                                       AllOf(HasSubstr("there is no"), HasSubstr("cert.pem"))));
}

TEST_F(Tls, ACertificateThatTheEngineDoesNotKnowIsToldSo) {
  Use("stranger");
  EXPECT_THAT(Create("true"), StatusIs(absl::StatusCode::kUnavailable,
                                       AllOf(HasSubstr("may not take"), HasSubstr("cert.pem"))));
}

TEST_F(Tls, WithoutTlsTheEngineIsNoEngine) {
  setenv("DOCKER_HOST", "tcp://127.0.0.1:2376", 1);
  EXPECT_FALSE(Create("true").ok());
}

}  // namespace
}  // namespace berth
