// Pickles for tests, put together opcode by opcode.
//
// Role: a writer that shares no code with the unpickler under test.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_PICKLE_BYTES_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_PICKLE_BYTES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/compare/weights/zip_file.h"

namespace rharness {

inline std::string PickleOf(const std::string& body) { return "\x80\x02" + body + "."; }
inline std::string PStr(std::string_view text) {
  return "X" + Little(text.size(), 4) + std::string(text);
}
inline std::string PInt(std::int64_t value) {
  return "\x8a\x08" + Little(static_cast<std::uint64_t>(value), 8);
}
inline std::string PGlobal(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string PTuple(const std::vector<std::string>& items) {
  std::string body = "(";
  for (const std::string& item : items) body += item;
  return body + "t";
}
inline std::string PInts(const std::vector<std::int64_t>& values) {
  std::vector<std::string> items;
  for (const std::int64_t value : values) items.push_back(PInt(value));
  return PTuple(items);
}
inline std::string PList(const std::vector<std::string>& items) {
  std::string body = "](";
  for (const std::string& item : items) body += item;
  return body + "e";
}
inline std::string PDict(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string body = "}(";
  for (const auto& [key, value] : entries) body += PStr(key) + value;
  return body + "u";
}
inline std::string PCall(const std::string& module, const std::string& name,
                         const std::vector<std::string>& arguments) {
  return PGlobal(module, name) + PTuple(arguments) + "R";
}
inline std::string PStorage(const std::string& type, const std::string& key, std::int64_t numel,
                            const std::string& location = "cpu") {
  return PTuple({PStr("storage"), PGlobal("torch", type), PStr(key), PStr(location), PInt(numel)}) +
         "Q";
}
inline std::string PTensor(const std::string& storage, std::int64_t offset,
                           const std::vector<std::int64_t>& size,
                           const std::vector<std::int64_t>& stride) {
  return PCall("torch._utils", "_rebuild_tensor_v2",
               {storage, PInt(offset), PInts(size), PInts(stride), "\x89",
                PCall("collections", "OrderedDict", {})});
}

// A .pt file of a pickle and of records "data/0", "data/1", ...
inline std::string TorchFileOf(const std::string& pickle, const std::vector<std::string>& records,
                               const std::string& root = "x") {
  std::vector<TestMember> members = {{.name = root + "/data.pkl", .content = pickle}};
  for (std::size_t i = 0; i < records.size(); ++i) {
    members.push_back({.name = root + "/data/" + std::to_string(i), .content = records[i]});
  }
  members.push_back({.name = root + "/version", .content = "3\n"});
  return ZipOf(members);
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_PICKLE_BYTES_H_
