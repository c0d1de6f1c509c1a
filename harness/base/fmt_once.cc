// The only unit that compiles fmt's functions; all others only declare them.
//
// Distributions bring fmt as a shared library or as headers, and rharness-probe runs on machines
// without such a library. A unit of its own costs seconds once; headers alone cost them in every
// unit.
#include <fmt/format-inl.h>

// Declared elsewhere as instantiated; for char, the one character type in use.
template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(locale_ref) -> char;
