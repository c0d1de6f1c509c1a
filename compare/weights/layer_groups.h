// Adds up the tensors of one layer, so that a comparison shows where in a model differences begin.
//
// Role: under tensor_diff. Pure.
#ifndef RHARNESS_COMPARE_WEIGHTS_LAYER_GROUPS_H_
#define RHARNESS_COMPARE_WEIGHTS_LAYER_GROUPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/tensor_diff.h"

namespace rharness {

// The group of a tensor, as GroupDifference says; a name without a dot is its own group.
std::string_view GroupOf(std::string_view tensor_name);

// Whether `a` comes before `b` when runs of digits, however long, count by their value:
// "layers.2", "layers.02", "layers.10". A total order: equal values are ordered by length and then
// by bytes.
bool NaturalLess(std::string_view a, std::string_view b);

class LayerGroups {
 public:
  // Call in the order of names, which is the order of the sums. `difference` is null if there is
  // none.
  void Add(std::string_view tensor_name, std::uint64_t elements,
           const TensorDifference* difference);
  std::vector<GroupDifference> Build() const;  // in natural order

 private:
  struct NaturalOrder {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return NaturalLess(a, b); }
  };
  struct Sums {
    GroupDifference group;
    double a_squared = 0.0;
    double difference_squared = 0.0;
    std::uint64_t with_norms = 0;  // tensors in the two sums
    std::uint64_t measurable = 0;  // tensors in the maxima
  };
  std::map<std::string, Sums, NaturalOrder> groups_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_LAYER_GROUPS_H_
