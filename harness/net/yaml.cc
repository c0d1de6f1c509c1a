// YAML to JSON; a fence around yaml-cpp, whose exceptions end here.
#include "harness/net/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/clean_text.h"

namespace rharness {
namespace {

bool AllDigits(std::string_view text, std::string_view digits = "0123456789") {
  return !text.empty() && text.find_first_not_of(digits) == text.npos;
}

std::optional<Json> IntegerInBase(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return Json(value);
}

// Of a text of digits alone, without its sign.
std::optional<Json> YamlDecimal(std::string_view digits, bool negative) {
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  const std::string text = fmt::format("{}{}", negative ? "-" : "", digits);
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc()) return Json(value);
  if (!negative) {
    if (auto wide = IntegerInBase(digits, 10)) return wide;
  }
  constexpr std::size_t kMostDigits = 300;  // of a double
  if (digits.size() > kMostDigits) return std::nullopt;
  return Json::MakeBigInt(text);
}

// ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool IsFloat(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, e);
  if (e != text.npos) {
    std::string_view exponent = text.substr(e + 1);
    if (exponent.starts_with('-') || exponent.starts_with('+')) exponent.remove_prefix(1);
    if (!AllDigits(exponent)) return false;
  }
  const std::size_t point = mantissa.find('.');
  if (point == mantissa.npos) return AllDigits(mantissa);
  const std::string_view whole = mantissa.substr(0, point), part = mantissa.substr(point + 1);
  if (whole.empty()) return AllDigits(part);
  return AllDigits(whole) && (part.empty() || AllDigits(part));
}

std::optional<Json> YamlFloat(std::string_view text, bool negative) {
  if (!IsFloat(text)) return std::nullopt;
  if (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9') return std::nullopt;
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return Json(negative ? -value : value);
}

std::optional<Json> YamlNumber(std::string_view text) {
  if (text.starts_with("0x")) {
    return AllDigits(text.substr(2), "0123456789abcdefABCDEF") ? IntegerInBase(text.substr(2), 16)
                                                               : std::nullopt;
  }
  if (text.starts_with("0o")) {
    return AllDigits(text.substr(2), "01234567") ? IntegerInBase(text.substr(2), 8) : std::nullopt;
  }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == ".inf" || text == ".Inf" || text == ".INF") {
    const double infinity = std::numeric_limits<double>::infinity();
    return Json(negative ? -infinity : infinity);
  }
  return AllDigits(text) ? YamlDecimal(text, negative) : YamlFloat(text, negative);
}

// Numbers of ruamel.yaml that the core schema does not have.
std::optional<Json> DvcNumber(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !((text[0] >= '0' && text[0] <= '9') || text[0] == '.')) return std::nullopt;
  std::string digits(text);
  std::erase(digits, '_');
  if (digits.starts_with("0b")) {
    const auto value =
        AllDigits(digits.substr(2), "01") ? IntegerInBase(digits.substr(2), 2) : std::nullopt;
    const auto integer = value ? value->ToInt64() : std::nullopt;
    if (!integer) return std::nullopt;
    return Json(negative ? -*integer : *integer);
  }
  // Leading zeros, except in "0", "0x", "0o" and "0.5".
  while (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') {
    digits.erase(0, 1);
  }
  return YamlNumber((negative ? "-" : "") + digits);
}

Json YamlScalar(const std::string& text, YamlScalars scalars) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (text == ".nan" || text == ".NaN" || text == ".NAN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto number = scalars == YamlScalars::kDvc ? DvcNumber(text) : std::nullopt;
  return number ? *number : YamlNumber(text).value_or(Json(text));
}

// A tag of the core schema that a plain scalar may have.
bool IsCoreTag(std::string_view tag) {
  constexpr std::string_view kCore = "tag:yaml.org,2002:";
  if (!tag.starts_with(kCore)) return false;
  tag.remove_prefix(kCore.size());
  return tag == "int" || tag == "float" || tag == "bool" || tag == "null";
}

// What a value comes to, itself included.
struct YamlExtent {
  std::size_t values = 1;
  std::size_t bytes = 0;  // of texts
  std::size_t depth = 0;  // 0: a scalar
};

// Builds the value as the parser reads, and ends it when it is too much.
class YamlBuilder : public YAML::EventHandler {
 public:
  explicit YamlBuilder(YamlScalars scalars) : scalars_(scalars) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (NeedsKey()) return TakeKey(mark, "null", anchor);
    Count(mark, {});
    Attach(mark, Json(), {}, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (NeedsKey()) return TakeKey(mark, value, anchor);
    const bool plain = scalars_ != YamlScalars::kText && (tag == "?" || IsCoreTag(tag));
    const YamlExtent extent{1, value.size(), 0};
    Count(mark, extent);
    Attach(mark, plain ? YamlScalar(value, scalars_) : Json(value), extent, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Fail(mark, "an alias of what it stands in");
    const auto& [value, extent] = found->second;
    if (NeedsKey()) {
      if (value.kind() != Json::Kind::kString) Fail(mark, "a key that is no text");
      return TakeKey(mark, std::string(value.AsString()), 0);
    }
    if (stack_.size() + extent.depth > kMostYamlDepth) FailDepth(mark);
    Count(mark, extent);
    Attach(mark, Json(value), extent, 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, Json::MakeArray(), anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, Json::MakeObject(), anchor);
  }
  void OnMapEnd() override { Close(); }

  Json TakeRoot() { return std::move(root_); }

 private:
  struct Level {
    Json value;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark;
    YamlExtent extent{1, 0, 1};
    std::optional<std::string> key;
    std::set<std::string> keys;
  };

  [[noreturn]] static void Fail(const YAML::Mark& mark, const std::string& message) {
    throw YAML::ParserException(mark, message);
  }
  [[noreturn]] static void FailDepth(const YAML::Mark& mark) {
    Fail(mark, fmt::format("more than {} levels; expected at most that", kMostYamlDepth));
  }

  // Every copy counts: those of aliases, and those kept for them.
  void Count(const YAML::Mark& mark, const YamlExtent& extent) {
    values_ += extent.values;
    bytes_ += extent.bytes;
    if (values_ > kMostYamlValues || bytes_ > kMostYamlBytes) {
      Fail(mark, fmt::format("more than {} values or {} bytes, with every alias as what it names; "
                             "expected at most that",
                             kMostYamlValues, kMostYamlBytes));
    }
  }

  bool NeedsKey() const {
    return !stack_.empty() && stack_.back().value.IsObject() && !stack_.back().key;
  }

  void TakeKey(const YAML::Mark& mark, const std::string& key, YAML::anchor_t anchor) {
    const YamlExtent extent{1, key.size(), 0};
    Count(mark, extent);
    if (!stack_.back().keys.insert(key).second) {
      Fail(mark, fmt::format("the key {} is there twice", QuotedShort(key)));
    }
    if (anchor != 0) anchors_[anchor] = {Json(key), extent};
    stack_.back().extent.bytes += key.size();
    stack_.back().key = key;
  }

  void Open(const YAML::Mark& mark, Json value, YAML::anchor_t anchor) {
    if (NeedsKey()) Fail(mark, "a key that is no text");
    if (stack_.size() >= kMostYamlDepth) FailDepth(mark);
    Count(mark, {});
    stack_.push_back({.value = std::move(value), .anchor = anchor, .mark = mark});
  }

  void Close() {
    Level level = std::move(stack_.back());
    stack_.pop_back();
    Attach(level.mark, std::move(level.value), level.extent, level.anchor);
  }

  void Attach(const YAML::Mark& mark, Json value, const YamlExtent& extent, YAML::anchor_t anchor) {
    if (anchor != 0) {
      Count(mark, extent);
      anchors_[anchor] = {value, extent};
    }
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& level = stack_.back();
    level.extent.values += extent.values;
    level.extent.bytes += extent.bytes;
    level.extent.depth = std::max(level.extent.depth, extent.depth + 1);
    if (level.value.IsObject()) {
      level.value.AppendMember(*std::exchange(level.key, std::nullopt), std::move(value));
    } else {
      level.value.Append(std::move(value));
    }
  }

  YamlScalars scalars_;
  Json root_;
  std::vector<Level> stack_;
  std::map<YAML::anchor_t, std::pair<Json, YamlExtent>> anchors_;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
};

// Characters that neither YAML nor JSON may contain; the parser takes some of them for the end of
// its input.
const char* FirstControl(std::string_view text) {
  const auto control = std::ranges::find_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
  });
  return control == text.end() ? nullptr : &*control;
}

Error WrongYaml(std::string message, std::string_view file, std::ptrdiff_t line) {
  return InvalidInput(std::move(message), fmt::format("{}:{}", file, line + 1));
}

}  // namespace

Result<Json> ParseYamlAsJson(std::string_view text, std::string_view file, YamlScalars scalars) {
  if (text.size() > kMostYamlBytes) {
    return WrongYaml(
        fmt::format("{} bytes of YAML; expected at most {}", text.size(), kMostYamlBytes), file, 0);
  }
  if (const char* control = FirstControl(text)) {
    return WrongYaml("a control character, which YAML does not have", file,
                     std::count(text.data(), control, '\n'));
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    YamlBuilder builder(scalars);
    if (!parser.HandleNextDocument(builder)) return Json();
    Json root = builder.TakeRoot();
    YamlBuilder second(scalars);
    if (parser.HandleNextDocument(second)) {
      return WrongYaml("a second YAML document; expected one", file, 0);
    }
    return root;
  } catch (const YAML::Exception& error) {
    return WrongYaml(CleanText(error.msg, 200), file, std::max(error.mark.line, 0));
  } catch (const std::exception& error) {  // of its stream and containers
    return WrongYaml(fmt::format("cannot be read as YAML ({})", error.what()), file, 0);
  }
}

}  // namespace rharness
