#include "tools/berth/arguments.h"

#include <stdint.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace berth::cli {

std::vector<std::string> Argument::Names() const { return absl::StrSplit(names, ','); }

Argument& Arguments::Add(std::string names, std::string type, std::string help, Argument::Set set) {
  return all_.emplace_back(Argument{.names = std::move(names),
                                    .type = std::move(type),
                                    .help = std::move(help),
                                    .set = std::move(set)});
}

Argument& Arguments::Flag(std::string names, bool* value, std::string help) {
  return Add(std::move(names), "", std::move(help), [value](const std::string&) {
    *value = true;
    return std::string();
  });
}

Argument& Arguments::Text(std::string names, std::string* value, std::string type,
                          std::string help) {
  return Add(std::move(names), std::move(type), std::move(help), [value](const std::string& text) {
    *value = text;
    return std::string();
  });
}

Argument& Arguments::Texts(std::string names, std::vector<std::string>* values, std::string type,
                           std::string help) {
  Argument& argument =
      Add(std::move(names), std::move(type), std::move(help), [values](const std::string& text) {
        values->push_back(text);
        return std::string();
      });
  argument.repeated = true;
  return argument;
}

Argument& Arguments::Choice(std::string names, std::string* value, std::vector<std::string> choices,
                            std::string help) {
  Argument& argument = Text(std::move(names), value, absl::StrJoin(choices, "|"), std::move(help));
  argument.choices = choices;
  argument.set = [value, choices = std::move(choices)](const std::string& text) -> std::string {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      return absl::StrCat("'", text, "' is none of ", absl::StrJoin(choices, ", "));
    }
    *value = text;
    return "";
  };
  return argument;
}

Argument& Arguments::Decimal(std::string names, double* value, std::string type, std::string help) {
  return Add(std::move(names), std::move(type), std::move(help),
             [value](const std::string& text) -> std::string {
               double number;
               if (!absl::SimpleAtod(text, &number) || !(number >= 0)) {
                 return absl::StrCat("'", text, "' is no number; write 2 or 0.5");
               }
               *value = number;
               return "";
             });
}

Argument& Arguments::Session(std::string* value) {
  return Text("NAME", value, "", "Session").Required().Completes(Completion::kSession);
}

std::string Arguments::ParseNumber(const std::string& text, int64_t least, int64_t most,
                                   int64_t* number) {
  if (!absl::SimpleAtoi(text, number)) return absl::StrCat("'", text, "' is no whole number");
  if (*number < least || *number > most) {
    return absl::StrCat(text, " is not between ", least, " and ", most);
  }
  return "";
}

}  // namespace berth::cli
