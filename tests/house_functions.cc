// Following braces: code without comments, literals and directives, and its functions' lengths.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "tests/house_rules.h"

namespace rharness {
namespace {

constexpr int kFunctionLines = 60;

class Stripper {
 public:
  explicit Stripper(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string Strip() {
    while (at_ < text_.size()) {
      if (Ahead("//")) {
        BlankTo(EndOfLine());
      } else if (Ahead("/*")) {
        BlankTo(After("*/", at_ + 2));
      } else if (AtDirective()) {
        BlankTo(EndOfLine());
      } else if (Ahead("R\"") && !InWord()) {
        BlankTo(EndOfRawString());
      } else if (text_[at_] == '"' || (text_[at_] == '\'' && !InWord())) {
        BlankTo(EndOfLiteral(text_[at_]));
      } else {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  bool Ahead(std::string_view token) const { return text_.substr(at_).starts_with(token); }

  // After a letter or a digit: the quote of 1'000 and the R of a longer name open nothing.
  bool InWord() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }

  bool AtDirective() const {
    if (text_[at_] != '#') return false;
    const std::size_t line = text_.rfind('\n', at_);
    const std::size_t start = line == std::string_view::npos ? 0 : line + 1;
    return text_.substr(start, at_ - start).find_first_not_of(" \t") == std::string_view::npos;
  }

  std::size_t After(std::string_view token, std::size_t from) const {
    const std::size_t found = text_.find(token, from);
    return found == std::string_view::npos ? text_.size() : found + token.size();
  }

  // Where a line ends that a backslash does not continue.
  std::size_t EndOfLine() const {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    return std::min(end, text_.size());
  }

  std::size_t EndOfRawString() const {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return text_.size();
    const std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    return After(close, open);
  }

  std::size_t EndOfLiteral(char quote) const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text_.size());
  }

  void BlankTo(std::size_t end) {
    for (; at_ < end; ++at_) out_ += text_[at_] == '\n' ? '\n' : ' ';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

// Follows the braces of stripped code and measures what opens after a parameter list.
class FunctionMeter {
 public:
  explicit FunctionMeter(std::string_view path) : path_(path) {}

  Violations Measure(std::string_view code) {
    for (const char c : code) {
      if (c == '\n') ++line_;
      if (c == '{') {
        Open();
      } else if (c == '}') {
        Close();
      } else if (c == ';' && open_function_ == 0) {
        Forget();
      } else if (open_function_ == 0) {
        Remember(c);
      }
    }
    return std::move(found_);
  }

 private:
  void Open() {
    ++depth_;
    if (open_function_ == 0 && IsFunction()) {
      open_function_ = depth_;
      start_ = header_line_;
    }
    if (open_function_ == 0) Forget();
  }

  void Close() {
    if (depth_ == open_function_) {
      const int lines = line_ - start_ + 1;
      if (lines > kFunctionLines) {
        found_.push_back(
            {path_, start_,
             fmt::format("a function of {} lines; at most {}", lines, kFunctionLines)});
      }
      open_function_ = 0;
    }
    --depth_;
    if (open_function_ == 0) Forget();
  }

  bool IsFunction() const {
    static const std::regex other(
        R"(^\s*(template\s*<.*>\s*)?(namespace|class|struct|enum|union)\b)");
    return header_.find(')') != std::string::npos && !std::regex_search(header_, other);
  }

  void Remember(char c) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (header_.empty() && space) return;
    if (header_.empty()) header_line_ = line_;
    header_ += space ? ' ' : c;
  }

  void Forget() { header_.clear(); }

  std::string path_;
  std::string header_;  // since the last statement or brace
  int header_line_ = 1;
  int line_ = 1;
  int depth_ = 0;
  int open_function_ = 0;  // its depth; 0: in none
  int start_ = 1;
  Violations found_;
};

}  // namespace

std::string StripCode(std::string_view text) { return Stripper(text).Strip(); }

Violations CheckFunctions(std::string_view path, std::string_view text) {
  if (!IsCode(path)) return {};
  return FunctionMeter(path).Measure(StripCode(text));
}

}  // namespace rharness
