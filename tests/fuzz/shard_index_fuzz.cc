// Fuzzes the parser of shard indexes: no crash, no undefined behaviour, and no file outside of the
// index's folder.
//
// An input is a whole index. Run: rharness-shard-index-fuzz -max_total_time=60 CORPUS
// shard_index_seeds
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compare/weights/sharded.h"

namespace rharness {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckAccepted(const ShardIndex& index) {
  Require(!index.tensors.empty() && !index.shards.empty());
  for (std::size_t i = 0; i < index.tensors.size(); ++i) {
    Require(index.tensors[i].shard < index.shards.size());
    Require(i == 0 || index.tensors[i - 1].name < index.tensors[i].name);
  }
  for (const std::string& shard : index.shards) {
    Require(!shard.empty() && shard != "." && shard != ".." &&
            shard.find('/') == std::string::npos && shard.find('\0') == std::string::npos);
  }
  Require(std::ranges::is_sorted(index.shards));
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = rharness::ParseShardIndex(text, "fuzz");
  if (parsed.ok()) {
    rharness::CheckAccepted(*parsed);
  } else {
    const rharness::Error& error = parsed.error();
    rharness::Require(error.where.starts_with("fuzz: byte ") && !error.message.empty());
  }
  return 0;
}
