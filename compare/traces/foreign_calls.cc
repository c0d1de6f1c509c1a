// DebugMode's logs.
#include "compare/traces/foreign_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compare/traces/operator_names.h"
#include "harness/base/json.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

constexpr std::string_view kDebugModeFormat = "torch.utils._debug_mode.DebugMode.logs";
constexpr std::string_view kTorchtitanStart = "Total captured activations: ";
constexpr std::size_t kMostArguments = 200;
constexpr int kMostValueDepth = 32;

// A tensor as DebugMode prints it: "t$4: f32[8, 16]", "dt: bf16[8]| S(0)".
struct PrintedTensor {
  std::string id;  // "4"; empty without record_ids
  std::string dtype;
  std::vector<std::uint64_t> shape;
};

bool IsWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The tensor that a colon at `colon` belongs to: what is before it names it, what is after it is
// its type and shape.
std::optional<PrintedTensor> TensorAt(std::string_view text, std::size_t colon) {
  PrintedTensor tensor;
  std::size_t from = colon;
  while (from > 0 && std::isdigit(static_cast<unsigned char>(text[from - 1])) != 0) --from;
  if (from > 0 && from < colon && text[from - 1] == '$') {
    tensor.id = text.substr(from, colon - from);
    --from;
  }
  if (from == 0 || text[from - 1] != 't') return std::nullopt;
  std::size_t at = colon + 2;
  const std::size_t open = text.find('[', at);
  if (open == text.npos) return std::nullopt;
  tensor.dtype = text.substr(at, open - at);
  if (tensor.dtype.empty() || !std::ranges::all_of(tensor.dtype, IsWordPart)) return std::nullopt;
  for (at = open + 1; at < text.size() && text[at] != ']';) {
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
    if (error != std::errc()) return std::nullopt;
    tensor.shape.push_back(size);
    at = static_cast<std::size_t>(end - text.data());
    while (at < text.size() && (text[at] == ',' || text[at] == ' ')) ++at;
  }
  return at < text.size() ? std::optional(tensor) : std::nullopt;
}

std::vector<PrintedTensor> TensorsIn(std::string_view text) {
  std::vector<PrintedTensor> tensors;
  for (auto at = text.find(": "); at != text.npos; at = text.find(": ", at + 1)) {
    if (auto tensor = TensorAt(text, at)) tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

// What of a printed list is no tensor, with its position.
std::string OthersIn(std::string_view text) {
  std::string others;
  std::size_t position = 0;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    std::string_view part = text.substr(from, i - from);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    from = i + 1;
    if (part.empty()) continue;
    if (TensorsIn(part).empty()) {
      if (!others.empty()) others += ", ";
      if (part.find('=') == part.npos) others += fmt::format("argument {}=", position);
      others += part;
    }
    ++position;
  }
  return others.substr(0, kMostArguments);
}

// Python's last frame outside of torch: "train.py:42".
std::string SiteOf(std::string_view stack) {
  constexpr std::string_view kFile = "File \"";
  std::string site;
  for (auto at = stack.find(kFile); at != stack.npos; at = stack.find(kFile, at + 1)) {
    const std::size_t name = at + kFile.size();
    const std::size_t end = stack.find('"', name);
    constexpr std::string_view kLine = "\", line ";
    if (end == stack.npos || stack.substr(end, kLine.size()) != kLine) continue;
    const std::string_view file = stack.substr(name, end - name);
    if (file.find("/torch/") != file.npos) continue;
    const std::size_t number = end + kLine.size();
    const std::size_t stop = stack.find_first_not_of("0123456789", number);
    site = fmt::format("{}:{}", file.substr(file.rfind('/') + 1),
                       stack.substr(number, stop == stack.npos ? stop : stop - number));
  }
  return site;
}

class DebugModeReader {
 public:
  explicit DebugModeReader(CallTrace* trace) : trace_(*trace) {}

  void Take(const Json& entry, JsonReader& reader) {
    std::string type;
    std::int64_t depth = 0;
    reader.Read("type", &type);
    reader.ReadOptional("call_depth", &depth);
    if (type == "annotate") return Enter(reader, depth);
    if (type != "op") {
      left_out_ += type == "triton_kernel" ? 1 : 0;
      return;
    }
    TakeCall(entry, reader, depth);
  }

  std::size_t left_out() const { return left_out_; }

 private:
  // A module is open for all deeper calls.
  void Enter(JsonReader& reader, std::int64_t depth) {
    std::string tag;
    std::string header;
    reader.ReadOptional("tag", &tag);
    reader.ReadOptional("header", &header);
    if (header != "nn.Mod") {
      in_optimizer_ = in_optimizer_ || tag.starts_with("Optimizer.step");
      return;
    }
    modules_.erase(modules_.lower_bound(depth), modules_.end());
    const auto dot = tag.find('.');  // the first part is the class of the network
    modules_[depth] = dot == tag.npos ? "" : tag.substr(dot + 1);
  }

  void TakeCall(const Json& entry, JsonReader& reader, std::int64_t depth) {
    Call call{.order = order_++};
    std::string given, named, made, stack, forward;
    reader.Read("op_name", &call.op);
    reader.ReadOptional("args_str", &given);
    reader.ReadOptional("kwargs_str", &named);
    reader.ReadOptional("output_str", &made);
    reader.ReadOptional("stack_trace", &stack);
    reader.ReadOptional("fwd_stack_trace", &forward);
    modules_.erase(modules_.lower_bound(depth), modules_.end());
    if (!modules_.empty()) call.module = modules_.rbegin()->second;
    call.phase = !forward.empty() ? "backward" : in_optimizer_ ? "optimizer" : "forward";
    call.site = SiteOf(forward.empty() ? stack : forward);
    call.args = OthersIn(given + named);
    std::vector<std::string> input_hashes;
    std::vector<std::string> hashes;
    if (const Json* log = entry.Find("log")) TakeLog(*log, &input_hashes, &hashes);
    call.inputs = Tensors(TensorsIn(given + named), input_hashes);
    call.outputs = Tensors(TensorsIn(made), hashes);
    Link(TensorsIn(given + named), TensorsIn(made), &call);
    HoldCall(call, &trace_);
  }

  // What was printed, with its hashes if they are as many.
  static std::vector<CallTensor> Tensors(const std::vector<PrintedTensor>& printed,
                                         const std::vector<std::string>& hashes) {
    std::vector<CallTensor> tensors(std::max(printed.size(), hashes.size()));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const bool all = printed.size() == hashes.size() || hashes.empty();
      if (all && i < printed.size()) {
        tensors[i].dtype = printed[i].dtype;
        tensors[i].shape = printed[i].shape;
      }
      if (i < hashes.size()) tensors[i].digest = hashes[i];
    }
    return tensors;
  }

  // Which call wrote each input; what was never written has no digest.
  void Link(const std::vector<PrintedTensor>& given, const std::vector<PrintedTensor>& made,
            Call* call) {
    const bool unwritten = LeavesUnwritten(call->op);
    for (std::size_t i = 0; i < std::min(given.size(), call->inputs.size()); ++i) {
      if (given[i].id.empty()) continue;
      if (const auto found = writers_.find(given[i].id); found != writers_.end()) {
        call->inputs[i].from = found->second;
      }
      if (unwritten_.contains(given[i].id)) call->inputs[i].digest.clear();
    }
    for (const PrintedTensor& tensor : made) {
      if (tensor.id.empty()) continue;
      writers_[tensor.id] = call->order;
      if (unwritten)
        unwritten_.insert(tensor.id);
      else
        unwritten_.erase(tensor.id);
    }
    if (unwritten) {
      for (CallTensor& tensor : call->outputs) tensor.digest.clear();
    }
  }

  // {"type": "dict", "items": [["input_hash", V], ["hash", V]]}.
  static void TakeLog(const Json& log, std::vector<std::string>* inputs,
                      std::vector<std::string>* outputs) {
    const Json* items = log.IsObject() ? log.Find("items") : nullptr;
    if (items == nullptr || !items->IsArray()) return;
    for (const Json& item : items->AsArray()) {
      if (!item.IsArray() || item.AsArray().size() != 2) continue;
      const Json& name = item.AsArray()[0];
      if (name.kind() != Json::Kind::kString) continue;
      if (name.AsString() == "input_hash") Flatten(item.AsArray()[1], inputs, 0);
      if (name.AsString() == "hash") Flatten(item.AsArray()[1], outputs, 0);
    }
  }
  static void Flatten(const Json& value, std::vector<std::string>* hashes, int depth) {
    if (!value.IsObject() || depth > kMostValueDepth) return;
    if (const Json* scalar = value.Find("value")) {
      if (!scalar->IsNull()) hashes->push_back(scalar->Dump());
      return;
    }
    const Json* items = value.Find("items");
    if (items == nullptr || !items->IsArray()) return;
    for (const Json& item : items->AsArray()) {
      const bool member = item.IsArray() && item.AsArray().size() == 2;
      Flatten(member ? item.AsArray()[1] : item, hashes, depth + 1);
    }
  }

  CallTrace& trace_;
  std::int64_t order_ = 0;
  std::size_t left_out_ = 0;
  bool in_optimizer_ = false;
  std::map<std::int64_t, std::string> modules_;  // that are open, by depth
  std::map<std::string, std::int64_t> writers_;  // of tensors, by id
  std::set<std::string> unwritten_;
};

}  // namespace

CallFormat CallFormatOf(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  if (line.find("\"rharness.calls/") != line.npos) return CallFormat::kOwn;
  const std::string_view start = head.substr(0, 200);
  if (start.find(kDebugModeFormat) != start.npos) return CallFormat::kDebugMode;
  return head.starts_with(kTorchtitanStart) ? CallFormat::kTorchtitan : CallFormat::kNone;
}

Result<CallTrace> ParseDebugModeLogs(std::string_view text, const std::string& path) {
  CallTrace trace;
  trace.paths = {path};
  trace.framework = "torch";
  trace.digest = "DebugMode";
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  std::string format;
  std::int64_t version = 0;
  reader.Read("format", &format);
  reader.Read("version", &version);
  RETURN_IF_ERROR(reader.status());
  if (format != kDebugModeFormat) return InvalidInput("expected logs of DebugMode", path);
  if (version != 1) {
    return Unsupported(fmt::format("expected version 1 of DebugMode's logs, found {}", version),
                       path);
  }
  DebugModeReader logs(&trace);
  const Json* list = json.Find("logs");
  std::size_t i = 0;
  reader.ForEach("logs", [&](JsonReader& entry) { logs.Take(list->AsArray()[i++], entry); });
  RETURN_IF_ERROR(reader.status());
  trace.ended = true;
  trace.gaps = logs.left_out() > 0;
  trace.notes.push_back(path +
                        ": the hashes of DebugMode are norms or XORs: tensors with equal ones are "
                        "taken as equal");
  if (trace.gaps) {
    trace.notes.push_back(fmt::format("{}: {} Triton kernels are left out", path, logs.left_out()));
  }
  return trace;
}

}  // namespace rharness
