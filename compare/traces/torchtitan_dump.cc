// torchtitan's dumps.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>

#include "compare/traces/foreign_calls.h"

namespace rharness {
namespace {

// One part of a torchtitan dump, from "[MODULE/op_N_NAME]" on.
class TorchtitanReader {
 public:
  explicit TorchtitanReader(CallTrace* trace) : trace_(*trace) {}

  Status TakeLine(std::string_view line, const std::string& where) {
    if (line.starts_with("[") && line.ends_with("]")) {
      End();
      const std::string key(line.substr(1, line.size() - 2));
      const auto slash = key.rfind("/op_");
      const auto name = slash == key.npos ? key.npos : key.find('_', slash + 4);
      if (name == key.npos) return InvalidInput("expected [MODULE/op_N_NAME]", where);
      call_ = Call{.order = order_++};
      if (key.substr(0, slash) != "<none>") call_->module = key.substr(0, slash);
      call_->op = key.substr(name + 1);
      call_->phase = "forward";
      orders_[key] = call_->order;
      return {};
    }
    if (call_ && line.starts_with("  ")) TakeMember(line.substr(2));
    return {};
  }

  void End() {
    if (!call_) return;
    if (call_->outputs.empty()) call_->outputs.emplace_back();  // in place: not hashed
    HoldCall(*call_, &trace_);
    call_.reset();
  }

 private:
  void TakeMember(std::string_view member) {
    const auto colon = member.find(": ");
    if (colon == member.npos) return;
    const std::string_view name = member.substr(0, colon);
    const std::string_view value = member.substr(colon + 2);
    if (name == "Shape") TakeShape(value);
    if (name == "L2 norm" && !call_->outputs.empty()) {
      call_->outputs.front().norm = std::strtod(std::string(value).c_str(), nullptr);
    }
    if (name == "Output hash") SetHashes(value, &call_->outputs);
    if (name == "Input hashes") SetHashes(value, &call_->inputs);
    if (name == "Input producers") TakeProducers(value);
    if (name == "Location") call_->site = value;
    if (name == "Phase") call_->phase = value;
  }

  // "torch.Size([8, 16]), Dtype: torch.float32".
  void TakeShape(std::string_view value) {
    CallTensor& tensor = call_->outputs.emplace_back();
    const auto open = value.find('[');
    const auto close = value.find(']');
    std::string_view sizes;
    if (open < close && close != value.npos) sizes = value.substr(open + 1, close - open - 1);
    while (!sizes.empty()) {
      sizes.remove_prefix(std::min(sizes.find_first_of("0123456789"), sizes.size()));
      std::uint64_t size = 0;
      const auto [end, error] = std::from_chars(sizes.data(), sizes.data() + sizes.size(), size);
      if (error != std::errc()) break;
      tensor.shape.push_back(size);
      sizes.remove_prefix(static_cast<std::size_t>(end - sizes.data()));
    }
    constexpr std::string_view kDtype = "Dtype: torch.";
    const auto dtype = value.find(kDtype);
    if (dtype != value.npos) tensor.dtype = value.substr(dtype + kDtype.size());
  }

  static void SetHashes(std::string_view list, std::vector<CallTensor>* tensors) {
    std::size_t i = 0;
    while (!list.empty()) {
      const auto comma = list.find(", ");
      if (i == tensors->size()) tensors->emplace_back();
      (*tensors)[i++].digest = list.substr(0, comma);
      list.remove_prefix(comma == list.npos ? list.size() : comma + 2);
    }
  }

  void TakeProducers(std::string_view list) {
    for (CallTensor& input : call_->inputs) {
      const auto end = list.find(';');
      const auto found = orders_.find(std::string(list.substr(0, end)));
      if (found != orders_.end()) input.from = found->second;
      if (end == list.npos) return;
      list.remove_prefix(end + 1);
    }
  }

  CallTrace& trace_;
  std::int64_t order_ = 0;
  std::optional<Call> call_;
  std::map<std::string, std::int64_t> orders_;  // of calls, by their key
};

}  // namespace

Result<CallTrace> ParseTorchtitanDump(std::string_view text, const std::string& path) {
  CallTrace trace;
  trace.paths = {path};
  trace.framework = "torch";
  trace.digest = "torchtitan";
  trace.gaps = true;
  // rank_N_activations.log
  const std::string name = std::filesystem::path(path).filename().string();
  if (name.starts_with("rank_")) {
    std::from_chars(name.data() + 5, name.data() + name.size(), trace.rank);
  }
  TorchtitanReader reader(&trace);
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    RETURN_IF_ERROR(reader.TakeLine(line, fmt::format("{}: line {}", path, ++number)));
  }
  reader.End();
  trace.ended = true;
  trace.notes.push_back(path +
                        ": torchtitan writes norms of seven digits, and leaves out views, casts "
                        "and small tensors: tensors with equal norms are taken as equal");
  return trace;
}

}  // namespace rharness
