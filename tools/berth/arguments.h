// Arguments: what a command takes. One description, from which the command line is parsed (parse.h)
// and from which --help, the man pages and completions are written.
//
//   arguments->Session(&options->name);
//   arguments->Flag("-f,--follow", &options->follow, "Go on until the session has ended");
//   arguments->Text("--log", &options->log, "FILE", "Write all output to this file too")
//       .Completes(Completion::kFile);
//
// The targets of values must outlive the parsing; the values of options that are not given stay.
#ifndef BERTH_TOOLS_BERTH_ARGUMENTS_H_
#define BERTH_TOOLS_BERTH_ARGUMENTS_H_

#include <stdint.h>

#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace berth::cli {

// What a command takes besides options and named arguments. Such words reach it byte for byte, as
// Context::words.
enum class Words : uint8_t {
  kNone,
  kCommand,  // a command to run: begins behind `--`, or at the first word that is no option
  kText,     // words; options may stand between them until `--`
};

// What a shell offers for a value.
enum class Completion : uint8_t { kNothing, kSession, kFile, kFolder, kRun };

struct Argument {
  // Takes one value; says why it cannot be taken, or nothing.
  using Set = std::function<std::string(const std::string& value)>;

  Argument& Required() {
    required = true;
    return *this;
  }
  Argument& Completes(Completion with) {
    completion = with;
    return *this;
  }
  // By the names of one that was added before.
  Argument& Excludes(std::string other) {
    excluded = std::move(other);
    return *this;
  }
  bool named() const { return names[0] != '-'; }  // an argument by its place, not an option
  std::vector<std::string> Names() const;         // "-e", "--set"

  std::string names;  // "-e,--set", or "NAME" of an argument by its place
  std::string type;   // of the value, for people: "FILE"; "" for a flag
  std::string help;
  Set set;
  std::vector<std::string> choices = {};
  std::string excluded = {};  // names of one that cannot be given too
  Completion completion = Completion::kNothing;
  bool required = false;
  bool repeated = false;
};

class Arguments {
 public:
  Argument& Add(std::string names, std::string type, std::string help, Argument::Set set);

  Argument& Flag(std::string names, bool* value, std::string help);
  Argument& Text(std::string names, std::string* value, std::string type, std::string help);
  // May be repeated.
  Argument& Texts(std::string names, std::vector<std::string>* values, std::string type,
                  std::string help);
  // One of a few words.
  Argument& Choice(std::string names, std::string* value, std::vector<std::string> choices,
                   std::string help);
  Argument& Decimal(std::string names, double* value, std::string type, std::string help);
  template <typename T>
  Argument& Number(std::string names, T* value, std::string type, std::string help, T least = 0) {
    static_assert(std::is_integral_v<T> && sizeof(T) <= sizeof(int64_t));
    constexpr T kMost = std::numeric_limits<T>::max();
    return Add(std::move(names), std::move(type), std::move(help),
               [value, least](const std::string& text) {
                 int64_t number = 0;
                 std::string why = ParseNumber(text, least, static_cast<int64_t>(kMost), &number);
                 if (why.empty()) *value = static_cast<T>(number);
                 return why;
               });
  }
  // NAME, required: a session by its name or handle.
  Argument& Session(std::string* value);

  const std::deque<Argument>& all() const { return all_; }

 private:
  static std::string ParseNumber(const std::string& text, int64_t least, int64_t most,
                                 int64_t* number);

  std::deque<Argument> all_;  // whose elements stay where they are
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_ARGUMENTS_H_
