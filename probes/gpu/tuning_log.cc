// A reader that parses a line from the left and gives up at the first unexpected text.
#include "probes/gpu/tuning_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace rharness {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr int kMostChannels = 1024;

constexpr std::array<std::string_view, 7> kAlgorithms = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr std::array<std::string_view, 3> kProtocols = {"LL", "LL128", "SIMPLE"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameCharacter(char c) {
  return IsDigit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// Each function takes its part off the front, or leaves the text unchanged and returns false.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

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
    if (length == 0 || length > kLongestName) return false;
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
bool ReadChannels(Reader* reader, TuningChoice* choice) {
  if (!reader->SkipTo(" channel{Lo..Hi}={")) return true;
  int first = 0, last = 0;
  const bool read =
      reader->Read(&first) && reader->Skip("..") && reader->Read(&last) && reader->Skip("}");
  if (!read || first > last || last >= kMostChannels) return false;
  choice->first_channel = first;
  choice->last_channel = last;
  return true;
}

bool ReadKernel(Reader* reader, TuningChoice* choice) {
  if (!reader->ReadName(&choice->kernel) || !reader->AtWordEnd()) return false;
  choice->algorithm = "SYMMETRIC";
  int channels = 0;
  if (!reader->SkipTo(" nchannels ")) return true;
  if (!reader->Read(&channels) || channels < 1 || channels > kMostChannels) return false;
  choice->first_channel = 0;
  choice->last_channel = channels - 1;
  return true;
}

bool ReadAlgorithm(Reader* reader, TuningChoice* choice) {
  std::string algorithm, protocol;
  if (!reader->ReadName(&algorithm) || !reader->Skip(" proto ") || !reader->ReadName(&protocol) ||
      !reader->AtWordEnd()) {
    return false;
  }
  choice->algorithm = NameIn(kAlgorithms, std::move(algorithm));
  choice->protocol = NameIn(kProtocols, std::move(protocol));
  return ReadChannels(reader, choice);
}

std::optional<TuningChoice> ParseLine(std::string_view line) {
  static constexpr std::string_view kMark = "NCCL INFO ";
  const std::size_t mark = line.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  Reader reader(line.substr(mark + kMark.size()));
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
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto choice = ParseLine(text.substr(0, end))) choices.push_back(std::move(*choice));
    text.remove_prefix(std::min(end + 1, text.size()));
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
