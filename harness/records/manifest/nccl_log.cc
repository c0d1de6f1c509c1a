// A reader that parses a line from the left and gives up at the first unexpected text.
#include "harness/records/manifest/nccl_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace rharness {
namespace {

constexpr std::size_t kLongestNcclName = 64;
constexpr int kMostChannels = 1024;

constexpr std::array<std::string_view, 7> kAlgorithms = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr std::array<std::string_view, 3> kProtocols = {"LL", "LL128", "SIMPLE"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameCharacter(char c) {
  return IsDigit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// Each function takes its part off the front, or leaves the text unchanged and returns false.
class NcclLineReader {
 public:
  explicit NcclLineReader(std::string_view text) : text_(text) {}

  bool Skip(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  template <class Number>
  bool Read(Number* number) {
    if (text_.empty() || !IsDigit(text_.front())) return false;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data(), end, *number);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
    return true;
  }
  bool ReadName(std::string* name) {
    const auto stop = std::ranges::find_if_not(text_, IsNameCharacter);
    const auto length = static_cast<std::size_t>(stop - text_.begin());
    if (length == 0 || length > kLongestNcclName) return false;
    name->assign(text_.substr(0, length));
    text_.remove_prefix(length);
    return true;
  }
  bool SkipTo(std::string_view expected) {
    const std::size_t at = text_.find(expected);
    if (at == std::string_view::npos) return false;
    text_.remove_prefix(at + expected.size());
    return true;
  }
  bool AtWordEnd() const { return text_.empty() || text_.front() == ' '; }

 private:
  std::string_view text_;
};

// "1" and "Ring" are "RING".
template <std::size_t kCount>
std::string NameIn(const std::array<std::string_view, kCount>& names, std::string text) {
  if (std::ranges::all_of(text, IsDigit)) {
    std::size_t index = kCount;
    std::from_chars(text.data(), text.data() + text.size(), index);
    return index < kCount ? std::string(names[index]) : text;
  }
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return text;
}

// A line without channels is an older one; one with broken channels is invalid.
bool ReadChannels(NcclLineReader* reader, TuningChoice* choice) {
  if (!reader->SkipTo(" channel{Lo..Hi}={")) return true;
  int first = 0, last = 0;
  const bool read =
      reader->Read(&first) && reader->Skip("..") && reader->Read(&last) && reader->Skip("}");
  if (!read || first > last || last >= kMostChannels) return false;
  choice->first_channel = first;
  choice->last_channel = last;
  return true;
}

bool ReadKernel(NcclLineReader* reader, TuningChoice* choice) {
  if (!reader->ReadName(&choice->kernel) || !reader->AtWordEnd()) return false;
  choice->algorithm = "SYMMETRIC";
  int channels = 0;
  if (!reader->SkipTo(" nchannels ")) return true;
  if (!reader->Read(&channels) || channels < 1 || channels > kMostChannels) return false;
  choice->first_channel = 0;
  choice->last_channel = channels - 1;
  return true;
}

bool ReadAlgorithm(NcclLineReader* reader, TuningChoice* choice) {
  std::string algorithm, protocol;
  if (!reader->ReadName(&algorithm) || !reader->Skip(" proto ") || !reader->ReadName(&protocol) ||
      !reader->AtWordEnd()) {
    return false;
  }
  choice->algorithm = NameIn(kAlgorithms, std::move(algorithm));
  choice->protocol = NameIn(kProtocols, std::move(protocol));
  return ReadChannels(reader, choice);
}

// What a line says behind "HOST:PID:TID [DEVICE] NCCL INFO "; empty: it is none of NCCL's.
std::string_view InfoOf(std::string_view line) {
  static constexpr std::string_view kMark = "NCCL INFO ";
  const std::size_t mark = line.find(kMark);
  return mark == std::string_view::npos ? std::string_view() : line.substr(mark + kMark.size());
}

// Behind the words, printable and not too long; empty: the text does not begin with them.
std::string Behind(std::string_view words, std::string_view text) {
  constexpr std::size_t kLongest = 128;
  if (!text.starts_with(words)) return "";
  text.remove_prefix(words.size());
  const bool printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  return printable && text.size() <= kLongest ? std::string(text) : "";
}

bool IsDottedNumber(std::string_view text) {
  return !text.empty() && IsDigit(text.front()) && text.find('.') != std::string_view::npos;
}

std::optional<TuningChoice> ParseLine(std::string_view line) {
  const std::string_view info = InfoOf(line);
  if (info.empty()) return std::nullopt;
  NcclLineReader reader(info);
  TuningChoice choice;
  bool symmetric = false;
  if (!reader.Read(&choice.bytes)) {
    if (!reader.ReadName(&choice.function)) return std::nullopt;
    symmetric = reader.Skip(" [Symmetric]");
    if (!reader.Skip(": ") || !reader.Read(&choice.bytes)) return std::nullopt;
  }
  if (!reader.Skip(" Bytes -> ")) return std::nullopt;
  const bool read = symmetric ? reader.Skip("Kernel ") && ReadKernel(&reader, &choice)
                              : reader.Skip("Algo ") && ReadAlgorithm(&reader, &choice);
  return read ? std::optional(std::move(choice)) : std::nullopt;
}

template <class F>
void ForEachLogLine(std::string_view text, F&& read) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Json DescribeChoice(const TuningChoice& choice) {
  Json json = Json::MakeObject();
  json.Set("algorithm", choice.algorithm);
  if (!choice.protocol.empty()) json.Set("protocol", choice.protocol);
  if (!choice.kernel.empty()) json.Set("kernel", choice.kernel);
  if (choice.first_channel && choice.last_channel) {
    json.Set("channels", fmt::format("{}..{}", *choice.first_channel, *choice.last_channel));
  }
  return json;
}

}  // namespace

std::vector<TuningChoice> ParseTuningLog(std::string_view text) {
  std::vector<TuningChoice> choices;
  ForEachLogLine(text, [&](std::string_view line) {
    if (auto choice = ParseLine(line)) choices.push_back(std::move(*choice));
  });
  return choices;
}

std::map<std::string, std::string> ReadNcclLog(std::string_view text) {
  constexpr std::size_t kMostOfEach = 16;
  std::map<std::string, std::set<std::string>> all;
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty() && all[what].size() < kMostOfEach) all[what].insert(value);
  };
  ForEachLogLine(text, [&](std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string_view info = InfoOf(line);
    // The line of the version has no prefix in most versions, but may have that of a launcher.
    const std::size_t at = info.empty() ? line.find("NCCL version ") : line.npos;
    if (at != line.npos) info = line.substr(at);
    if (info.empty()) return;
    const std::string version = Behind("NCCL version ", info);
    if (IsDottedNumber(version)) add("version", version);
    add("network", Behind("Using network ", info));
    NcclLineReader reader(info);
    int channels = 0;
    if (reader.Read(&channels) && reader.Skip(" coll channels")) add("channels", Behind("", info));
    if (const auto choice = ParseLine(line)) {
      const std::string function = choice->function.empty() ? "" : choice->function + " ";
      add("algorithms", function + choice->algorithm + " " +
                            (choice->protocol.empty() ? choice->kernel : choice->protocol));
    }
  });
  std::map<std::string, std::string> choices;
  for (const auto& [what, values] : all) {
    choices[what] = fmt::format("{}", fmt::join(values, what == "channels" ? " | " : ", "));
  }
  return choices;
}

Json DescribeChoices(const std::vector<TuningChoice>& choices) {
  if (choices.size() == 1) return DescribeChoice(choices.front());
  Json parts = Json::MakeArray();
  for (const TuningChoice& choice : choices) parts.Append(DescribeChoice(choice));
  return Json().Set("parts", std::move(parts));
}

}  // namespace rharness
