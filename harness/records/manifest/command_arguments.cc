// Names of variables and arguments.
#include "harness/records/manifest/command_arguments.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace rharness {
namespace {

std::string Normal(std::string_view name) {
  const std::size_t begin = std::min(name.find_first_not_of('-'), name.size());
  std::string normal(name.substr(begin));
  for (char& c : normal) {
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return normal;
}

bool IsOption(std::string_view argument) {
  return argument.size() > 1 && argument.front() == '-' &&
         std::isdigit(static_cast<unsigned char>(argument[1])) == 0 && argument[1] != '.';
}

// The arguments by name; words besides options and "lr=0.1" by their number among them. The value
// of an option without one is empty, as is that of "--lr=". Nothing if a name repeats.
using Named = std::map<std::string, FoundArgument>;
std::optional<Named> ByName(const std::vector<std::string>& command) {
  Named named;
  std::size_t words = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& text = command[i];
    const auto equals = text.find('=');
    std::string name = std::to_string(words);
    FoundArgument found{.argument = i, .prefix = "", .value = text};
    if (equals != text.npos && equals > 0) {
      name = "-" + Normal(text.substr(0, equals));
      found = {i, text.substr(0, equals + 1), text.substr(equals + 1)};
    } else if (IsOption(text) && i + 1 < command.size() && !IsOption(command[i + 1])) {
      name = "-" + Normal(text);
      found = {++i, "", command[i]};
    } else if (IsOption(text)) {
      name = "-" + Normal(text) + " alone";
    } else {
      ++words;
    }
    if (!named.emplace(std::move(name), std::move(found)).second) return std::nullopt;
  }
  return named;
}

// How many values of this name there were.
int SetEach(const std::string& name, const std::string& value, std::vector<std::string>* command) {
  const std::string wanted = Normal(name);
  int places = 0;
  for (std::size_t i = 1; i < command->size() && !wanted.empty(); ++i) {
    std::string& text = (*command)[i];
    const auto equals = text.find('=');
    if (equals != text.npos && Normal(text.substr(0, equals)) == wanted) {
      text = text.substr(0, equals + 1) + value;
      ++places;
    } else if (IsOption(text) && Normal(text) == wanted && i + 1 < command->size() &&
               !IsOption((*command)[i + 1])) {
      (*command)[++i] = value;
      ++places;
    }
  }
  return places;
}

}  // namespace

bool IsVariableName(std::string_view name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, fits);
}

std::string ArgumentName(const std::vector<std::string>& command, std::size_t argument) {
  const std::string& text = command[argument];
  const auto equals = text.find('=');
  if (IsOption(text) && equals != text.npos) return text.substr(0, equals);
  if (!IsOption(text) && argument > 0 && IsOption(command[argument - 1]) &&
      command[argument - 1].find('=') == text.npos) {
    return command[argument - 1];
  }
  return std::to_string(argument);
}

std::optional<FoundArgument> FindArgument(const std::vector<std::string>& command,
                                          std::string_view name) {
  const std::string wanted = Normal(name);
  if (wanted.empty()) return std::nullopt;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& text = command[i];
    const auto equals = text.find('=');
    if (equals != text.npos && Normal(text.substr(0, equals)) == wanted) {
      return FoundArgument{i, text.substr(0, equals + 1), text.substr(equals + 1)};
    }
    if (IsOption(text) && Normal(text) == wanted && i + 1 < command.size()) {
      return FoundArgument{i + 1, "", command[i + 1]};
    }
  }
  // By its place, as ArgumentName calls it.
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (std::to_string(i) == name) return FoundArgument{i, "", command[i]};
  }
  return std::nullopt;
}

std::optional<std::vector<ArgumentChange>> ChangedArguments(const std::vector<std::string>& then,
                                                            const std::vector<std::string>& now) {
  const auto before = ByName(then);
  const auto after = ByName(now);
  if (!before || !after || before->size() != after->size()) return std::nullopt;
  std::vector<ArgumentChange> changes;
  for (const auto& [name, argument] : *before) {
    const auto found = after->find(name);
    if (found == after->end()) return std::nullopt;
    if (found->second.value != argument.value) changes.push_back({argument, found->second.value});
  }
  std::ranges::sort(changes, {}, [](const auto& change) { return change.then.argument; });
  return changes;
}

std::vector<std::string> SetArguments(const std::vector<std::string>& command,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> set = command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& text = arguments[i];
    const auto equals = text.find('=');
    const bool has_inside = equals != text.npos && equals > 0;
    const bool has_behind =
        !has_inside && IsOption(text) && i + 1 < arguments.size() && !IsOption(arguments[i + 1]);
    if (!has_inside && !has_behind) {
      const bool there = IsOption(text) && std::ranges::find(set, text) != set.end();
      if (!there) set.push_back(text);
      continue;
    }
    const std::string name = has_inside ? text.substr(0, equals) : text;
    const std::string value = has_inside ? text.substr(equals + 1) : arguments[i + 1];
    if (SetEach(name, value, &set) == 0) {
      set.push_back(text);
      if (has_behind) set.push_back(value);
    }
    if (has_behind) ++i;
  }
  return set;
}

std::vector<std::string> OptionsOf(const std::vector<std::string>& command) {
  std::vector<std::string> options;
  for (std::size_t i = 1; i < command.size() && options.size() < 40; ++i) {
    if (IsOption(command[i])) options.push_back(command[i].substr(0, command[i].find('=')));
  }
  return options;
}

}  // namespace rharness
