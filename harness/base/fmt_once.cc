// The one unit that compiles fmt's functions; every other one only declares them.
//
// Distributions bring fmt as a shared library or as headers, and rharness-probe runs where no such
// library is. A unit of its own costs seconds once, where headers alone cost them in every unit.
#include <fmt/format-inl.h>

// Declared elsewhere as instantiated; for char, the one character type in use.
template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(locale_ref) -> char;
