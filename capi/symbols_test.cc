// The exported symbols of the shared library, the checked-in list and the header say the same.

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/berth.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::ContainerEq;
using ::testing::StartsWith;

// The files that the variable names, one after the other.
std::string ReadFileOf(const char* variable) {
  const char* const names = getenv(variable);
  EXPECT_NE(names, nullptr) << variable;
  std::istringstream paths(names == nullptr ? "" : names);
  std::string all;
  for (std::string path; paths >> path;) {
    std::ifstream in(path, std::ios::binary);
    EXPECT_TRUE(in.good()) << path;
    std::ostringstream text;
    text << in.rdbuf();
    all += std::move(text).str();
  }
  return all;
}

// One file's dynamic section, as far as these tests want it. The library is our own, so it is
// trusted.
class Elf {
 public:
  explicit Elf(std::string image) : image_(std::move(image)) {
    const auto* header = At<Elf64_Ehdr>(0);
    const auto* sections = At<Elf64_Shdr>(header->e_shoff);
    for (int i = 0; i < header->e_shnum; ++i) {
      const Elf64_Shdr& section = sections[i];
      if (section.sh_type == SHT_DYNSYM) {
        const auto* symbols = At<Elf64_Sym>(section.sh_offset);
        for (size_t s = 0; s < section.sh_size / sizeof(Elf64_Sym); ++s) {
          const char* name = Text(sections[section.sh_link], symbols[s].st_name);
          // SHN_ABS: some linkers also export the version's own name.
          const bool defined = symbols[s].st_shndx != SHN_UNDEF && symbols[s].st_shndx != SHN_ABS;
          if (defined) exported_.insert(name);
        }
      }
      if (section.sh_type == SHT_GNU_verdef) {
        uint64_t offset = section.sh_offset;
        for (uint32_t left = section.sh_info; left > 0; --left) {
          const auto* version = At<Elf64_Verdef>(offset);
          const auto* name = At<Elf64_Verdaux>(offset + version->vd_aux);
          // The base is the library's own name.
          if ((version->vd_flags & VER_FLG_BASE) == 0) {
            versions_.insert(Text(sections[section.sh_link], name->vda_name));
          }
          offset += version->vd_next;
        }
      }
      if (section.sh_type == SHT_DYNAMIC) {
        for (const auto* entry = At<Elf64_Dyn>(section.sh_offset); entry->d_tag != DT_NULL;
             ++entry) {
          if (entry->d_tag == DT_SONAME)
            soname_ = Text(sections[section.sh_link], entry->d_un.d_val);
        }
      }
    }
  }

  const std::set<std::string>& exported() const { return exported_; }
  const std::set<std::string>& versions() const { return versions_; }
  const std::string& soname() const { return soname_; }

 private:
  template <typename T>
  const T* At(uint64_t offset) const {
    return reinterpret_cast<const T*>(image_.data() + offset);
  }
  const char* Text(const Elf64_Shdr& strings, uint64_t offset) const {
    return At<char>(strings.sh_offset + offset);
  }

  std::string image_, soname_;
  std::set<std::string> exported_, versions_;
};

std::set<std::string> ListedSymbols() {
  std::set<std::string> listed;
  const std::string text = ReadFileOf("BERTH_SYMBOLS");
  const std::regex line("[^\n]+");
  for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it)
    listed.insert(it->str());
  return listed;
}

TEST(Symbols, TheSharedLibraryExportsTheListAndNothingElse) {
  const Elf library(ReadFileOf("BERTH_SHARED"));
  EXPECT_THAT(library.exported(), ContainerEq(ListedSymbols()));
  EXPECT_EQ(library.soname(), "libberth.so.0");
  EXPECT_THAT(library.versions(), testing::ElementsAre("BERTH_0"));
}

TEST(Symbols, TheHeaderDeclaresTheListAndNothingElse) {
  const std::string header = ReadFileOf("BERTH_HEADERS");
  const std::regex declaration("BERTH_API\\s+[a-z0-9_ *\\n]*?\\b(berth_[a-z0-9_]+)\\(");
  std::set<std::string> declared;
  for (std::sregex_iterator it(header.begin(), header.end(), declaration), end; it != end; ++it) {
    declared.insert((*it)[1]);
  }
  EXPECT_THAT(declared, ContainerEq(ListedSymbols()));
  EXPECT_GT(declared.size(), 250u);
}

// The codes are those of absl::StatusCode, which others know from gRPC.
static_assert(BERTH_OK == 0 && BERTH_NOT_FOUND == 5 && BERTH_UNAUTHENTICATED == 16);
// Their sizes are part of the ABI.
static_assert(sizeof(berth_exit) == 16 && sizeof(berth_stats) == 88 &&
              sizeof(berth_start_timing) == 32 && sizeof(berth_policy_path) == 40 &&
              sizeof(berth_violation) == 72 && sizeof(berth_change) == 48 &&
              sizeof(berth_sweep_item) == 88 && sizeof(berth_ability) == 88 &&
              sizeof(berth_identity) == 72 && sizeof(berth_tracked) == 24 &&
              sizeof(berth_pull_progress) == 64 && sizeof(berth_usage) == 40);

}  // namespace
