// The .metadata of distributed checkpoints for tests, written byte by byte.
//
// Role: a writer that shares no code with the reader under test.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_DISTRIBUTED_FILES_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_DISTRIBUTED_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rharness::distributed {

inline std::string Number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

// Values as protocol 4 spells them.
using Pickled = std::string;
using Fields = std::vector<std::pair<std::string, Pickled>>;

inline Pickled Join(const std::vector<Pickled>& values) {
  Pickled joined;
  for (const Pickled& value : values) joined += value;
  return joined;
}
inline Pickled None() { return "N"; }
inline Pickled Text(std::string_view text) {
  return "X" + Number(text.size(), 4) + std::string(text);
}
inline Pickled Int(std::uint64_t value) { return "\x8a\x08" + Number(value, 8); }
inline Pickled Tuple(const std::vector<Pickled>& items) { return "(" + Join(items) + "t"; }
inline Pickled List(const std::vector<Pickled>& items) { return "](" + Join(items) + "e"; }
inline Pickled Global(std::string_view module, std::string_view name) {
  return Text(module) + Text(name) + "\x93";
}
inline Pickled Call(const Pickled& callable, const std::vector<Pickled>& arguments) {
  return callable + Tuple(arguments) + "R";
}
inline Pickled Dict(const std::vector<std::pair<Pickled, Pickled>>& entries) {
  Pickled dict = "}(";
  for (const auto& [key, value] : entries) dict += key + value;
  return dict + "u";
}
// An instance with its members, of a class of torch.distributed.checkpoint.
inline Pickled Instance(std::string_view module, std::string_view name, const Fields& members) {
  std::vector<std::pair<Pickled, Pickled>> state;
  for (const auto& [key, value] : members) state.emplace_back(Text(key), value);
  return Global("torch.distributed.checkpoint." + std::string(module), name) + ")\x81" +
         Dict(state) + "b";
}
inline Pickled Size(const std::vector<std::uint64_t>& sizes) {
  std::vector<Pickled> items;
  for (const std::uint64_t size : sizes) items.push_back(Int(size));
  return Call(Global("torch", "Size"), {Tuple(items)});
}

struct Chunk {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> sizes;
};
inline Pickled Properties(std::string_view dtype) {
  return Global("torch.distributed.checkpoint.metadata", "TensorProperties") + ")\x81" +
         Tuple({Global("torch", dtype),
                Call(Global("torch.serialization", "_get_layout"), {Text("torch.strided")}), "\x89",
                Call(Global("torch.distributed.checkpoint.metadata", "_MEM_FORMAT_ENCODING"),
                     {Int(0)}),
                "\x89"}) +
         "b";
}
inline Pickled Tensor(std::string_view dtype, const std::vector<std::uint64_t>& size,
                      const std::vector<Chunk>& chunks) {
  std::vector<Pickled> list;
  for (const Chunk& chunk : chunks) {
    list.push_back(Instance("metadata", "ChunkStorageMetadata",
                            {{"offsets", Size(chunk.offsets)}, {"sizes", Size(chunk.sizes)}}));
  }
  return Instance(
      "metadata", "TensorStorageMetadata",
      {{"properties", Properties(dtype)}, {"size", Size(size)}, {"chunks", List(list)}});
}
inline Pickled Object() { return Instance("metadata", "BytesStorageMetadata", {}); }
// A key of storage_data and its value.
inline std::pair<Pickled, Pickled> Part(std::string_view name, const Pickled& offset,
                                        std::string_view file, std::uint64_t begin,
                                        std::uint64_t length, const Fields& more = {}) {
  Fields info = {{"relative_path", Text(file)}, {"offset", Int(begin)}, {"length", Int(length)}};
  info.insert(info.end(), more.begin(), more.end());
  return {Instance("metadata", "MetadataIndex",
                   {{"fqn", Text(name)}, {"offset", offset}, {"index", Int(0)}}),
          Instance("filesystem", "_StorageInfo", info)};
}
// The same as PyTorch writes it of an object: without the member `offset`, which is None.
inline std::pair<Pickled, Pickled> PartWithoutOffset(std::string_view name, std::string_view file,
                                                     std::uint64_t begin, std::uint64_t length) {
  return {Instance("metadata", "MetadataIndex", {{"fqn", Text(name)}}),
          Part(name, None(), file, begin, length).second};
}
inline std::string MetadataFile(const Fields& entries,
                                const std::vector<std::pair<Pickled, Pickled>>& parts) {
  std::vector<std::pair<Pickled, Pickled>> named;
  for (const auto& [name, value] : entries) named.emplace_back(Text(name), value);
  return "\x80\x04" +
         Instance("metadata", "Metadata",
                  {{"state_dict_metadata", Dict(named)},
                   {"planner_data", Dict({{Text("w"), Tuple({Text("w")})}})},
                   {"storage_data", Dict(parts)}}) +
         ".";
}

}  // namespace rharness::distributed

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_DISTRIBUTED_FILES_H_
