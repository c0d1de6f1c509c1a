// Fuzzes the unpickler: no crash, no undefined behaviour, and every value leads to values of the
// same pickle.
//
// An input is a pickle.
// Run: rharness-pickle-fuzz -max_total_time=60 -dict=pickle.dict CORPUS pickle_seeds
#include "compare/weights/pickle.h"
#include "compare/weights/pickle_text.h"
#include "compare/weights/torch_globals.h"
#include "tests/fuzz/fuzz_file.h"

namespace rharness {
namespace {

void CheckValue(const Pickle& pickle, PickleId id, std::size_t bytes) {
  Require(pickle.offset(id) < bytes);
  for (const PickleId item : pickle.Items(id)) Require(item < pickle.size());
  for (const PickleId item : pickle.Entries(id)) Require(item < pickle.size());
  Require(pickle.Entries(id).size() % 2 == 0);
  switch (pickle.kind(id)) {
    case PickleKind::kString:
    case PickleKind::kBytes:
    case PickleKind::kLong:
      Require(pickle.Text(id).size() <= bytes);
      break;
    case PickleKind::kGlobal:
      Require(pickle.Global(id) <= TorchGlobalNames().size());
      Require(pickle.GlobalName(id).size() <= 2 * bytes);
      break;
    case PickleKind::kPersistent:
      Require(pickle.Items(id).size() == 1);
      break;
    case PickleKind::kObject:
      Require(pickle.Callable(id) < pickle.size());
      for (const PickleId item : pickle.Arguments(id)) Require(item < pickle.size());
      if (const auto state = pickle.State(id)) Require(*state < pickle.size());
      break;
    default:
      break;
  }
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto pickle = rharness::ParsePickle(bytes, rharness::TorchGlobalNames(), "fuzz");
  if (!pickle.ok()) {
    rharness::CheckError(pickle.error(), "fuzz: byte ");
    return 0;
  }
  for (rharness::PickleId id = 0; id < pickle->size(); ++id) {
    rharness::CheckValue(*pickle, id, size);
  }
  rharness::Require(pickle->root() < pickle->size());
  const auto text = rharness::PickleTexts(*pickle).Of(pickle->root());
  rharness::Require(text.text.size() <= 2 * rharness::kMaxPickleTextBytes);
  return 0;
}
