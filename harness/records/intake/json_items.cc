// Finds the ends of values, without parsing them; see json_items.h.
#include "harness/records/intake/json_items.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rharness {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::string_view kBlanks = " \t\r\n";

// Whether a byte is outside of all strings and brackets, whose kinds do not matter here.
class Nesting {
 public:
  bool outside() const { return depth_ == 0 && !in_string_; }
  void Pass(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (in_string_) {
      escaped_ = c == '\\';
      in_string_ = c != '"';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (depth_ > 0 && (c == '}' || c == ']')) {
      --depth_;
    }
  }

 private:
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace

Result<JsonItems> JsonItems::Open(const std::filesystem::path& path, std::uint64_t most_bytes) {
  ASSIGN_OR_RETURN(OpenedFile file, OpenRegularFile(path));
  return JsonItems(std::move(file.descriptor), path.string(), most_bytes);
}

Error JsonItems::Wrong(std::string_view what) const {
  return InvalidInput(fmt::format("byte {}: {}", offset_, what), name_);
}

Result<bool> JsonItems::Fill(std::size_t at) {
  if (complete_) return false;
  if (at >= most_bytes_) {
    return Wrong(fmt::format("a value of more than {} MiB begins here", most_bytes_ >> 20U));
  }
  buffer_.erase(0, taken_);
  taken_ = 0;
  const std::size_t had = buffer_.size();
  buffer_.resize(had + std::max(kBlock, had));  // so that a large value is moved only a few times
  ssize_t count = 0;
  do {
    count = ::read(fd_.get(), buffer_.data() + had, buffer_.size() - had);
  } while (count < 0 && errno == EINTR);
  buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0) return IoErrorFromErrno("cannot read", errno, name_);
  complete_ = count == 0;
  return !complete_;
}

template <class F>
Result<std::size_t> JsonItems::Find(F ends) {
  for (std::size_t at = 0;;) {
    const std::string_view rest = std::string_view(buffer_).substr(taken_);
    for (; at < rest.size(); ++at) {
      if (ends(rest[at])) return at;
    }
    ASSIGN_OR_RETURN(const bool more, Fill(at));
    if (!more) return at;
  }
}

Result<char> JsonItems::First() {
  ASSIGN_OR_RETURN(const std::size_t blanks,
                   Find([](char c) { return kBlanks.find(c) == kBlanks.npos; }));
  Take(blanks);
  return taken_ < buffer_.size() ? buffer_[taken_] : '\0';
}

void JsonItems::Take(std::size_t count) {
  std::string_view text = std::string_view(buffer_).substr(taken_, count);
  for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    text.remove_prefix(end + 1);
    ++line_;
  }
  taken_ += count;
  offset_ += count;
}

Result<std::size_t> JsonItems::LengthOfElement() {
  Nesting nesting;
  return Find([&](char c) {
    if (nesting.outside() && (c == ',' || c == ']')) return true;
    nesting.Pass(c);
    return false;
  });
}

Result<std::size_t> JsonItems::LengthOfLine() {
  for (std::size_t at = 0;;) {
    const std::string_view rest = std::string_view(buffer_).substr(taken_);
    if (const auto end = rest.find('\n', at); end != rest.npos) return end;
    at = rest.size();
    ASSIGN_OR_RETURN(const bool more, Fill(at));
    if (!more) return at;
  }
}

Result<std::size_t> JsonItems::LengthOfValue() {
  Nesting nesting;
  bool closed = false;
  return Find([&](char c) {
    if (closed || (nesting.outside() && c == '\n')) return true;
    const bool inside = !nesting.outside();
    nesting.Pass(c);
    closed = inside && nesting.outside() && (c == '}' || c == ']');
    return false;
  });
}

Result<Json> JsonItems::Parse(std::size_t length, const std::string& where) const {
  return ParseJson(std::string_view(buffer_).substr(taken_, length), where);
}

Result<std::optional<JsonItem>> JsonItems::Next() {
  if (form_ == Form::kUnknown) {
    ASSIGN_OR_RETURN(char first, First());
    if (std::string_view(buffer_).substr(taken_).starts_with("\xEF\xBB\xBF")) {
      Take(3);
      ASSIGN_OR_RETURN(first, First());
    }
    form_ = first == '[' ? Form::kArray : Form::kValues;
    if (form_ == Form::kArray) Take(1);
  }
  if (form_ == Form::kEnded) return std::optional<JsonItem>();
  return form_ == Form::kArray ? NextElement() : NextValue();
}

Result<std::optional<JsonItem>> JsonItems::NextElement() {
  ASSIGN_OR_RETURN(const char first, First());
  if (taken_ == buffer_.size() || first == ']') {
    form_ = Form::kEnded;
    if (first != ']') return Wrong(fmt::format("the array is cut off behind {} elements", index_));
    Take(1);
    RETURN_IF_ERROR(First());
    if (taken_ < buffer_.size()) return Wrong("something follows the array");
    return std::optional<JsonItem>();
  }
  ASSIGN_OR_RETURN(const std::size_t length, LengthOfElement());
  const std::string where = fmt::format("{}: $[{}]", name_, index_++);
  JsonItem item{where, Parse(length, where)};
  Take(length);
  // The comma goes with its element.
  if (taken_ < buffer_.size() && buffer_[taken_] == ',') Take(1);
  return std::optional(std::move(item));
}

Result<std::optional<JsonItem>> JsonItems::NextValue() {
  RETURN_IF_ERROR(First());
  if (taken_ == buffer_.size()) {
    form_ = Form::kEnded;
    return std::optional<JsonItem>();
  }
  ASSIGN_OR_RETURN(const std::size_t line, LengthOfLine());
  const std::string where = fmt::format("{}: line {}", name_, line_);
  JsonItem item{where, Parse(line, where)};
  std::size_t length = line;
  if (!item.json.ok() && !by_lines_) {
    const auto whole = LengthOfValue();
    if (whole.ok() && *whole != line) {
      auto json = Parse(*whole, where);
      if (json.ok()) {
        item.json = std::move(json);
        length = *whole;
      }
    }
    by_lines_ = !item.json.ok();
  }
  Take(length);
  return std::optional(std::move(item));
}

}  // namespace rharness
