// Splitting by the rules of POSIX.1-2017, Shell Command Language, 2.2 and 2.3.
#include "harness/records/intake/dvc_command.h"

#include <algorithm>
#include <array>

namespace rharness {
namespace {

// Characters with a meaning outside of quotes, in sh, bash or zsh.
constexpr std::string_view kSpecial = "|&;<>()$`*?[]#~={}!^\n\r";
// What may begin a line and is no program.
constexpr std::array<std::string_view, 34> kNoPrograms = {
    ".",      ":",     "alias", "bg",     "break",  "case",  "cd",     "command", "continue",
    "do",     "eval",  "exec",  "exit",   "export", "for",   "if",     "jobs",    "local",
    "read",   "set",   "shift", "source", "time",   "times", "trap",   "type",    "typeset",
    "ulimit", "umask", "unset", "until",  "wait",   "while", "declare"};

class WordSplitter {
 public:
  explicit WordSplitter(std::string_view line) : rest_(line) {}

  std::optional<std::vector<std::string>> Split() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == ' ' || c == '\t') {
        EndWord();
      } else if (!Take(c)) {
        return std::nullopt;
      }
    }
    EndWord();
    return std::move(words_);
  }

 private:
  void EndWord() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  bool Take(char c) {
    // Amid an argument they are letters: "--lr=0.1".
    const bool letter = in_word_ && (c == '#' || (c == '=' && !words_.empty()));
    if (kSpecial.find(c) != kSpecial.npos && !letter) return false;
    in_word_ = true;
    if (c == '\'') return TakeSingle();
    if (c == '"') return TakeDouble();
    if (c == '\\') {
      if (rest_.empty()) return false;
      c = rest_.front();
      rest_.remove_prefix(1);
    }
    word_ += c;
    return true;
  }

  bool TakeSingle() {
    const auto end = rest_.find('\'');
    if (end == rest_.npos) return false;
    word_ += rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool TakeDouble() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c == '$' || c == '`' || c == '!') return false;
      const bool escape = c == '\\' && !rest_.empty() &&
                          std::string_view("$`\"\\").find(rest_.front()) != std::string_view::npos;
      if (!escape) {
        word_ += c;
        continue;
      }
      word_ += rest_.front();
      rest_.remove_prefix(1);
    }
    return false;
  }

  std::string_view rest_;
  std::vector<std::string> words_;
  std::string word_;
  bool in_word_ = false;
};

}  // namespace

std::optional<std::vector<std::string>> PlainWords(std::string_view line) {
  auto words = WordSplitter(line).Split();
  if (!words || words->empty() || words->front().empty()) return std::nullopt;
  if (std::ranges::find(kNoPrograms, words->front()) != kNoPrograms.end()) return std::nullopt;
  return words;
}

std::vector<std::string> CommandOfLines(const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  if (lines.size() == 1) {
    if (auto words = PlainWords(lines.front())) return std::move(*words);
    return {"/bin/sh", "-c", lines.front()};
  }
  std::vector<std::string> command = {"/bin/sh", "-c",
                                      "for line; do /bin/sh -c \"$line\" || exit; done", "sh"};
  command.insert(command.end(), lines.begin(), lines.end());
  return command;
}

}  // namespace rharness
