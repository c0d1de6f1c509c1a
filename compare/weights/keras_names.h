// The names of a Keras model's variables, the same in each of its formats.
//
// Role: private to this folder; under keras. Pure. A variable is LAYER/INDEX, LAYER its layer's
// path in the model ("dense", "sub/dense_1", "bidirectional/forward_lstm/lstm_cell") and INDEX its
// place among the layer's variables, since the newer format stores no names of variables (of Dense:
// 0 is the kernel, 1 the bias). A layer that its program named keeps its name; one that Keras named
// after its class is numbered within its model, as the newer format does: Keras counts its names
// through all models of a process. The optimizer's variables are optimizer/INDEX.
//
//   file                       says                                        as in
//   .keras, .weights.h5        layers/dense_1/vars/0, and the layer's       Keras 3; 2.12 and later
//                              name in the attribute "name"                without names
//   .h5                        weight_names of each layer, in order, and    Keras 2 and 3
//                              the classes in model_config
//
// Source: keras/src/saving/saving_lib.py, keras/src/legacy/saving/legacy_h5_format.py.
#ifndef RHARNESS_COMPARE_WEIGHTS_KERAS_NAMES_H_
#define RHARNESS_COMPARE_WEIGHTS_KERAS_NAMES_H_

#include <map>
#include <string>
#include <string_view>

#include "compare/weights/hdf5_attributes.h"

namespace rharness {

// Attributes by the path of their group; "" is the root.
using Hdf5Groups = std::map<std::string, Hdf5Texts, std::less<>>;

// Names by the paths of datasets; a dataset without one keeps its path. Nothing here is an error:
// what does not fit has no name.
using KerasNames = std::map<std::string, std::string, std::less<>>;
// `config`: the model's config.json, which names the layers where their groups do not; empty: none.
KerasNames NamesOfKeras(const Hdf5Groups& groups, const std::vector<std::string>& datasets,
                        const std::string& config);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_KERAS_NAMES_H_
