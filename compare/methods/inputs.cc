// Inputs of a method of the calculator, and their checked values.
#include "compare/methods/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rharness {
namespace {

using Kind = InputSpec::Kind;

std::string PathOf(const std::string& name) { return "$." + name; }

Error Unfitting(const InputSpec& spec, const Json& value, const std::string& path) {
  std::string text =
      value.IsArray() || value.IsObject() ? std::string(value.KindName()) : value.Dump();
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return InvalidInput(fmt::format("found {}; expected {}", text, spec.Expected()), path);
}

bool Fits(const Range& range, double value) {
  return range.Holds(value) || (std::isnan(value) && std::isinf(range.low));
}

// [a, b, ...] unchanged, {"first", "pairs", "npairs"} expanded.
Result<std::vector<double>> Expand(const InputSpec& spec, const Json& value) {
  const std::string path = PathOf(spec.name);
  std::vector<double> numbers;
  const auto append = [&](const Json& element) {
    const auto number = element.ToDouble();
    const bool fits = number.has_value() && Fits(spec.range, *number) &&
                      (spec.kind == Kind::kNumbers || *number == std::floor(*number));
    if (fits) numbers.push_back(*number);
    return fits;
  };
  if (value.IsArray()) {
    if (value.AsArray().size() > spec.most) return Unfitting(spec, value, path);
    for (const Json& element : value.AsArray()) {
      if (!append(element)) {
        return Unfitting(spec, element, fmt::format("{}[{}]", path, numbers.size()));
      }
    }
    return numbers;
  }
  const Json* first = value.Find("first");
  const Json* pair = value.Find("pairs");
  const Json* repeats = value.Find("npairs");
  const bool usable = first != nullptr && pair != nullptr && repeats != nullptr &&
                      pair->IsArray() && pair->AsArray().size() == 2;
  const double times = usable ? repeats->ToDouble().value_or(-1.0) : -1.0;
  if (!(times >= 0.0) || !(2.0 * times + 1.0 <= static_cast<double>(spec.most)) ||
      times != std::floor(times) || !append(*first)) {
    return Unfitting(spec, value, path);
  }
  for (double i = 0.0; i < times; i += 1.0) {
    for (const Json& element : pair->AsArray()) {
      if (!append(element)) return Unfitting(spec, element, path + ".pairs");
    }
  }
  return numbers;
}

template <class Map>
const typename Map::mapped_type& Get(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  if (found == map.end())
    Abort(fmt::format("the method reads an input '{}' that is not there", name));
  return found->second;
}

}  // namespace

bool Range::Holds(double value) const {
  return (low_is_out ? value > low : value >= low) && (high_is_out ? value < high : value <= high);
}

std::string Range::ToString() const {
  constexpr double kLargest = std::numeric_limits<double>::max();
  if (std::isinf(low)) return "of any value";
  if (low == -kLargest && high == kLargest) return "that is finite";
  if (high == kLargest) return fmt::format("{} {}", low_is_out ? "above" : "of at least", low);
  const std::string_view ends = low_is_out && high_is_out ? ", both excluded"
                                : low_is_out              ? ", the first excluded"
                                : high_is_out             ? ", the last excluded"
                                                          : "";
  return fmt::format("from {} to {}{}", low, high, ends);
}

InputSpec InputSpec::Optional() const {
  InputSpec spec = *this;
  spec.required = false;
  return spec;
}

std::string InputSpec::Expected() const {
  switch (kind) {
    case Kind::kNumber:
      return fmt::format("a number {}", range.ToString());
    case Kind::kCount:
      return fmt::format("a whole number {}", range.ToString());
    case Kind::kNumbers:
      return fmt::format("a list of {} to {} numbers, each {}", fewest, most, range.ToString());
    case Kind::kCounts:
      return fmt::format("a list of {} to {} whole numbers, each {}", fewest, most,
                         range.ToString());
    case Kind::kText:
      return words.empty() ? "a text" : fmt::format("one of \"{}\"", fmt::join(words, "\", \""));
    case Kind::kFlag:
      break;
  }
  return "true or false";
}

InputSpec NumberInput(std::string name, std::string meaning, Range range) {
  return {.name = std::move(name),
          .kind = Kind::kNumber,
          .meaning = std::move(meaning),
          .range = range};
}

InputSpec CountInput(std::string name, std::string meaning, double low, double high) {
  return {.name = std::move(name),
          .kind = Kind::kCount,
          .meaning = std::move(meaning),
          .range = {low, high}};
}

InputSpec NumbersInput(std::string name, std::string meaning, Range range, std::size_t fewest,
                       std::size_t most) {
  return {.name = std::move(name),
          .kind = Kind::kNumbers,
          .meaning = std::move(meaning),
          .range = range,
          .fewest = fewest,
          .most = most};
}

InputSpec CountsInput(std::string name, std::string meaning, double low, double high,
                      std::size_t most) {
  InputSpec spec = NumbersInput(std::move(name), std::move(meaning), {low, high}, 1, most);
  spec.kind = Kind::kCounts;
  return spec;
}

InputSpec TextInput(std::string name, std::string meaning, std::vector<std::string> words) {
  return {.name = std::move(name),
          .kind = Kind::kText,
          .meaning = std::move(meaning),
          .words = std::move(words)};
}

InputSpec FlagInput(std::string name, std::string meaning) {
  return {.name = std::move(name), .kind = Kind::kFlag, .meaning = std::move(meaning)};
}

Status Inputs::ReadMember(const InputSpec& spec, const Json& value) {
  const std::string path = PathOf(spec.name);
  if (spec.kind == Kind::kNumber || spec.kind == Kind::kCount) {
    const auto number = value.ToDouble();
    const bool fits = number.has_value() && spec.range.Holds(*number) &&
                      (spec.kind == Kind::kNumber || *number == std::floor(*number));
    if (!fits) return Unfitting(spec, value, path);
    numbers_[spec.name] = *number;
  } else if (spec.kind == Kind::kNumbers || spec.kind == Kind::kCounts) {
    if (!value.IsArray() && !value.IsObject()) return Unfitting(spec, value, path);
    ASSIGN_OR_RETURN(std::vector<double> numbers, Expand(spec, value));
    if (numbers.size() < spec.fewest) {
      return InvalidInput(
          fmt::format("found {} numbers; expected {}", numbers.size(), spec.Expected()), path);
    }
    lists_[spec.name] = std::move(numbers);
  } else if (spec.kind == Kind::kText) {
    const bool fits = value.kind() == Json::Kind::kString &&
                      (spec.words.empty() || std::find(spec.words.begin(), spec.words.end(),
                                                       value.AsString()) != spec.words.end());
    if (!fits) return Unfitting(spec, value, path);
    texts_[spec.name] = value.AsString();
  } else {
    if (value.kind() != Json::Kind::kBool) return Unfitting(spec, value, path);
    flags_[spec.name] = value.AsBool();
  }
  return {};
}

Result<Inputs> Inputs::Read(const Json& object, const std::vector<InputSpec>& specs) {
  if (!object.IsObject()) {
    return InvalidInput(fmt::format("found {}; expected an object of inputs", object.KindName()),
                        "$");
  }
  std::string names;
  for (const InputSpec& spec : specs) names += (names.empty() ? "" : ", ") + spec.name;
  for (const Json::Member& member : object.AsObject()) {
    const std::string& name = member.first;
    const bool known = std::any_of(specs.begin(), specs.end(),
                                   [&](const InputSpec& spec) { return spec.name == name; });
    if (!known) {
      return InvalidInput(fmt::format("no input of this method; its inputs are {}", names),
                          PathOf(name.substr(0, 60)));
    }
  }
  Inputs inputs;
  for (const InputSpec& spec : specs) {
    const Json* value = object.Find(spec.name);
    if (value != nullptr && !value->IsNull()) {
      RETURN_IF_ERROR(inputs.ReadMember(spec, *value));
    } else if (spec.required) {
      return InvalidInput(fmt::format("missing; expected {}: {}", spec.Expected(), spec.meaning),
                          PathOf(spec.name));
    }
  }
  return inputs;
}

bool Inputs::Has(std::string_view name) const {
  return numbers_.contains(name) || lists_.contains(name) || texts_.contains(name) ||
         flags_.contains(name);
}

double Inputs::Number(std::string_view name) const { return Get(numbers_, name); }

double Inputs::NumberOr(std::string_view name, double fallback) const {
  return Has(name) ? Number(name) : fallback;
}

int Inputs::Count(std::string_view name) const { return static_cast<int>(Get(numbers_, name)); }

const std::vector<double>& Inputs::List(std::string_view name) const { return Get(lists_, name); }

std::vector<int> Inputs::Counts(std::string_view name) const {
  std::vector<int> counts;
  for (const double value : List(name)) counts.push_back(static_cast<int>(value));
  return counts;
}

const std::string& Inputs::Text(std::string_view name) const { return Get(texts_, name); }

bool Inputs::Flag(std::string_view name) const { return Get(flags_, name); }

}  // namespace rharness
