// Writing and reading frames.
#include "harness/execution/rerun/framed_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "harness/base/base64.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

constexpr std::string_view kMark = "@rharness ";
// As base64 in a line that container runtimes do not split (at 16 KiB).
constexpr std::size_t kBytesALine = 6144;
constexpr const char* kWhere = "log";

std::optional<std::uint64_t> NumberOf(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const auto at = line.find(' ');
    words.push_back(line.substr(0, at));
    if (at == std::string_view::npos) return words;
    line.remove_prefix(at + 1);
  }
}

std::string_view NextLine(std::string_view* text) {
  const auto end = text->find('\n');
  std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

class FrameReader {
 public:
  // One line, behind mark and ticket.
  Status Add(std::string_view rest, std::size_t line) {
    const std::vector<std::string_view> words = WordsOf(rest);
    if (ended_) return Fail(line, "goes on behind its end");
    if (words[0] == "begin") return Begin(words, line);
    if (!begun_) return Fail(line, "has no beginning");
    if (words[0] == "end") {
      if (words.size() != 1 || next_ != lines_ + 1) {
        return Fail(line, fmt::format("ends behind {} of {} lines", next_ - 1, lines_));
      }
      ended_ = true;
      return {};
    }
    if (words.size() != 2 || NumberOf(words[0]) != next_ || next_ > lines_) {
      return Fail(line, fmt::format("has another line where {} of {} should be", next_, lines_));
    }
    ++next_;
    const auto bytes = words[1].empty() ? std::nullopt : FromBase64Text(words[1]);
    if (bytes) bytes_ += *bytes;
    if (!bytes || bytes_.size() > size_) {
      return Fail(line, "has a line that is no base64, or too long");
    }
    return {};
  }

  bool begun() const { return begun_; }

  Result<std::string> Finish() {
    if (!ended_) {
      return IntegrityError(
          fmt::format("what it left is cut off behind {} of {} lines", next_ - 1, lines_), kWhere);
    }
    if (bytes_.size() != size_ || Sha256HexOf(bytes_) != sha256_) {
      return IntegrityError("what it left has not the size and digest that it tells", kWhere);
    }
    return std::move(bytes_);
  }

 private:
  static Error Fail(std::size_t line, const std::string& what) {
    return IntegrityError(fmt::format("line {}: what it left {}", line, what), kWhere);
  }

  Status Begin(const std::vector<std::string_view>& words, std::size_t line) {
    if (begun_) return Fail(line, "begins twice");
    begun_ = true;
    const auto size = words.size() == 4 ? NumberOf(words[1]) : std::nullopt;
    const auto lines = words.size() == 4 ? NumberOf(words[3]) : std::nullopt;
    if (!size || !lines || *size > kMostFramedBytes || *lines > kMostFramedBytes) {
      return Fail(line, "begins without a size and digest that it may have");
    }
    size_ = *size;
    lines_ = *lines;
    sha256_ = words[2];
    return {};
  }

  bool begun_ = false;
  bool ended_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t next_ = 1;
  std::string sha256_;
  std::string bytes_;
};

Result<std::vector<FramedFile>> Unpack(std::string_view bytes) {
  std::vector<FramedFile> files;
  std::set<std::string> paths;
  while (!bytes.empty()) {
    const std::string_view head = NextLine(&bytes);
    ASSIGN_OR_RETURN(const Json json, ParseJson(head, kWhere));
    std::string path;
    std::uint64_t size = 0;
    JsonReader reader(json, kWhere);
    reader.Read("path", &path);
    reader.Read("bytes", &size);
    RETURN_IF_ERROR(reader.status());
    ASSIGN_OR_RETURN(const auto safe, SafeRelativePath(path, kWhere));
    if (size > bytes.size() || !paths.insert(safe.string()).second) {
      return IntegrityError("has a file that is there twice, or longer than the whole", kWhere);
    }
    files.push_back({safe.string(), std::string(bytes.substr(0, size))});
    bytes.remove_prefix(size);
  }
  return files;
}

}  // namespace

Result<std::string> FrameFiles(std::string_view ticket_sha256,
                               const std::vector<FramedFile>& files) {
  std::string bytes;
  for (const FramedFile& file : files) {
    bytes += Json::MakeObject({{"path", file.path}, {"bytes", file.content.size()}}).Dump() + "\n";
    bytes += file.content;
  }
  if (bytes.size() > kMostFramedBytes) {
    return InvalidInput(fmt::format("{} bytes are more than the {} that a log can carry",
                                    bytes.size(), kMostFramedBytes),
                        kWhere);
  }
  const std::size_t lines = (bytes.size() + kBytesALine - 1) / kBytesALine;
  const std::string mark = std::string(kMark) + std::string(ticket_sha256) + " ";
  // Whatever was printed last may have no end of line.
  std::string text =
      fmt::format("\n{}begin {} {} {}\n", mark, bytes.size(), Sha256HexOf(bytes), lines);
  for (std::size_t line = 0; line < lines; ++line) {
    const std::string_view part = std::string_view(bytes).substr(line * kBytesALine, kBytesALine);
    text += fmt::format("{}{} {}\n", mark, line + 1, ToBase64Text(part));
  }
  return text + mark + "end\n";
}

Result<std::optional<std::vector<FramedFile>>> ParseFramedLog(std::string_view log,
                                                              std::string_view ticket_sha256) {
  FrameReader frame;
  const std::string mark = std::string(kMark) + std::string(ticket_sha256) + " ";
  for (std::size_t number = 1; !log.empty(); ++number) {
    const std::string_view line = NextLine(&log);
    if (line.starts_with(mark)) RETURN_IF_ERROR(frame.Add(line.substr(mark.size()), number));
  }
  if (!frame.begun()) return std::optional<std::vector<FramedFile>>();
  ASSIGN_OR_RETURN(const std::string bytes, frame.Finish());
  auto files = Unpack(bytes);
  if (files.ok()) return std::optional(std::move(*files));
  return IntegrityError(files.error().message, kWhere);
}

}  // namespace rharness
