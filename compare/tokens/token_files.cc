// Files of records: JSON Lines, an array, or one value over many lines.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "compare/curves/printed_number.h"
#include "compare/tokens/token_builder.h"
#include "compare/weights/input_file.h"

namespace rharness {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

bool IsBlankLine(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

// The member of this name, with a list or an object as its value.
bool HasMember(std::string_view text, std::string_view name) {
  const std::string key = fmt::format("\"{}\"", name);
  for (auto at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    std::string_view rest = text.substr(at + key.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    if (!rest.starts_with(':')) continue;
    rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    if (rest.starts_with('[') || rest.starts_with('{')) return true;
  }
  return false;
}

// Lines of a file, one in memory at a time.
class FileLines {
 public:
  explicit FileLines(const InputFile& file) : file_(file) {}

  std::size_t number() const { return number_; }
  // False at the end. Errors: invalid_input (a line that is too long), those of ReadAt.
  Result<bool> Next(std::string* line) {
    line->clear();
    for (;;) {
      const std::size_t end = buffer_.find('\n', at_);
      line->append(buffer_, at_, end == buffer_.npos ? buffer_.npos : end - at_);
      at_ = end == buffer_.npos ? buffer_.size() : end + 1;
      if (line->size() > kMostTokenLine) {
        return InvalidInput(
            fmt::format("a line of more than {} bytes; expected JSON Lines", kMostTokenLine),
            fmt::format("{}: line {}", file_.name(), number_ + 1));
      }
      if (end != buffer_.npos) break;
      if (offset_ == file_.size_bytes()) {
        if (line->empty()) return false;
        break;
      }
      RETURN_IF_ERROR(Fill());
    }
    ++number_;
    return true;
  }

 private:
  Status Fill() {
    buffer_.resize(std::min<std::uint64_t>(kBlock, file_.size_bytes() - offset_));
    RETURN_IF_ERROR(file_.ReadAt(offset_, std::as_writable_bytes(std::span(buffer_))));
    offset_ += buffer_.size();
    at_ = 0;
    return {};
  }

  const InputFile& file_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t offset_ = 0;
  std::size_t number_ = 0;
};

std::string_view WithoutMark(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

Status AddDocument(std::string_view text, std::string_view file, TokenBuilder* out) {
  out->At(std::string(file));
  ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(text, file));
  if (!json.IsArray()) return AddTokenRecord(json, out);
  for (std::size_t i = 0; i < json.AsArray().size(); ++i) {
    out->At(fmt::format("{}: element {}", file, i));
    RETURN_IF_ERROR(AddTokenRecord(json.AsArray()[i], out));
  }
  return {};
}

Status AddLine(std::string_view line, std::string_view file, std::size_t number,
               TokenBuilder* out) {
  if (IsBlankLine(line)) return {};
  out->At(fmt::format("{}: line {}", file, number));
  ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(line, out->where()));
  return AddTokenRecord(json, out);
}

// Whether the first line is no value by itself: the file is one value.
bool IsOneValue(std::string_view first_line) {
  return first_line.starts_with('[') || !ParseJsonWithNonFinite(first_line, "").ok();
}

}  // namespace

bool LooksLikeTokenScores(std::string_view head) {
  head = WithoutMark(head);
  const auto begin = head.find_first_not_of(" \t\r\n");
  if (begin == head.npos || (head[begin] != '{' && head[begin] != '[')) return false;
  const auto any = [&](const auto& names) {
    return std::ranges::any_of(names, [&](std::string_view name) { return HasMember(head, name); });
  };
  constexpr std::string_view kAnswers[] = {"output_token_logprobs", "input_token_logprobs",
                                           "prompt_logprobs"};
  return any(kLogprobNames) || any(kSamplerNames) || any(kAnswers);
}

Result<TokenScores> ParseTokenScores(std::string_view text, std::string_view file) {
  text = WithoutMark(text);
  TokenBuilder out{std::string(file)};
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (IsOneValue(text.substr(0, text.find('\n')))) {
    RETURN_IF_ERROR(AddDocument(text, file, &out));
    return std::move(out).Finish();
  }
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    RETURN_IF_ERROR(AddLine(line, file, number, &out));
  }
  return std::move(out).Finish();
}

Result<TokenScores> LoadTokenScores(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path));
  if (file.size_bytes() <= kMostTokenLine) {
    std::string text(file.size_bytes(), '\0');
    RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(text))));
    RETURN_IF_ERROR(file.CheckUnchanged());
    return ParseTokenScores(text, path.string());
  }
  std::string head(kMostTokenLine, '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  std::string_view first = WithoutMark(head);
  first.remove_prefix(std::min(first.find_first_not_of(" \t\r\n"), first.size()));
  if (IsOneValue(first.substr(0, first.find('\n')))) {
    if (file.size_bytes() > kMostTokenDocument) {
      return InvalidInput(fmt::format("one value of {} bytes; at most {} are read, of JSON Lines "
                                      "any number",
                                      file.size_bytes(), kMostTokenDocument),
                          path.string());
    }
    head.resize(file.size_bytes());
    RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
    RETURN_IF_ERROR(file.CheckUnchanged());
    return ParseTokenScores(head, path.string());
  }
  head = std::string();
  TokenBuilder out(path.string());
  FileLines lines(file);
  std::string line;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) break;
    RETURN_IF_ERROR(AddLine(lines.number() == 1 ? WithoutMark(line) : std::string_view(line),
                            path.string(), lines.number(), &out));
  }
  RETURN_IF_ERROR(file.CheckUnchanged());
  return std::move(out).Finish();
}

}  // namespace rharness
