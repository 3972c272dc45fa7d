// Images: pulled from a real registry, with progress, and its refusals told clearly; loaded and
// imported. The registry is a few lines of HTTP in this test, on a loopback that it shares with the
// engine alone; the image in it is made by hand, of two layers.

#include "runtime/docker/images.h"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/engine_client.h"
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

// Files named by the sum of their bytes, as a registry has them, and the manifest that names them.
constexpr char kMakeImage[] = R"sh(
set -e; cd "$W"; mkdir -p one/bin two
cp /bin/busybox one/bin/busybox; for a in sh cat echo wc; do ln -s busybox one/bin/$a; done
head -c 8000000 /dev/urandom >two/noise
sum() { echo "sha256:$(sha256sum "$1" | cut -d' ' -f1)"; }
size() { wc -c <"$1"; }
keep() { cp "$1" "$(sum "$1")"; }
for layer in one two; do
  tar -C $layer -cf $layer.tar .; gzip -nk $layer.tar; keep $layer.tar.gz
done
cat >config <<END
{"architecture":"$A","os":"linux","config":{"Env":["PATH=/bin","PULLED=yes"],"Cmd":["sh"]},
"rootfs":{"type":"layers","diff_ids":["$(sum one.tar)","$(sum two.tar)"]}}
END
keep config
layer() {
  echo "{\"mediaType\":\"application/vnd.docker.image.rootfs.diff.tar.gzip\",\
\"size\":$(size $1),\"digest\":\"$(sum $1)\"}"
}
cat >manifest <<END
{"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json",
"config":{"mediaType":"application/vnd.docker.container.image.v1+json","size":$(size config),
"digest":"$(sum config)"},"layers":[$(layer one.tar.gz),$(layer two.tar.gz)]}
END
sum manifest >manifest.sum
)sh";

constexpr char kArchitecture[] =
#if defined(__x86_64__)
    "amd64";
#else
    "arm64";
#endif

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Serves the files of a folder: as it should by default; the repository `secret` asks for a
// password, `cut` ends in the middle of its layers.
class Registry {
 public:
  explicit Registry(const std::string& folder) : folder_(folder) {
    server_.Get("/v2/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("{}", "application/json");
    });
    server_.Get(R"(/v2/([a-z/]+)/manifests/(.+))", [this](const httplib::Request& request,
                                                          httplib::Response& response) {
      const std::string repository = request.matches[1], tag = request.matches[2];
      const std::string sum = ReadFile(folder_ + "/manifest.sum");
      if (repository == "secret") {
        response.status = 401;
        response.set_header("WWW-Authenticate", "Basic realm=\"here\"");
        response.set_content(R"({"errors":[{"code":"UNAUTHORIZED","message":"who are you"}]})",
                             "application/json");
      } else if (repository == "broken") {
        response.status = 500;
      } else if (tag != "1" && tag != sum.substr(0, sum.find('\n'))) {
        response.status = 404;
        response.set_content(R"({"errors":[{"code":"MANIFEST_UNKNOWN","message":"no such tag"}]})",
                             "application/json");
      } else {
        response.set_header("Docker-Content-Digest", sum.substr(0, sum.find('\n')));
        response.set_content(ReadFile(folder_ + "/manifest"),
                             "application/vnd.docker.distribution.manifest.v2+json");
      }
    });
    server_.Get(R"(/v2/([a-z/]+)/blobs/(sha256:[0-9a-f]+))",
                [this](const httplib::Request& request, httplib::Response& response) {
                  const std::string repository = request.matches[1], name = request.matches[2];
                  auto bytes = std::make_shared<std::string>(ReadFile(folder_ + "/" + name));
                  const bool cut = repository == "cut" && bytes->size() > 100000;
                  response.set_content_provider(
                      bytes->size(), "application/octet-stream",
                      [bytes, cut](size_t at, size_t length, httplib::DataSink& sink) {
                        if (cut && at > 50000) return false;
                        return sink.write(bytes->data() + at, std::min<size_t>(length, 32768));
                      });
                });
    server_.set_read_timeout(std::chrono::milliseconds(200));  // engines try TLS first
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  ~Registry() {
    server_.stop();
    thread_.join();
  }
  std::string Name(const std::string& rest) const {
    return absl::StrCat("127.0.0.1:", port_, "/", rest);
  }

 private:
  const std::string folder_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

class ImagesTest : public RuntimeTest {
 protected:
  static void SetUpTestSuite() {
    ASSERT_THAT(EnterOwnNetwork(), IsOk());
    auto engine = DockerEngine::Start({.flags = "--max-download-attempts=1", .own_network = false});
    ASSERT_THAT(engine, IsOk());
    engine_ = engine->release();
    setenv("DOCKER_HOST", engine_->address().c_str(), 1);
  }
  static void TearDownTestSuite() { delete engine_; }

  void SetUp() override {
    ASSERT_NE(engine_, nullptr);
    RuntimeTest::SetUp();
    ASSERT_EQ(system(absl::StrCat("W=", work_, " A=", kArchitecture, "; ", kMakeImage).c_str()), 0);
    registry_ = std::make_unique<Registry>(work_);
    client_ = std::make_unique<EngineClient>(*EngineAddress::Resolve());
    images_ = std::make_unique<Images>(client_.get());
  }
  void TearDown() override {
    registry_.reset();
    RuntimeTest::TearDown();
    EXPECT_THAT(
        engine_->Shell("docker images --format '{{.Repository}}:{{.Tag}}' | grep -v ^bb:1 | "
                       "xargs -r docker rmi -f >/dev/null; docker ps -aq"),
        IsOkAndHolds(""));
  }

  static DockerEngine* engine_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<EngineClient> client_;
  std::unique_ptr<Images> images_;
};
DockerEngine* ImagesTest::engine_ = nullptr;

TEST_F(ImagesTest, ARegistryIsPulledFromWithTheProgressOfEachLayer) {
  const std::string name = registry_->Name("hand/made:1");
  EXPECT_THAT(images_->Exists(name), IsOkAndHolds(false));
  int last = 0, layers = 0, layers_done = 0;
  bool partial = false, whole = false;
  auto image = images_->Pull(name, [&](const PullProgress& progress) {
    layers = progress.layers;
    layers_done = progress.layers_done;
    partial |= progress.total > 0 && progress.done > 0 && progress.done < progress.total;
    whole |= progress.total > 0 && progress.done == progress.total;
    last = progress.percent;
    return true;
  });
  ASSERT_THAT(image, IsOk());
  EXPECT_EQ(layers, 2);
  EXPECT_EQ(layers_done, 2);
  EXPECT_EQ(last, 100);
  EXPECT_TRUE(partial) << "never in the middle of a layer";
  EXPECT_TRUE(whole);
  EXPECT_THAT(image->env, testing::Contains("PULLED=yes"));
  EXPECT_THAT(images_->Exists(name), IsOkAndHolds(true));
  auto again = images_->Inspect(image->id);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->id, image->id);
}

TEST_F(ImagesTest, ASessionIsPulledIfItIsMissing) {
  auto session = runtime_->CreateSession(
      {.name = "pulled",
       .backend = "docker",
       .command = Command::Shell("echo $PULLED; wc -c </noise"),
       .env = Env::Inherit(),
       .pty = false,
       .container = {.image = registry_->Name("hand/made:1"), .network = "none"}});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(ReadAll(output->fd.get()), "yes\n8000000\n");
}

TEST_F(ImagesTest, ARegistryThatSaysNoIsAnErrorThatSaysWhy) {
  const auto pull = [&](const std::string& name) {
    return images_->Pull(registry_->Name(name), nullptr).status();
  };
  EXPECT_THAT(pull("hand/made:2"),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("hand/made:2"))));
  EXPECT_THAT(pull("secret:1"),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("docker login")));
  EXPECT_THAT(pull("cut:1"), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cut:1")));
  EXPECT_THAT(images_->Pull("127.0.0.1:1/nobody:1", nullptr),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("refused")));
  EXPECT_THAT(images_->Pull("a b", nullptr), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(engine_->Shell("docker images -q 127.0.0.1:*/*"), IsOkAndHolds(""));
}

TEST_F(ImagesTest, AnArchiveIsLoadedAndARootFileSystemImported) {
  ASSERT_THAT(engine_->Shell(absl::StrCat("docker tag bb:1 saved:1; docker save saved:1 >", work_,
                                          "/saved.tar; docker rmi saved:1 >/dev/null")),
              IsOk());
  EXPECT_THAT(images_->Exists("saved:1"), IsOkAndHolds(false));
  EXPECT_THAT(images_->Load(ReadFile(work_ + "/saved.tar")), IsOk());
  EXPECT_THAT(images_->Exists("saved:1"), IsOkAndHolds(true));
  EXPECT_FALSE(images_->Load("this is no archive").ok());

  auto imported = images_->Import(ReadFile(work_ + "/one.tar"), "root:1", {"ENV IMPORTED=yes"});
  ASSERT_THAT(imported, IsOk());
  EXPECT_THAT(imported->env, testing::Contains("IMPORTED=yes"));
  EXPECT_EQ(images_->Inspect("root:1")->id, imported->id);
  EXPECT_FALSE(images_->Import("this is no archive", "broken:1").ok());
}

}  // namespace
}  // namespace berth
