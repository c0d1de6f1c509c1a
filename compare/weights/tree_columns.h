// Arrays of a model's trees, put together by their names.
//
// Role: private to this folder; shared by xgboost_model and lightgbm_model.
#ifndef RHARNESS_COMPARE_WEIGHTS_TREE_COLUMNS_H_
#define RHARNESS_COMPARE_WEIGHTS_TREE_COLUMNS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "compare/weights/placed_checkpoint.h"

namespace rharness {

// Files of these models are read into memory: a limit of both readers.
inline constexpr std::uint64_t kMaxTreeModelBytes = std::uint64_t{512} << 20;

class TreeColumns {
 public:
  // An array that may stay empty. `dtype`: U8, I32, I64, F32 or F64; one a name.
  void Begin(std::string_view name, DType dtype) {
    columns_.try_emplace(std::string(name), Column{.dtype = dtype});
  }
  // To a column that has begun. False: the value does not fit its dtype.
  bool Add(std::string_view name, std::int64_t value);
  bool Add(std::string_view name, double value);
  // A number's text, read as a number of the dtype; NaN, Infinity, true and false are numbers.
  bool AddText(std::string_view name, std::string_view number);
  std::uint64_t Count(std::string_view name) const;  // 0 of a column that has not begun
  // Of one dimension each, in the order of their names.
  void MoveTo(std::string_view stated_at, PlacedParts* parts);

 private:
  struct Column {
    DType dtype = DType::kF32;
    std::string bytes;
    std::uint64_t count = 0;
  };
  std::map<std::string, Column, std::less<>> columns_;
};

// The whole of a file. Errors: unsupported above kMaxTreeModelBytes; those of ReadAt.
Result<std::string> ReadTreeModel(const InputFile& file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TREE_COLUMNS_H_
