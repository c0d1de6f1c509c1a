// Names that PyTorch gives: state dicts of Python 2, pickled modules, optimizers by address, and
// the tar files of PyTorch 0.1.
#include "compare/weights/torch_containers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compare/weights/tensor_digest.h"
#include "compare/weights/views.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using Names = std::vector<std::string>;

std::string Floats(const std::string& key, std::int64_t size = 2) {
  return PTensor(PStorage("FloatStorage", key, size), 0, {size}, {1});
}
std::string PPair(const std::string& key, const std::string& value) {
  return PList({PStr(key), value});
}
// OrderedDict([[k, v], ...]), as Python 2 pickles one.
std::string POldDict(const std::vector<std::string>& pairs) {
  return PCall("collections", "OrderedDict", {PList(pairs)});
}
std::string PNewDict(const std::vector<std::pair<std::string, std::string>>& entries) {
  return PCall("collections", "OrderedDict", {}) + "(" + [&] {
    std::string body;
    for (const auto& [key, value] : entries) body += PStr(key) + value;
    return body;
  }() + "u";
}
std::string PObject(const std::string& module, const std::string& name, const std::string& state) {
  return PGlobal(module, name) + ")\x81" + state + "b";
}
// The state of a torch.nn.Module, with more members in front of its modules.
std::string PModule(const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& parameters,
                    const std::vector<std::pair<std::string, std::string>>& buffers,
                    const std::vector<std::pair<std::string, std::string>>& modules,
                    std::vector<std::pair<std::string, std::string>> more = {}) {
  more.insert(more.begin(), {"training", "\x88"});
  more.emplace_back("_parameters", PNewDict(parameters));
  more.emplace_back("_buffers", PNewDict(buffers));
  more.emplace_back("_modules", PNewDict(modules));
  return PObject("torch.nn.modules.other", name, PDict(more));
}
// set(["name"]) of protocol 2.
std::string PSet(const std::string& name) {
  return PCall("__builtin__", "set", {PList({PStr(name)})});
}

class TorchNames : public CheckpointFiles {
 protected:
  std::unique_ptr<Checkpoint> Torch(const std::string& tree) {
    // A file of its own: what is open must not change.
    return MustOpen(TorchFileOf(PickleOf(tree), records_), std::to_string(++files_) + ".pt");
  }
  static Names NamesOf(const Checkpoint& checkpoint) {
    Names names;
    for (const TensorInfo& info : checkpoint.tensors()) names.push_back(info.name);
    return names;
  }
  static std::string DigestOf(const Checkpoint& checkpoint) {
    return DigestCheckpoint(checkpoint)->sha256;
  }
  int files_ = 0;
  const std::vector<std::string> records_ = {BytesOf<float>({1, 2}), BytesOf<float>({3, 4}),
                                             BytesOf<float>({5, 6})};
};

TEST_F(TorchNames, OfAnOrderedDictThatPython2PickledAreItsKeys) {
  const auto old = Torch(POldDict({PPair("w", Floats("0")), PPair("b", Floats("1"))}));
  EXPECT_EQ(NamesOf(*old), (Names{"b", "w"}));
  EXPECT_EQ(ReadAll(*old, 0), records_[1]);
  EXPECT_EQ(DigestOf(*old), DigestOf(*Torch(PDict({{"b", Floats("1")}, {"w", Floats("0")}}))));
  const auto swapped = Torch(POldDict({PPair("b", Floats("0")), PPair("w", Floats("1"))}));
  EXPECT_NE(DigestOf(*old), DigestOf(*swapped));
  // Deeper, and of pairs that are tuples.
  const auto nested = Torch(PDict(
      {{"model", PCall("collections", "OrderedDict",
                       {PList({PTuple({PStr("fc"), POldDict({PPair("w", Floats("2"))})})})})}}));
  EXPECT_EQ(NamesOf(*nested), Names{"model.fc.w"});
}

TEST_F(TorchNames, OfWhatIsNoListOfPairsStayThoseOfItsArguments) {
  const auto other = Torch(PCall("collections", "OrderedDict", {PList({PList({Floats("0")})})}));
  EXPECT_EQ(NamesOf(*other), Names{"(0).0.0"});
}

TEST_F(TorchNames, OfAModuleAreThoseOfItsStateDict) {
  const std::string inner = PModule("Linear", {{"weight", Floats("0")}, {"bias", "N"}},
                                    {{"mean", Floats("1")}}, {}, {{"in_features", PInt(2)}});
  const auto module =
      Torch(PDict({{"net", PModule("Net", {}, {}, {{"fc", inner}})}, {"epoch", PInt(3)}}));
  EXPECT_EQ(NamesOf(*module), (Names{"net.fc.mean", "net.fc.weight"}));
  const auto state =
      Torch(PDict({{"net", PDict({{"fc.weight", Floats("0")}, {"fc.mean", Floats("1")}})}}));
  EXPECT_EQ(DigestOf(*module), DigestOf(*state));
}

TEST_F(TorchNames, OfWhatAStateDictLeavesOutAreMarked) {
  const auto module =
      Torch(PModule("Rotary", {{"w", Floats("0")}}, {{"inv_freq", Floats("1")}}, {},
                    {{"_non_persistent_buffers_set", PSet("inv_freq")}, {"table", Floats("2")}}));
  EXPECT_EQ(NamesOf(*module), (Names{"(unsaved).inv_freq", "(unsaved).table", "w"}));
  EXPECT_EQ(RoleOf("(unsaved).inv_freq"), TensorRole::kUnsaved);
}

TEST_F(TorchNames, OfAModuleUnderTwoNamesAreBoth) {
  // Memoised as 1 and taken again, as a tied layer is.
  const std::string tied = PModule("Linear", {{"weight", Floats("0")}}, {}, {}) + "q\1";
  const auto module = Torch(PModule("Net", {}, {}, {{"encode", tied}, {"decode", "h\1"}}));
  EXPECT_EQ(NamesOf(*module), (Names{"decode.weight", "encode.weight"}));
}

TEST_F(TorchNames, OfAModuleStandBesideWhatItsCodeReads) {
  const auto attributes = [&](const std::string& name, std::int64_t features, bool training) {
    const auto module = Torch(PModule(name, {{"weight", Floats("0")}}, {}, {},
                                      {{"features", PInt(features)},
                                       {"_hooks", PInt(training)},
                                       {"training", training ? "\x88" : "\x89"}}));
    EXPECT_EQ(module->unread().size(), 1U);
    return module->unread().front();
  };
  const UnreadPart first = attributes("Linear", 2, true);
  EXPECT_EQ(first.kind, PartKind::kModel);
  EXPECT_TRUE(*SameBytes(first, attributes("Linear", 2, false)));
  EXPECT_FALSE(*SameBytes(first, attributes("Linear", 3, true)));
  EXPECT_FALSE(*SameBytes(first, attributes("Conv1d", 2, true)));
}

// Parameter(tensor), then requires_grad, volatile and hooks.
TEST_F(TorchNames, OfParametersBeforeVersion04AreThoseOfTheirTensors) {
  const std::string old = PCall("torch.nn.parameter", "Parameter", {Floats("0")}) +
                          PTuple({"\x88", "\x89", POldDict({})}) + "b";
  const auto module = Torch(PModule("Net", {{"w", old}}, {}, {}));
  EXPECT_EQ(NamesOf(*module), Names{"w"});
  EXPECT_EQ(ReadAll(*module, 0), records_[0]);
}

std::string POptimizer(const std::vector<std::int64_t>& keys) {
  std::string state = "}(", params = "](";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    state += PInt(keys[i]) + PDict({{"exp_avg", Floats(std::to_string(i))}});
    params += PInt(keys[i]);
  }
  return PDict(
      {{"state", state + "u"}, {"param_groups", PList({PDict({{"params", params + "e"}})})}});
}

TEST_F(TorchNames, OfAnOptimizersStateAreThePositionsOfItsParameters) {
  const auto here = Torch(POptimizer({140549616703488, 140549616703560}));
  const auto there = Torch(POptimizer({140635094799240, 140635094799168}));
  EXPECT_EQ(NamesOf(*here), (Names{"state.0.exp_avg", "state.1.exp_avg"}));
  EXPECT_EQ(DigestOf(*here), DigestOf(*there));
  EXPECT_EQ(here->metadata(), there->metadata());
  // As later versions write them.
  EXPECT_EQ(DigestOf(*here), DigestOf(*Torch(POptimizer({0, 1}))));
}

TEST_F(TorchNames, OfAStateWithAKeyThatIsNoParameterStay) {
  std::string state = "}(" + PInt(77) + PDict({{"exp_avg", Floats("0")}}) + "u";
  const auto stray = Torch(
      PDict({{"state", state}, {"param_groups", PList({PDict({{"params", PList({PInt(5)})}})})}}));
  EXPECT_EQ(NamesOf(*stray), Names{"state.77.exp_avg"});
}

// A member of a tar archive: its header, its bytes, zeros to the next block.
std::string TarMember(const std::string& name, const std::string& content) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  const std::string size = [&] {
    std::string digits;
    for (std::size_t left = content.size(); digits.size() < 11; left /= 8) {
      digits.insert(digits.begin(), static_cast<char>('0' + left % 8));
    }
    return digits;
  }();
  header.replace(124, size.size(), size);
  header[156] = '0';
  header.replace(257, 5, "ustar");
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

class TorchTar : public TorchNames {
 protected:
  static std::string Number(std::int64_t value) { return PickleOf(PInt(value)); }
  // Two tensors: "w" over all of the storage, "b" over its second half, turned around nothing.
  static std::string FileWith(const std::string& tree, const std::string& little = "\x88") {
    const std::string storages =
        Number(1) + PickleOf(PTuple({PInt(70), PStr("cpu"), PGlobal("torch", "FloatStorage")})) +
        LittleEndian64(4) + BytesOf<float>({1, 2, 3, 4}) +
        PickleOf(PList({PTuple({PInt(71), PInt(70), PInt(2), PInt(2)})}));
    const auto row = [](std::int64_t key, std::int64_t storage) {
      return PickleOf(PTuple({PInt(key), PInt(storage), PGlobal("torch", "FloatTensor")}));
    };
    const std::string tensors = Number(2) + row(80, 70) + LittleEndian64(2) + LittleEndian64(2) +
                                LittleEndian64(2) + LittleEndian64(1) + LittleEndian64(2) +
                                LittleEndian64(0) + row(81, 71) + LittleEndian64(1) +
                                LittleEndian64(1) + LittleEndian64(1) + LittleEndian64(1);
    return TarMember("sys_info", PickleOf(PDict({{"little_endian", little}}))) +
           TarMember("pickle", PickleOf(tree)) + TarMember("tensors", tensors) +
           TarMember("storages", storages) + std::string(1024, '\0');
  }
  static std::string Key(const std::string& key) { return PStr(key) + "Q"; }
};

TEST_F(TorchTar, HasTheTensorsThatItsTreeNames) {
  const auto checkpoint =
      MustOpen(FileWith(POldDict({PPair("w", Key("80")), PPair("b", Key("81"))})), "x.pt");
  ASSERT_EQ(NamesOf(*checkpoint), (Names{"b", "w"}));
  EXPECT_EQ(ReadAll(*checkpoint, 0), BytesOf<float>({4}));           // of a view of the storage
  EXPECT_EQ(ReadAll(*checkpoint, 1), BytesOf<float>({1, 3, 2, 4}));  // by columns
  EXPECT_TRUE(checkpoint->unread().empty());
  const std::string parameter = PCall("torch.nn.parameter", "Parameter", {Key("81")});
  EXPECT_EQ(ReadAll(*MustOpen(FileWith(PDict({{"p", parameter}})), "y.pt"), 0),
            BytesOf<float>({4}));
}

TEST_F(TorchTar, SaysWhatIsWrongWithIt) {
  const std::string good = FileWith(PDict({{"w", Key("80")}}));
  const auto message = [&](const std::string& bytes) {
    const auto result = Open(bytes, "x.pt");
    return result.ok() ? std::string("opened") : result.error().message;
  };
  EXPECT_NE(message(FileWith("N", "\x89")).find("little-endian"), std::string::npos);
  EXPECT_NE(message(TarMember("model", "x")).find("a tar archive without a member sys_info"),
            std::string::npos);
  EXPECT_EQ(MustOpen(FileWith(PDict({{"w", Key("99")}})), "x.pt")->unread().size(), 1U);
  // Cut anywhere, and with any byte of a header changed: an error or a checkpoint, and no crash.
  for (std::size_t size = 0; size < good.size(); size += 37) {
    const auto cut = Open(good.substr(0, size), "x.pt");
    if (cut.ok()) {
      EXPECT_LE((*cut)->tensors().size(), 2U);
    }
  }
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    const auto opened = Open(changed, "x.pt");
    if (opened.ok()) {
      EXPECT_LE((*opened)->tensors().size(), 2U);
    }
  }
}

}  // namespace
}  // namespace rharness
