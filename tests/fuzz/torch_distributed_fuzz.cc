// Fuzzes the metadata of distributed checkpoints: no crash, no undefined behaviour, and the chunks
// of what it accepts make up their tensors.
//
// An input is a .metadata file. Run: rharness-torch-distributed-fuzz -max_total_time=60 CORPUS
// torch_distributed_seeds
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compare/weights/torch_distributed.h"

namespace rharness {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// That chunks neither overlap nor leave a hole is checked by their number of elements alone.
void CheckAccepted(const DistributedMetadata& metadata) {
  for (std::size_t i = 0; i < metadata.tensors.size(); ++i) {
    const DistributedTensor& tensor = metadata.tensors[i];
    Require(i == 0 || metadata.tensors[i - 1].info.name < tensor.info.name);
    std::uint64_t elements = 0;
    for (const DistributedChunk& chunk : tensor.chunks) {
      Require(chunk.file < metadata.files.size());
      Require(chunk.sizes.size() == tensor.info.shape.size());
      std::uint64_t product = 1;
      for (const std::uint64_t size : chunk.sizes) product *= size;
      elements += product;
    }
    Require(elements == tensor.info.elements);
  }
  for (const DistributedObject& object : metadata.objects) {
    Require(object.file < metadata.files.size());
  }
  for (const std::string& file : metadata.files) {
    Require(!file.empty() && file != ".." && file.find('/') == std::string::npos);
  }
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = rharness::ParseDistributedMetadata(
      std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  if (parsed.ok()) {
    rharness::CheckAccepted(*parsed);
  } else {
    const rharness::Error& error = parsed.error();
    rharness::Require(error.where.starts_with("fuzz: byte ") && !error.message.empty());
  }
  return 0;
}
