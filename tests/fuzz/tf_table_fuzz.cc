// Fuzzes the reader of sorted tables, TensorFlow's indexes: no crash, no undefined behaviour, keys
// in ascending order, values within the input.
//
// An input is a whole table. Run: rharness-tf-table-fuzz -max_total_time=60 CORPUS tf_table_seeds
#include <cstdint>
#include <functional>
#include <string_view>

#include "compare/weights/tf_table.h"
#include "tests/fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto entries = rharness::ParseTable(bytes, "fuzz");
  if (!entries.ok()) {
    rharness::Require(entries.error().where.starts_with("fuzz") &&
                      !entries.error().message.empty());
    return 0;
  }
  const std::less_equal<> before;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const rharness::TableEntry& entry = (*entries)[i];
    rharness::Require(i == 0 || (*entries)[i - 1].key < entry.key);
    rharness::Require(before(bytes.data(), entry.value.data()) &&
                      before(entry.value.data() + entry.value.size(), bytes.data() + size));
  }
  return 0;
}
