// Enumerations as columns hold them: their words; NULL or empty for an optional one without value.
//
// Role: private to this folder; the one conversion between SQL and Verdict, PartState and
// PropertyState, for SOCI's into and use.
// Source: https://soci.sourceforge.net/doc/release/4.0/types/ ("User-defined C++ types").
#ifndef RHARNESS_HARNESS_HISTORY_WORD_COLUMN_H_
#define RHARNESS_HARNESS_HISTORY_WORD_COLUMN_H_

#include <soci/soci.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "harness/verdict/states.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// Thrown within Database::Guard alone, which says whom the word is about.
struct UnknownWordInColumn : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Opening refuses a history with other words; one may be written while it is open.
template <class T, Result<T> (*parse)(std::string_view), std::string_view (*name)(T)>
struct WordColumn {
  using base_type = std::string;
  static void from_base(const std::string& word, soci::indicator state, T& value) {
    const auto known = parse(state == soci::i_null ? std::string() : word);
    if (!known.ok()) throw UnknownWordInColumn(known.error().message);
    value = *known;
  }
  static void to_base(const T& value, std::string& word, soci::indicator& state) {
    word = name(value);
    state = soci::i_ok;
  }
};

template <class Column, class T>
struct OptionalWordColumn {
  using base_type = std::string;
  static void from_base(const std::string& word, soci::indicator state, std::optional<T>& value) {
    value.reset();
    if (state == soci::i_null || word.empty()) return;
    Column::from_base(word, state, value.emplace());
  }
};

}  // namespace rharness

namespace soci {

template <>
struct type_conversion<rharness::Verdict>
    : rharness::WordColumn<rharness::Verdict, rharness::ParseVerdict, rharness::VerdictName> {};
template <>
struct type_conversion<rharness::PartState>
    : rharness::WordColumn<rharness::PartState, rharness::ParsePartState, rharness::PartStateName> {
};
template <>
struct type_conversion<rharness::PropertyState>
    : rharness::WordColumn<rharness::PropertyState, rharness::ParsePropertyState,
                           rharness::PropertyStateName> {};
template <>
struct type_conversion<std::optional<rharness::Verdict>>
    : rharness::OptionalWordColumn<type_conversion<rharness::Verdict>, rharness::Verdict> {};
template <>
struct type_conversion<std::optional<rharness::PartState>>
    : rharness::OptionalWordColumn<type_conversion<rharness::PartState>, rharness::PartState> {};

}  // namespace soci

#endif  // RHARNESS_HARNESS_HISTORY_WORD_COLUMN_H_
