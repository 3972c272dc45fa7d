// unsanitized_static_binary and embed_binary: the carried binary runs from memory and needs nothing
// of the machine.

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/toolchain/greeter_image.h"

namespace berth {
namespace {

TEST(StaticBinary, RunsFromMemoryWithoutSanitizerInAnyConfiguration) {
  const std::string_view image = GreeterImage();
  const int memory = memfd_create("greeter", MFD_CLOEXEC);
  ASSERT_GE(memory, 0);
  ASSERT_EQ(write(memory, image.data(), image.size()), static_cast<ssize_t>(image.size()));
  int out[2];
  ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);

  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    dup2(out[1], 1);
    char* const arguments[] = {const_cast<char*>("greeter"), nullptr};
    char* const environment[] = {nullptr};
    fexecve(memory, arguments, environment);
    _exit(99);
  }
  close(out[1]);
  char text[64] = {};
  EXPECT_EQ(read(out[0], text, sizeof(text) - 1), 5);
  EXPECT_STREQ(text, "ahoy\n");
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "3: it was compiled with the flags of the test";
  close(out[0]);
  close(memory);
}

TEST(StaticBinary, HasNoInterpreterAndNoSymbolTable) {
  const std::string_view image = GreeterImage();
  ASSERT_GT(image.size(), sizeof(Elf64_Ehdr));
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof(header));
  ASSERT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    EXPECT_NE(segment.p_type, static_cast<Elf64_Word>(PT_INTERP));
  }
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof(section), sizeof(section));
    EXPECT_NE(section.sh_type, static_cast<Elf64_Word>(SHT_SYMTAB));
  }
}

}  // namespace
}  // namespace berth
