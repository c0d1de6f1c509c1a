// Indices of trees are int; those of vectors are not.
#ifndef RHARNESS_PROBES_ORDER_AT_H_
#define RHARNESS_PROBES_ORDER_AT_H_

#include <cstddef>

namespace rharness {

// `index`, which is not negative, as a place in a vector.
constexpr std::size_t At(int index) { return static_cast<std::size_t>(index); }

}  // namespace rharness

#endif  // RHARNESS_PROBES_ORDER_AT_H_
