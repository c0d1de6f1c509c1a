// Reads the metrics file of a finished run: strictly if possible, else member by member.
#include "harness/records/manifest/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <optional>
#include <utility>

#include "harness/base/digest.h"

namespace rharness {
namespace {

constexpr std::size_t kMostSentences = 10;
constexpr std::size_t kMostUnread = 1000;

// Non-finite values as written by Python's json module, and as our reader expects them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kBareNumbers = {
    {{"-Infinity", "\"-inf\""}, {"Infinity", "\"inf\""}, {"NaN", "\"nan\""}}};

// `text` with these words quoted where they are numbers; empty if there are none.
std::optional<std::string> WithQuotedNumbers(std::string_view text) {
  std::string quoted;
  bool found = false;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    std::size_t size = 1;
    std::string_view replacement;
    if (in_string && rest[0] == '\\' && rest.size() > 1) {
      size = 2;
    } else if (rest[0] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      for (const auto& [bare, spelling] : kBareNumbers) {
        if (!rest.starts_with(bare)) continue;
        size = bare.size();
        replacement = spelling;
        found = true;
        break;
      }
    }
    quoted += replacement.empty() ? rest.substr(0, size) : replacement;
    at += size;
  }
  if (!found) return std::nullopt;
  return quoted;
}

bool IsExactAsDouble(std::uint64_t magnitude) {
  constexpr int kDoubleBits = 53;
  return magnitude == 0 || std::bit_width(magnitude >> std::countr_zero(magnitude)) <= kDoubleBits;
}

// Whether an integer in it is no double.
bool HasInexact(const Json& json) {
  if (json.IsArray()) return std::ranges::any_of(json.AsArray(), HasInexact);
  if (json.IsObject()) {
    return std::ranges::any_of(json.AsObject(),
                               [](const auto& member) { return HasInexact(member.second); });
  }
  if (json.kind() == Json::Kind::kBigInt) return true;
  if (const auto value = json.ToUint64()) return !IsExactAsDouble(*value);
  const auto value = json.ToInt64();
  return value && !IsExactAsDouble(std::uint64_t{0} - static_cast<std::uint64_t>(*value));
}

// Text can be a host's name or a date, as well as a number that could not be written.
bool MayBeResult(const Json& json) { return json.kind() != Json::Kind::kString && !json.IsNull(); }

class Salvage {
 public:
  explicit Salvage(std::string_view file) : file_(file) {}

  void Say(std::string sentence) {
    if (++sentences_ <= kMostSentences) result_.left_out.push_back(std::move(sentence));
  }

  void ReadSection(const std::string& section, const Json& json) {
    if (json.IsNull()) return;
    if (!json.IsObject()) return Keep(Json::MakeObject({{section, json}}), section, json);
    for (const auto& [name, value] : json.AsObject()) {
      Json usable = section == "curves" ? PointsOf(name, value) : value;
      Keep(Json::MakeObject({{section, Json::MakeObject({{name, std::move(usable)}})}}),
           section + "." + name, value);
    }
  }

  // What is read, but not to the last digit.
  void ReadInexact(const Json& file) {
    for (const char* section : {"metrics", "curves"}) {
      const Json* members = file.Find(section);
      if (members == nullptr || !members->IsObject()) continue;
      for (const auto& [name, value] : members->AsObject()) {
        if (HasInexact(value)) SayUnread(fmt::format("{}.{}", section, name), value);
      }
    }
  }

  void SayUnread(const std::string& member, const Json& value) {
    const std::string text = value.Dump();
    result_.unread[Bounded(member, kUnreadNameBytes)] = Bounded(text, kUnreadTextBytes);
  }

  // Keeps the result of a strict reader for this part of the file, `value` of the name, or the
  // reason of its failure.
  void Keep(const Json& part, const std::string& name, const Json& value) {
    auto read = ParseRunMetrics(part, file_);
    if (!read.ok()) {
      if (!name.starts_with("software")) SayUnread(name, value);
      return Say(read.error().ToString() + "; left out");
    }
    result_.metrics.metrics.merge(read->metrics);
    result_.metrics.software.merge(read->software);
    for (Curve& curve : read->curves) result_.metrics.curves.push_back(std::move(curve));
  }

  SalvagedMetrics Take(RunMetrics whole) {
    result_.metrics = std::move(whole);
    return Take();
  }

  SalvagedMetrics Take() {
    if (sentences_ > kMostSentences) {
      result_.left_out.back() =
          fmt::format("{}: {} more members left out", file_, sentences_ - kMostSentences + 1);
    }
    if (result_.unread.size() > kMostUnread) BoundUnread();
    return std::move(result_);
  }

 private:
  static std::string Bounded(const std::string& text, std::size_t most_bytes) {
    return text.size() <= most_bytes ? text : "sha256 " + Sha256HexOf(text);
  }

  // Merges the last members into one.
  void BoundUnread() {
    const auto first = std::next(result_.unread.begin(), kMostUnread - 1);
    Json rest = Json::MakeObject();
    for (auto it = first; it != result_.unread.end(); ++it)
      rest.AppendMember(it->first, it->second);
    const std::string name = fmt::format("{}{}", rest.AsObject().size(), kMoreUnread);
    result_.unread.erase(first, result_.unread.end());
    result_.unread[name] = "sha256 " + Sha256HexOf(rest.Dump());
  }

  // A curve without the members that a curve does not have.
  Json PointsOf(const std::string& name, const Json& curve) {
    if (!curve.IsObject()) return curve;
    Json points = Json::MakeObject();
    for (const auto& [key, value] : curve.AsObject()) {
      if (key == "steps" || key == "values") {
        points.AppendMember(key, value);
      } else if (!key.starts_with("x-")) {
        Say(fmt::format("{}: $.curves.{}: unknown member \"{}\"; left out", file_, name, key));
        if (MayBeResult(value)) SayUnread(fmt::format("curves.{}.{}", name, key), value);
      }
    }
    return points;
  }

  std::string file_;
  std::size_t sentences_ = 0;
  SalvagedMetrics result_;
};

// A number beside "metrics" most likely belongs into it.
std::string Unknown(std::string_view file, const std::string& name, const Json& value) {
  return fmt::format("{}: $: unknown member \"{}\"; left out{}", file, name,
                     value.ToDouble() ? "; a metric belongs in \"metrics\"" : "");
}

}  // namespace

Result<SalvagedMetrics> SalvageRunMetrics(std::string_view text, std::string_view file) {
  Salvage salvage(file);
  Result<Json> json = ParseJson(text, file);
  if (!json.ok()) {
    const std::optional<std::string> quoted = WithQuotedNumbers(text);
    Result<Json> again = quoted ? ParseJson(*quoted, file) : Result<Json>(json.error());
    if (!again.ok()) return json.error();
    json = std::move(again);
    salvage.Say(fmt::format(
        "{}: NaN and Infinity are no JSON; read as \"nan\" and \"inf\", which are", file));
  }
  salvage.ReadInexact(*json);
  if (auto whole = ParseRunMetrics(*json, file); whole.ok()) {
    return salvage.Take(std::move(*whole));
  }
  if (!json->IsObject()) {
    return InvalidInput(fmt::format("expected an object, found {}", json->KindName()),
                        fmt::format("{}: $", file));
  }
  for (const auto& [name, value] : json->AsObject()) {
    if (name == "metrics" || name == "curves" || name == "software") {
      salvage.ReadSection(name, value);
    } else if (!name.starts_with("x-")) {
      salvage.Say(Unknown(file, name, value));
      if (MayBeResult(value)) salvage.SayUnread(name, value);
    }
  }
  return salvage.Take();
}

}  // namespace rharness
