// A pass over the events of the JSON parser, which hashes what two runs are compared by.
#include "compare/traces/call_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string>

#include "compare/traces/foreign_calls.h"
#include "harness/base/json.h"
#include "harness/base/json_events.h"

namespace rharness {
namespace {

// The finalizer of MurmurHash3 (Appleby 2011): every bit of the argument reaches every bit.
std::uint64_t Mixed(std::uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}
std::uint64_t Joined(std::uint64_t one, std::uint64_t other) {
  return Mixed(one * 0x9e3779b97f4a7c15ULL + other);
}
std::uint64_t HashOf(std::string_view text) { return std::hash<std::string_view>()(text); }

// Members of a call, and of a tensor, that count.
enum class Member {
  kOther,
  kStep,
  kOrder,
  kPhase,
  kModule,
  kOp,
  kSite,
  kArgs,
  kRng,
  kGroup,
  kUnit,
  kIn,
  kOut,
  kEnd,
  kDigest,
  kShape,
  kDtype,
  kCount,
};
struct MemberName {
  std::string_view name;
  Member member;
};
constexpr std::array<MemberName, 13> kOfCall = {{{"step", Member::kStep},
                                                 {"order", Member::kOrder},
                                                 {"phase", Member::kPhase},
                                                 {"module", Member::kModule},
                                                 {"op", Member::kOp},
                                                 {"site", Member::kSite},
                                                 {"args", Member::kArgs},
                                                 {"rng", Member::kRng},
                                                 {"group", Member::kGroup},
                                                 {"unit", Member::kUnit},
                                                 {"in", Member::kIn},
                                                 {"out", Member::kOut},
                                                 {"end", Member::kEnd}}};
constexpr std::array<MemberName, 4> kOfTensor = {{{"digest", Member::kDigest},
                                                  {"shape", Member::kShape},
                                                  {"dtype", Member::kDtype},
                                                  {"count", Member::kCount}}};

template <std::size_t kSize>
Member Find(const std::array<MemberName, kSize>& members, std::string_view name) {
  for (const MemberName& one : members) {
    if (one.name == name) return one.member;
  }
  return Member::kOther;
}

class CallScanner : public JsonEvents {
 public:
  bool Key(std::string_view name) override {
    if (depth_ == 1) top_ = Find(kOfCall, name);
    if (depth_ == 3) field_ = Find(kOfTensor, name);
    return true;
  }
  bool String(std::string_view value) override {
    if (depth_ == 1) {
      Take(value);
    } else if (depth_ == 3 && InTensors()) {
      if (field_ == Member::kDigest) digest_ = !value.empty();
      if (field_ != Member::kOther) Add(HashOf(value));
    }
    return true;
  }
  bool Number(std::string_view value) override {
    if (depth_ == 1 && top_ == Member::kStep) stepped_ = Read(value, &line_.step);
    if (depth_ == 1 && top_ == Member::kOrder) ordered_ = Read(value, &line_.entry.order);
    if (depth_ == 3 && field_ == Member::kCount && InTensors()) Add(HashOf(value));
    if (depth_ == 4 && field_ == Member::kShape && InTensors()) {
      shape_ = Joined(shape_, HashOf(value));
    }
    return true;
  }
  bool Word(std::string_view word) override {
    const bool end = depth_ == 1 && top_ == Member::kEnd && word == "true";
    if (end) line_.kind = CallLine::Kind::kEnd;
    return true;
  }
  bool Open(char bracket) override {
    array_ = array_ || (depth_ == 0 && bracket == '[');
    if (++depth_ == 3 && bracket == '{') {
      tensor_ = shape_ = 0;
      digest_ = false;
      field_ = Member::kOther;
    }
    return depth_ < kMostDepth;
  }
  bool Close(char bracket) override {
    const bool tensor = depth_ == 3 && bracket == '}' && InTensors();
    const bool shape = depth_ == 4 && field_ == Member::kShape && InTensors();
    --depth_;
    if (shape) Add(shape_ + 1);
    if (!tensor) return true;
    std::uint64_t& list = top_ == Member::kIn ? inputs_ : outputs_;
    list = Joined(list, tensor_ + 1);
    line_.entry.unknown = line_.entry.unknown || !digest_;
    return true;
  }

  std::optional<CallLine> Finish() {
    if (array_) return std::nullopt;
    if (line_.kind != CallLine::Kind::kCall) return line_;
    if (!stepped_ || !ordered_ || !named_) return std::nullopt;
    line_.entry.given += Mixed(inputs_);
    line_.entry.made = Mixed(outputs_);
    return line_;
  }

 private:
  static constexpr int kMostDepth = 16;
  static constexpr std::string_view kCompiler = "_orig_mod.";

  template <class Number>
  static bool Read(std::string_view text, Number* number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    return error == std::errc() && end == text.data() + text.size();
  }
  bool InTensors() const { return top_ == Member::kIn || top_ == Member::kOut; }
  void Add(std::uint64_t value) {
    tensor_ += Joined(static_cast<std::uint64_t>(field_) + 1, value);
  }

  // Below a compiler's wrapper a module has the name that it has without.
  void TakeCompiled(std::string_view value) {
    std::string name(value);
    for (auto at = name.find(kCompiler); at != name.npos; at = name.find(kCompiler)) {
      name.erase(at, kCompiler.size());
    }
    if (!name.empty()) Take(name);
  }

  void TakeGroup(std::string_view value) {
    if (value.empty()) return;
    line_.entry.given +=
        Joined(static_cast<std::uint64_t>(Member::kGroup) + 1, HashOf(GroupWithoutNumber(value)));
  }

  void Take(std::string_view value) {
    const std::uint64_t one = Joined(static_cast<std::uint64_t>(top_) + 1, HashOf(value));
    switch (top_) {
      case Member::kOp:
        named_ = !value.empty();
        line_.entry.key += one;
        break;
      case Member::kSite:
        if (!value.empty()) line_.entry.site = static_cast<std::uint32_t>(one >> 32) | 1U;
        break;
      case Member::kModule:
        if (value.find(kCompiler) != value.npos) return TakeCompiled(value);
        [[fallthrough]];
      case Member::kPhase:
      case Member::kUnit:
        if (!value.empty()) line_.entry.key += one;
        break;
      case Member::kGroup:
        line_.entry.collective = !value.empty();
        TakeGroup(value);
        break;
      case Member::kArgs:
      case Member::kRng:
        if (!value.empty()) line_.entry.given += one;
        break;
      default:
        break;
    }
  }

  CallLine line_;
  int depth_ = 0;
  bool array_ = false;
  bool stepped_ = false;
  bool ordered_ = false;
  bool named_ = false;
  bool digest_ = false;
  Member top_ = Member::kOther;
  Member field_ = Member::kOther;
  std::uint64_t inputs_ = 0;
  std::uint64_t outputs_ = 0;
  std::uint64_t tensor_ = 0;
  std::uint64_t shape_ = 0;
};

Json TensorJson(const CallTensor& tensor) {
  Json json = Json::MakeObject();
  if (!tensor.digest.empty()) json.Set("digest", tensor.digest);
  Json shape = Json::MakeArray();
  for (const std::uint64_t size : tensor.shape) shape.Append(size);
  json.Set("shape", std::move(shape));
  if (!tensor.dtype.empty()) json.Set("dtype", tensor.dtype);
  if (tensor.norm == tensor.norm) json.Set("norm", tensor.norm);
  if (tensor.from) json.Set("from", *tensor.from);
  return json;
}

}  // namespace

void HoldCall(const Call& call, CallTrace* trace) {
  Json json = Json::MakeObject();
  json.Set("step", call.step).Set("order", call.order).Set("op", call.op);
  for (const auto& [name, value] :
       {std::pair("phase", &call.phase), std::pair("module", &call.module),
        std::pair("site", &call.site), std::pair("args", &call.args)}) {
    if (!value->empty()) json.Set(name, *value);
  }
  for (const auto& [name, tensors] :
       {std::pair("in", &call.inputs), std::pair("out", &call.outputs)}) {
    Json list = Json::MakeArray();
    for (const CallTensor& tensor : *tensors) list.Append(TensorJson(tensor));
    json.Set(name, std::move(list));
  }
  const std::string line = json.Dump();
  std::string scratch = line + std::string(kJsonEventPadding, '\0');
  auto scanned = ScanCallLine(scratch.data());
  if (!scanned) return;  // without an operator's name
  if (trace->steps.empty()) trace->steps.push_back({.step = call.step});
  ++trace->steps.back().count;
  scanned->entry.offset = trace->held.size();
  trace->entries.push_back(scanned->entry);
  trace->held += line + "\n";
}

std::string GroupWithoutNumber(std::string_view group) {
  const std::size_t number = std::min(group.find(" #"), group.size());
  const std::size_t rest = std::min(group.find(' ', number + 1), group.size());
  return std::string(group.substr(0, number)) + std::string(group.substr(rest));
}

std::optional<CallLine> ScanCallLine(char* line) {
  CallScanner scanner;
  if (!ReadJsonEvents(line, &scanner)) return std::nullopt;
  return scanner.Finish();
}

}  // namespace rharness
