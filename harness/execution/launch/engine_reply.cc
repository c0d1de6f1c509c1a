// Reads inspect documents and pull errors. Both engines print an array of one object; fields that
// are not needed are not looked at.
#include "harness/execution/launch/engine_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

constexpr std::string_view kReplyName = "engine reply";

Error OddReply(const Error& error) {
  return ProcessError("the engine's reply is not understood: " + error.ToString());
}

// The single object of an inspect reply; nullptr for none.
Result<std::optional<Json>> SingleObject(std::string_view json) {
  Result<Json> parsed = ParseJson(json, kReplyName);
  if (!parsed.ok()) return OddReply(parsed.error());
  if (!parsed->IsArray() || parsed->AsArray().size() > 1) {
    return ProcessError("the engine's reply is not understood: expected an array of one object");
  }
  if (parsed->AsArray().empty()) return std::optional<Json>();
  return std::optional<Json>(parsed->AsArray().front());
}

// podman leaves the algorithm away.
std::string WithAlgorithm(const std::string& id) {
  return id.empty() || id.find(':') != std::string::npos ? id : "sha256:" + id;
}

std::string LastLine(std::string_view text) {
  const std::size_t end = text.find_last_not_of("\n ");
  if (end == std::string_view::npos) return "no message";
  text = text.substr(0, end + 1);
  const std::size_t line = text.rfind('\n');
  return TerminalSafe(line == std::string_view::npos ? text : text.substr(line + 1));
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

Result<std::optional<ContainerState>> ParseContainerInspect(std::string_view json) {
  ASSIGN_OR_RETURN(const std::optional<Json> object, SingleObject(json));
  if (!object) return std::optional<ContainerState>();
  ContainerState container;
  std::string status;
  JsonReader reader(*object, std::string(kReplyName), "$[0]");
  reader.Read("Image", &container.image_id);
  reader.ReadObject("State", true, [&](JsonReader& state) {
    state.Read("Status", &status);
    state.Read("ExitCode", &container.exit_code);
    state.ReadOptional("OOMKilled", &container.out_of_memory);
  });
  if (!reader.ok()) return OddReply(reader.status().error());
  container.image_id = WithAlgorithm(container.image_id);
  container.ended = status == "exited" || status == "stopped" || status == "dead";
  container.running =
      status == "running" || status == "paused" || status == "stopping" || status == "restarting";
  return std::optional<ContainerState>(container);
}

Result<ImageProof> ProveImage(std::string_view json, const Image& image) {
  ASSIGN_OR_RETURN(const std::optional<Json> object, SingleObject(json));
  if (!object) return NotFound(fmt::format("the engine has no image with {}", image.digest));
  std::string id;
  std::string digest;
  std::vector<std::string> repository_digests;
  JsonReader reader(*object, std::string(kReplyName), "$[0]");
  reader.Read("Id", &id);
  reader.ReadOptional("Digest", &digest);
  reader.ReadArray("RepoDigests", &repository_digests);
  if (!reader.ok()) return OddReply(reader.status().error());
  const auto carries = [&image](const std::string& entry) {
    return entry.size() > image.digest.size() && entry.ends_with("@" + image.digest);
  };
  if (digest != image.digest &&
      std::none_of(repository_digests.begin(), repository_digests.end(), carries)) {
    return IntegrityError(
        fmt::format("image {} is not the pinned one: its digests are {} and [{}], "
                    "expected {}",
                    id, digest.empty() ? "unknown" : digest, fmt::join(repository_digests, ", "),
                    image.digest));
  }
  return ImageProof{.digest = image.digest, .image_id = WithAlgorithm(id)};
}

Result<ImageFacts> ParseImageFacts(std::string_view json, const Image& image) {
  RETURN_IF_ERROR(ProveImage(json, image));
  ASSIGN_OR_RETURN(const std::optional<Json> object, SingleObject(json));
  ImageFacts facts;
  JsonReader reader(*object, std::string(kReplyName), "$[0]");
  reader.ReadObject("RootFS", false,
                    [&](JsonReader& root) { root.ReadArray("Layers", &facts.layers); });
  if (!reader.ok()) return OddReply(reader.status().error());
  const auto label = [&](std::string_view name) -> std::string {
    const Json* config = object->Find("Config");
    const Json* labels = config != nullptr ? config->Find("Labels") : nullptr;
    const Json* value = labels != nullptr ? labels->Find(name) : nullptr;
    const bool is_text = value != nullptr && value->kind() == Json::Kind::kString;
    return is_text ? TerminalSafe(value->AsString()) : "";
  };
  facts.base_name = label("org.opencontainers.image.base.name");
  facts.base_digest = label("org.opencontainers.image.base.digest");
  return facts;
}

Error ExplainPullFailure(const Image& image, const ProcessResult& result) {
  const std::string what =
      fmt::format("pull of {}/{}@{}", image.registry, image.repository, image.digest);
  if (result.outcome.kind == OutcomeKind::kTimedOut) {
    return TimeoutError(what + " " + result.outcome.ToString());
  }
  if (result.outcome.kind != OutcomeKind::kExited) {
    return ProcessError(what + ": " + result.outcome.ToString());
  }
  const std::string message = fmt::format("{}: {}", what, LastLine(result.stderr_text));
  // Error codes of the OCI distribution specification, as the engines spell them.
  constexpr std::array<std::string_view, 5> kAbsent = {
      "manifest unknown", "name unknown", "MANIFEST_UNKNOWN", "NAME_UNKNOWN", "404 (Not Found)"};
  if (std::any_of(kAbsent.begin(), kAbsent.end(),
                  [&](std::string_view sign) { return Contains(result.stderr_text, sign); })) {
    return NotFound(message);
  }
  return ProcessError(message);
}

void DecideOutcome(std::string_view engine, const std::optional<ContainerState>& container,
                   bool memory_limited, Outcome* outcome) {
  if (outcome->kind != OutcomeKind::kExited && outcome->kind != OutcomeKind::kSignalled) return;
  if (container && container->ended) {
    // The engine's record decides: a client may exit with 0 or 1 whatever happened to the
    // container.
    outcome->kind = OutcomeKind::kExited;
    outcome->exit_code = container->exit_code;
    outcome->signal = 0;
    constexpr int kKilled = 128 + 9;
    if (container->out_of_memory || (memory_limited && container->exit_code == kKilled)) {
      outcome->kind = OutcomeKind::kMemoryLimit;
      outcome->detail = "the container was killed at its memory limit";
    }
    return;
  }
  if (container && container->running) {
    outcome->detail =
        fmt::format("{}'s client {} while the container ran", engine, outcome->ToString());
    outcome->kind = OutcomeKind::kLost;
    return;
  }
  const int code = outcome->kind == OutcomeKind::kExited ? outcome->exit_code : 0;
  if (container && (code == 126 || code == 127)) {
    outcome->detail = code == 126 ? "the command in the image cannot be executed"
                                  : "the command does not exist in the image";
    return;
  }
  outcome->detail =
      fmt::format("{} could not start the container: its client {}", engine, outcome->ToString());
  outcome->kind = OutcomeKind::kNotStarted;
}

}  // namespace rharness
