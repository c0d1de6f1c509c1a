// The keys of a variable's partitions in TensorFlow's indexes.
//
// Role: private to this folder; under tf_checkpoint. Pure. Source: EncodeTensorNameSlice and
// OrderedCode of github.com/tensorflow/tensorflow; tensor_slice.proto.
#ifndef RHARNESS_COMPARE_WEIGHTS_TF_SLICE_H_
#define RHARNESS_COMPARE_WEIGHTS_TF_SLICE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// Along one dimension; a length of -1: all of it.
struct TfExtent {
  std::int64_t start = 0;
  std::int64_t length = -1;
};
// One extent a dimension.
using TfSlice = std::vector<TfExtent>;

// The key of a partition of a variable; begins with a zero byte, as no variable's key does.
std::string KeyOfTfSlice(std::string_view name, const TfSlice& slice);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TF_SLICE_H_
