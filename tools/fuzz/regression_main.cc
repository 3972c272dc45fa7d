// The main function of a fuzz_test without libFuzzer: runs LLVMFuzzerTestOneInput over each file of
// the command line and over mutations of them, which are the same in each run. The input at hand is
// kept in the file `last_input` of the test's outputs, since a sanitizer or a signal may end the
// process at any moment.

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);

namespace {

constexpr int kMutations = 5000;
constexpr int kMaxSteps = 4;  // changes made to one input
constexpr size_t kMaxSize = 1 << 16;

class LastInput {
 public:
  LastInput() {
    const char* directory = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
    if (directory == nullptr) return;
    path_ = std::string(directory) + "/last_input";
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  }
  // Not reached with an input that ends the process. Bazel packs outputs with zip, where there is
  // one.
  ~LastInput() { unlink(path_.c_str()); }

  void Keep(const std::string& input) {
    if (fd_ < 0) return;
    if (ftruncate(fd_, 0) != 0 || pwrite(fd_, input.data(), input.size(), 0) < 0) {
      std::perror("last_input");
    }
  }

 private:
  std::string path_;
  int fd_ = -1;
};

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {
    if (seeds_.empty()) seeds_.emplace_back();
  }

  std::string Next() {
    std::string input = Seed();
    for (size_t step = 1 + Below(kMaxSteps); step > 0; --step) Change(input);
    if (input.size() > kMaxSize) input.resize(kMaxSize);
    return input;
  }

 private:
  // Not std::uniform_int_distribution, whose numbers differ between standard libraries.
  size_t Below(size_t limit) { return random_() % limit; }
  const std::string& Seed() { return seeds_[Below(seeds_.size())]; }

  void Change(std::string& input) {
    const size_t at = Below(input.size() + 1);
    const size_t length = Below(input.size() - at + 1);
    switch (Below(7)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << Below(8)));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(Below(256));
        break;
      case 2:
        input.insert(at, 1 + Below(8), static_cast<char>(Below(256)));
        break;
      case 3:
        input.erase(at, length);
        break;
      case 4:
        input.insert(at, input.substr(at, length));
        break;
      case 5:
        input.resize(at);
        break;
      default:  // go on with another seed
        const std::string& other = Seed();
        input = input.substr(0, at) + other.substr(Below(other.size() + 1));
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_{20240229};
};

}  // namespace

int main(int argc, char** argv) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  LastInput last;
  const auto run = [&last](const std::string& input) {
    last.Keep(input);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  };

  std::vector<std::string> seeds;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", argv[i]);
      return 2;
    }
    std::fprintf(stderr, "running %s\n", argv[i]);
    run(seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  }
  std::fprintf(stderr, "running %d mutations\n", kMutations);
  Mutator mutator(std::move(seeds));
  for (int i = 0; i < kMutations; ++i) run(mutator.Next());
  return 0;
}
