// A scan over a JSON text that knows names and arrays, and nothing else.
#include "compare/weights/array_taker.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace rharness {
namespace {

constexpr std::size_t kMaxDepth = 128;  // ParseJson's

class ArrayScan {
 public:
  ArrayScan(std::string_view file, std::string* text, ArrayTaker* taker)
      : file_(file), text_(*text), taker_(*taker) {}

  Status Run() {
    while (at_ < text_.size()) {
      switch (text_[at_]) {
        case '"':
          SkipText();
          break;
        case '{':
        case '[':
          RETURN_IF_ERROR(Open(text_[at_] == '['));
          break;
        case '}':
        case ']':
          if (!levels_.empty()) path_.resize(levels_.back().path), levels_.pop_back();
          ++at_;
          break;
        case ',':
          named_ = false;
          ++at_;
          break;
        default:
          ++at_;
      }
    }
    return {};
  }

 private:
  struct Level {
    bool array = false;
    std::size_t path = 0;  // bytes of the path above
  };

  // A name, or a text. Damage is left to ParseJson.
  void SkipText() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    if (!levels_.empty() && !levels_.back().array && !named_) {
      name_ = std::string_view(text_).substr(begin, at_ - begin);
      named_ = true;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  Status Open(bool array) {
    if (levels_.size() == kMaxDepth) {
      return Unsupported(fmt::format("more than {} levels of nesting", kMaxDepth),
                         fmt::format("{}: byte {}", file_, at_));
    }
    const std::size_t above = path_.size();
    if (!levels_.empty()) {
      path_ += '/';
      path_ += levels_.back().array ? std::string_view("*") : name_;
    }
    if (array && taker_.Begin(path_)) {
      path_.resize(above);
      return Take();
    }
    levels_.push_back({array, above});
    named_ = false;
    ++at_;
    return {};
  }

  Status Take() {
    const std::size_t begin = at_++;
    std::size_t count = 0;
    const auto skip = [&] {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    };
    for (skip(); at_ < text_.size() && text_[at_] != ']'; skip()) {
      if (count > 0 && text_[at_] == ',') ++at_, skip();
      const std::size_t end = std::min(text_.find_first_of(",] \t\r\n", at_), text_.size());
      if (!taker_.Add(std::string_view(text_).substr(at_, end - at_))) {
        return InvalidInput(taker_.Expected(), fmt::format("{}: byte {}", file_, at_));
      }
      at_ = end;
      ++count;
      skip();
      // Two numbers without a comma are left as they are, for ParseJson's error.
      if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']') return {};
    }
    if (at_ == text_.size()) return {};  // a cut-off text
    std::fill(text_.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
              text_.begin() + static_cast<std::ptrdiff_t>(at_), ' ');
    if (count > 0) {
      const std::string shown = fmt::format("{}", count);
      std::ranges::copy(shown, text_.begin() + static_cast<std::ptrdiff_t>(begin) + 1);
    }
    ++at_;
    return {};
  }

  const std::string_view file_;
  std::string& text_;
  ArrayTaker& taker_;
  std::vector<Level> levels_;
  std::string path_;
  std::string_view name_;  // the last one in the object
  bool named_ = false;     // since the last comma
  std::size_t at_ = 0;
};

}  // namespace

Status TakeArrays(std::string_view file, std::string* text, ArrayTaker* taker) {
  return ArrayScan(file, text, taker).Run();
}

}  // namespace rharness
