// Engines: ranked, read, written down, run.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "probes/library/cudnn_graph.h"

namespace rharness {
namespace {

// By number, as the header of cuDNN 9.19 has them.
constexpr std::array<std::string_view, 44> kKnobs = {"split_k",
                                                     "swizzle",
                                                     "tile_size",
                                                     "use_tex",
                                                     "edge",
                                                     "kblock",
                                                     "ldga",
                                                     "ldgb",
                                                     "chunk_k",
                                                     "split_h",
                                                     "wino_tile",
                                                     "multiply",
                                                     "split_k_buf",
                                                     "tilek",
                                                     "stages",
                                                     "reduction_mode",
                                                     "cta_split_k_mode",
                                                     "split_k_slc",
                                                     "idx_mode",
                                                     "sliced",
                                                     "split_rs",
                                                     "singlebuffer",
                                                     "ldgc",
                                                     "specfilt",
                                                     "kernel_cfg",
                                                     "workspace",
                                                     "tile_cga",
                                                     "tile_cga_m",
                                                     "tile_cga_n",
                                                     "block_size",
                                                     "occupancy",
                                                     "array_size_per_thread",
                                                     "num_c_per_block",
                                                     "split_cols",
                                                     "tile_rows",
                                                     "tile_cols",
                                                     "load_size",
                                                     "cta_count",
                                                     "stream_k",
                                                     "split_p_slc",
                                                     "tile_m",
                                                     "tile_n",
                                                     "warp_spec_cfg",
                                                     "swap_ab"};
constexpr std::array<std::string_view, 10> kNotes = {"tensor_core",
                                                     "down_convert_inputs",
                                                     "reduced_precision_reduction",
                                                     "fft",
                                                     "nondeterministic",
                                                     "winograd",
                                                     "winograd_tile_4x4",
                                                     "winograd_tile_6x6",
                                                     "winograd_tile_13x13",
                                                     "strict_nan_prop"};
constexpr std::array<std::string_view, 5> kBehavior = {
    "runtime_compilation", "requires_filter_int8x32_reorder", "requires_bias_int8x32_reorder",
    "supports_cuda_graph_native_api", "cublaslt_dependency"};

// More than the header knows, so that a newer library's are not cut off.
constexpr std::int64_t kMostKnobs = 64;
constexpr std::int64_t kMostNotes = 32;

template <std::size_t kCount>
std::string NameIn(const std::array<std::string_view, kCount>& names, std::int32_t number,
                   std::string_view kind) {
  if (number < 0 || static_cast<std::size_t>(number) >= kCount) {
    return fmt::format("{} {}", kind, number);
  }
  return std::string(names[static_cast<std::size_t>(number)]);
}

template <std::size_t kCount>
Json NamesOf(const std::vector<std::int32_t>& numbers,
             const std::array<std::string_view, kCount>& names, std::string_view kind) {
  Json list = Json::MakeArray();
  for (const std::int32_t number : numbers) list.Append(NameIn(names, number, kind));
  return list;
}

Status ReadKnobs(const CudnnDescriptor& descriptor, CudnnConfig* config) {
  ASSIGN_OR_RETURN(const auto knobs, descriptor.GetDescriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                               CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                                                               "knob choice", kMostKnobs));
  for (const CudnnDescriptor& knob : knobs) {
    ASSIGN_OR_RETURN(const auto type,
                     knob.GetEnum(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1));
    ASSIGN_OR_RETURN(const auto value, knob.GetInt64(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 1));
    if (type.empty() || value.empty()) return InternalError("a knob choice without type or value");
    config->knobs.push_back({type.front(), value.front()});
  }
  return {};
}

Result<CudnnConfig> ReadConfig(CudnnDescriptor descriptor) {
  CudnnConfig config;
  ASSIGN_OR_RETURN(const auto engines,
                   descriptor.GetDescriptors(CUDNN_ATTR_ENGINECFG_ENGINE,
                                             CUDNN_BACKEND_ENGINE_DESCRIPTOR, "engine", 1));
  if (engines.empty()) return InternalError("an engine configuration without an engine");
  const CudnnDescriptor& engine = engines.front();
  ASSIGN_OR_RETURN(const auto index, engine.GetInt64(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 1));
  if (index.empty()) return InternalError("an engine without an index");
  config.engine = index.front();
  ASSIGN_OR_RETURN(config.notes, engine.GetEnum(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                CUDNN_TYPE_NUMERICAL_NOTE, kMostNotes));
  // Left out if an older cuDNN, or an engine known only by name, does not report it.
  if (engine.Reports(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE)) {
    ASSIGN_OR_RETURN(config.behavior, engine.GetEnum(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                     CUDNN_TYPE_BEHAVIOR_NOTE, kMostNotes));
  }
  RETURN_IF_ERROR(ReadKnobs(descriptor, &config));
  if (descriptor.Reports(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64)) {
    ASSIGN_OR_RETURN(const auto workspace,
                     descriptor.GetInt64(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, 1));
    if (!workspace.empty()) config.workspace_bytes = workspace.front();
  }
  config.descriptor = std::make_shared<CudnnDescriptor>(std::move(descriptor));
  return config;
}

}  // namespace

bool CudnnConfig::Has(cudnnBackendNumericalNote_t note) const {
  return std::ranges::count(notes, static_cast<std::int32_t>(note)) > 0;
}

Json DescribeConfig(const CudnnConfig& config) {
  Json knobs = Json::MakeObject();
  for (const auto& [type, value] : config.knobs) knobs.Set(NameIn(kKnobs, type, "knob"), value);
  Json described = Json::MakeObject();
  described.Set("engine", config.engine)
      .Set("knobs", std::move(knobs))
      .Set("notes", NamesOf(config.notes, kNotes, "note"))
      .Set("behavior", NamesOf(config.behavior, kBehavior, "note"));
  if (config.workspace_bytes) described.Set("workspace_bytes", *config.workspace_bytes);
  return described;
}

std::string NameOfConfig(const CudnnConfig& config) {
  std::string name = fmt::format("engine {}", config.engine);
  for (const auto& [type, value] : config.knobs) {
    name += fmt::format(" {}={}", NameIn(kKnobs, type, "knob"), value);
  }
  return name;
}

std::string_view HeuristicModeName(cudnnBackendHeurMode_t mode) {
  constexpr std::string_view names[] = {"INSTANT", "B", "FALLBACK", "A"};
  return names[static_cast<std::size_t>(mode)];
}

Result<CudnnDescriptor> CudnnDevice(std::shared_ptr<const Cudnn> cudnn, const Json& properties) {
  const std::string text = properties.Dump();
  ASSIGN_OR_RETURN(CudnnDescriptor device,
                   CudnnDescriptor::Create(std::move(cudnn), CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
                                           "device properties"));
  // The library reads the text as a C string and ignores the count.
  const std::vector<char> bytes(text.c_str(), text.c_str() + text.size() + 1);
  RETURN_IF_ERROR(device.SetAll(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, bytes));
  RETURN_IF_ERROR(device.Finalize());
  return device;
}

Result<std::vector<CudnnConfig>> CudnnGraph::Rank(cudnnBackendHeurMode_t mode, std::int64_t limit,
                                                  const CudnnDescriptor* device) const {
  ASSIGN_OR_RETURN(CudnnDescriptor heuristic,
                   CudnnDescriptor::Create(cudnn_, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
                                           fmt::format("heuristic {}", HeuristicModeName(mode))));
  RETURN_IF_ERROR(heuristic.SetDescriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, *graph_));
  RETURN_IF_ERROR(heuristic.Set(CUDNN_ATTR_ENGINEHEUR_MODE, mode));
  if (device != nullptr) {
    RETURN_IF_ERROR(heuristic.SetDescriptor(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *device));
  }
  RETURN_IF_ERROR(heuristic.Finalize());
  ASSIGN_OR_RETURN(const std::int64_t count,
                   heuristic.CountDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS));
  ASSIGN_OR_RETURN(
      auto configs,
      heuristic.GetDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                               "engine configuration", std::min(limit, count)));
  std::vector<CudnnConfig> ranked;
  for (CudnnDescriptor& one : configs) {
    ASSIGN_OR_RETURN(CudnnConfig config, ReadConfig(std::move(one)));
    ranked.push_back(std::move(config));
  }
  return ranked;
}

Result<CudnnPlan> CudnnPlan::Create(const std::shared_ptr<const Cudnn>& cudnn,
                                    const CudnnConfig& config) {
  ASSIGN_OR_RETURN(CudnnDescriptor made,
                   CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
                                           fmt::format("plan of engine {}", config.engine)));
  RETURN_IF_ERROR(made.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, cudnn->handle()));
  RETURN_IF_ERROR(made.SetDescriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, *config.descriptor));
  RETURN_IF_ERROR(made.Finalize());
  ASSIGN_OR_RETURN(const auto bytes, made.GetInt64(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 1));
  CudnnPlan plan(std::move(made));
  if (!bytes.empty()) plan.workspace_bytes_ = bytes.front();
  return plan;
}

Status CudnnPlan::Run(const std::vector<CudnnOperand>& operands, void* workspace) const {
  const auto& cudnn = plan_.cudnn();
  std::vector<std::int64_t> ids;
  std::vector<void*> memory;
  for (const CudnnOperand& operand : operands) {
    ids.push_back(operand.id);
    memory.push_back(operand.memory);
  }
  ASSIGN_OR_RETURN(
      CudnnDescriptor pack,
      CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "variant pack"));
  RETURN_IF_ERROR(pack.SetAll(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids));
  RETURN_IF_ERROR(pack.SetAll(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, memory));
  RETURN_IF_ERROR(pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace));
  RETURN_IF_ERROR(pack.Finalize());
  return cudnn->Check(cudnn->f.cudnnBackendExecute(cudnn->handle(), plan_.get(), pack.get()),
                      "cudnnBackendExecute");
}

}  // namespace rharness
