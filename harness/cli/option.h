// One option of the command line: how it is written, what it means, where its value goes.
//
// Role: plain data with a builder. A verb declares its options with it (command.h); what parses,
// what helps and what writes the manual pages all read the same facts.
#ifndef RHARNESS_HARNESS_CLI_OPTION_H_
#define RHARNESS_HARNESS_CLI_OPTION_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rharness {

// What can stand in for a value while it is being typed.
enum class Completes { kNothing, kFiles, kFolders };

enum class TimeUnit { kSeconds, kHours, kDays };

struct OptionFacts {
  // A bool is a flag. A vector takes many values; an empty optional was not given.
  using Target = std::variant<bool*, int*, std::uint64_t*, std::optional<std::uint64_t>*, double*,
                              std::string*, std::filesystem::path*, std::vector<std::string>*>;
  // Looks at a value, and may rewrite it; returns what is wrong with it, or nothing.
  using Check = std::function<std::string(std::string* value)>;

  std::string names;  // "-j,--jobs"; without dashes: a positional
  Target target;
  std::string help;
  std::string group = "Options";  // its heading in the help
  std::string value;              // the word for its value; by the target's type unless given
  std::string label;              // the values it takes, which the help shows in place of that word
  std::vector<std::string> choices;  // what it completes to
  std::string env;  // the variable that is asked where the command line says nothing
  Completes completes = Completes::kNothing;
  bool required = false;
  bool shows_default = false;
  std::string unit;       // "s": what the target's number counts, where it stands for a time
  bool one_each = false;  // a value each time it is given, however many times
  std::vector<Check> checks;

  bool IsFlag() const { return std::holds_alternative<bool*>(target); }
  bool IsPositional() const { return !names.starts_with('-'); }
  bool IsRepeatable() const { return std::holds_alternative<std::vector<std::string>*>(target); }
  // "-j" and "--jobs"; a positional's one name.
  std::vector<std::string> Names() const;
  // "--jobs", or the positional's name: what it is called where one name will do.
  std::string LongName() const;
  // "INT", "TIME", "FILE": the word for its value; empty for a flag.
  std::string ValueWord() const;
  // What the target holds now, as text; empty for flags and lists.
  std::string TargetText() const;
};

class Option {
 public:
  Option(std::string names, OptionFacts::Target target, std::string help);

  Option& Required();
  Option& ShowDefault();
  Option& OneEach();
  Option& Env(std::string variable);
  Option& Group(std::string heading);
  // The word for its value in the help, such as PREFIX.
  Option& Value(std::string word);
  Option& File(std::string word = "FILE");
  Option& Folder(std::string word = "DIR");
  Option& Path(std::string word = "PATH");  // a file or a folder

  Option& Choices(std::vector<std::string> choices);
  Option& Offer(std::vector<std::string> words);  // completes to these, and takes others, too
  Option& Between(double least, double most);
  Option& FromZero();  // a finite number, at least 0
  Option& Positive();  // a finite number above 0
  Option& NotEmpty();
  Option& Size();  // with a unit of 1024s, or B: 16GiB; or 0
  // 90m, 2h, 1.5h, 1h30m, or 0; the target gets the number in `unit`. The help names the units.
  Option& Duration(TimeUnit unit);

  const OptionFacts& facts() const { return facts_; }
  // How often it was given, by any means; the parser says so.
  std::size_t given() const { return given_; }
  void SetGiven(std::size_t times) { given_ = times; }

 private:
  Option& Check(OptionFacts::Check check);
  Option& Label(const std::string& label);

  OptionFacts facts_;
  std::size_t given_ = 0;
};

// The number in `unit` that a duration such as "1h30m" or "90m" means; "0" needs no unit. Empty:
// not a duration, without a unit, below zero, or not finite.
std::optional<double> ParseDuration(std::string_view text, TimeUnit unit);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_OPTION_H_
