// What a list of members says of a member beside its name and value: a sentence, bounds, names.
//
// Role: the vocabulary of json_members.h and json_schema.h. Not here: reading, writing.
#ifndef RHARNESS_HARNESS_BASE_MEMBER_FACTS_H_
#define RHARNESS_HARNESS_BASE_MEMBER_FACTS_H_

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rharness {

// Of a list of members: for this noun, const or not.
template <class T, class Noun>
concept Is = std::same_as<std::remove_const_t<T>, Noun>;

// A kind of member, which says what its C++ type does not (strict_members.h).
template <class K>
concept MemberKind = std::is_empty_v<K>;

// A table of (value, name), read in both directions.
template <class T, std::size_t n>
using NameTable = std::array<std::pair<T, std::string_view>, n>;

// A table from the function that names an enumeration where it is declared.
template <class T, std::size_t n>
NameTable<T, n> NamesFrom(std::string_view (*name)(T), const std::array<T, n>& values) {
  NameTable<T, n> table{};
  for (std::size_t i = 0; i < n; ++i) table[i] = {values[i], name(values[i])};
  return table;
}

// The name of a value of the table; empty for none.
template <class T, std::size_t n>
constexpr std::string_view NameIn(const NameTable<T, n>& table, T value) {
  for (const auto& [key, name] : table) {
    if (key == value) return name;
  }
  return {};
}

// The description of a member, and what its type does not say. All text outlives it.
//
//   io.Must("code", cause.code, "Stable, for machines.");
//   io.Must("exit_code", report.exit_code, About("0 open, 1 closed.").OneOf("0 1"));
class About {
 public:
  constexpr About() = default;
  constexpr About(const char* text) : text_(text) {}  // NOLINT: implicit

  // Of a number: bounds, both included. Of the numbers of an array, each.
  constexpr About Least(int least) const { return With(&About::least_, least); }
  constexpr About Most(int most) const { return With(&About::most_, most); }
  constexpr About Positive() const { return With(&About::positive_, true); }
  // Never written as "nan", "inf" or "-inf".
  constexpr About Finite() const { return With(&About::finite_, true); }
  // May be written so, in a document whose numbers are finite.
  constexpr About AnyNumber() const { return With(&About::any_number_, true); }
  // The only values, with spaces between them: names, or integers.
  constexpr About OneOf(const char* values) const { return With(&About::one_of_, values); }
  // Of a text.
  constexpr About NotEmpty() const { return With(&About::not_empty_, true); }
  constexpr About Pattern(const char* pattern) const { return With(&About::pattern_, pattern); }
  constexpr About Sha256() const { return Pattern("^[0-9a-f]{64}$"); }
  // Written always, and read from older records that lack it / absent in older records.
  constexpr About Always() const { return With(&About::always_, true); }
  constexpr About Optional() const { return With(&About::optional_, true); }
  // Of an array: how many elements.
  constexpr About LeastItems(int least) const { return With(&About::least_items_, least); }
  constexpr About MostItems(int most) const { return With(&About::most_items_, most); }

  // Values as JSON, one a line; a line that is no JSON is a text.
  constexpr About Examples(const char* values) const { return With(&About::examples_, values); }

  static constexpr int kNoBound = -1;
  const char* text() const { return text_; }  // "": none
  int least() const { return least_; }
  int most() const { return most_; }
  bool positive() const { return positive_; }
  bool finite() const { return finite_; }
  bool any_number() const { return any_number_; }
  std::string_view one_of() const { return one_of_; }
  bool not_empty() const { return not_empty_; }
  std::string_view pattern() const { return pattern_; }
  bool always() const { return always_; }
  bool optional() const { return optional_; }
  std::string_view examples() const { return examples_; }
  int least_items() const { return least_items_; }
  int most_items() const { return most_items_; }

 private:
  template <class T>
  constexpr About With(T About::*fact, T value) const {
    About with = *this;
    with.*fact = value;
    return with;
  }

  const char* text_ = "";
  const char* one_of_ = "";
  const char* pattern_ = "";
  const char* examples_ = "";
  int least_ = kNoBound;
  int most_ = kNoBound;
  int least_items_ = kNoBound;
  int most_items_ = kNoBound;
  bool positive_ = false;
  bool finite_ = false;
  bool any_number_ = false;
  bool not_empty_ = false;
  bool always_ = false;
  bool optional_ = false;
};

// Of a signed number that counts something; of a share.
constexpr About Count(const char* text = "") { return About(text).Least(0); }
constexpr About Share(const char* text = "") { return About(text).Least(0).Most(1); }

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_MEMBER_FACTS_H_
