// The image: in an engine's own store, at its registry, or a file.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <system_error>

#include "harness/base/clean_text.h"
#include "harness/base/files.h"
#include "harness/execution/launch/container_launcher.h"
#include "harness/execution/launch/image_reference.h"
#include "harness/execution/rebuild/asked.h"
#include "harness/records/manifest/image_name.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Answer OfImageFile(const Image& image, Rebuilder::Asked* asked) {
  const auto path = Locate(asked->options.places, image.location);
  if (!path.ok()) return {PartState::kUnknown, path.error().message};
  std::error_code error;
  if (!fs::is_regular_file(*path, error)) {
    return {PartState::kGone, fmt::format("no file at {}", path->string())};
  }
  if (!asked->options.verify) return {PartState::kHad, "at " + path->string()};
  const auto content = asked->hashes.Hash(*path);
  if (!content.ok()) return {PartState::kUnknown, content.error().ToString()};
  if ("sha256:" + content->sha256 == image.digest) {
    return {PartState::kHad, fmt::format("at {}, with its hash", path->string())};
  }
  return {PartState::kGone,
          fmt::format("a different file lies at {}: sha256:{}", path->string(), content->sha256)};
}

// What skopeo and registries speak of as absent. Source: OCI distribution specification, "Error
// codes".
bool SaysAbsent(std::string_view text) {
  for (const std::string_view sign : {"manifest unknown", "name unknown", "MANIFEST_UNKNOWN",
                                      "NAME_UNKNOWN", "repository name not known"}) {
    if (text.find(sign) != text.npos) return true;
  }
  return false;
}

// With the credentials that it was given; empty `why`: it is not installed.
Answer AskSkopeo(const std::string& reference, Rebuilder::Asked* asked) {
  const ProcessResult result = asked->Run(
      {"skopeo", "inspect", "--raw", "docker://" + reference},
      PickEnvironment({"PATH", "HOME", "XDG_RUNTIME_DIR", "REGISTRY_AUTH_FILE", "SSL_CERT_FILE",
                       "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy",
                       "https_proxy", "no_proxy", "CONTAINERS_REGISTRIES_CONF"}));
  if (result.outcome.kind == OutcomeKind::kNotStarted) return {};
  if (result.outcome.Succeeded()) return {PartState::kHad, "its registry has it (skopeo)"};
  if (SaysAbsent(result.stderr_text)) {
    return {PartState::kGone, "its registry does not have it: " + LastLine(result.stderr_text)};
  }
  return {PartState::kUnknown,
          fmt::format("skopeo {}: {}", result.outcome.ToString(), LastLine(result.stderr_text))};
}

constexpr std::string_view kManifestTypes[] = {
    "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json"};

std::string ValueOf(const HttpHeaders& headers, std::string_view name) {
  const auto found = std::ranges::find(headers, name, &HttpHeaders::value_type::first);
  return found == headers.end() ? "" : found->second;
}

// A page to sign in is answered with 200, too. Source: OCI distribution specification, "Pulling
// manifests": the type is that of the manifest.
Answer OfHeaders(const HttpHeaders& headers, const Image& image) {
  const std::string digest = ValueOf(headers, "docker-content-digest");
  if (!digest.empty() && digest != image.digest) {
    return {PartState::kUnknown,
            fmt::format("its registry answers with a different digest: {}", TerminalSafe(digest))};
  }
  const std::string whole = ValueOf(headers, "content-type");
  const std::string_view type = std::string_view(whole).substr(0, whole.find_first_of("; "));
  if (std::ranges::find(kManifestTypes, type) != std::end(kManifestTypes)) {
    return {PartState::kHad, "its registry has it"};
  }
  return {PartState::kUnknown, fmt::format("its registry answers with '{}', which is no image's "
                                           "manifest",
                                           TerminalSafe(type.substr(0, 100)))};
}

// Without credentials. Source: OCI distribution specification, "Checking if content exists in the
// registry".
Answer AskRegistry(const Image& image, Rebuilder::Asked* asked) {
  const bool is_here =
      image.registry.starts_with("127.") || image.registry.starts_with("localhost");
  const std::string host = image.registry == "docker.io" ? "registry-1.docker.io" : image.registry;
  auto client = HttpClient::Make((is_here ? "http://" : "https://") + host, {}, asked->Limits(), {},
                                 asked->options.should_cancel);
  if (!client.ok()) return {PartState::kUnknown, client.error().ToString()};
  const auto there =
      client->HeadersOf(fmt::format("/v2/{}/manifests/{}", image.repository, image.digest), {},
                        fmt::format("{}", fmt::join(kManifestTypes, ", ")));
  if (there.ok()) return OfHeaders(*there, image);
  if (there.error().code == ErrorCode::kNotFound) {
    return {PartState::kGone, "its registry does not have it: " + there.error().ToString()};
  }
  return {PartState::kUnknown, there.error().ToString()};
}

Answer OfRegistryImage(const Image& image, const std::string& reference, Rebuilder::Asked* asked) {
  for (const char* name : {"podman", "docker"}) {
    const Engine* engine = FindEngine(name);
    if (engine != nullptr && ContainerLauncher(*engine).Describe(image).ok()) {
      return {PartState::kHad, fmt::format("{} has it here", name)};
    }
  }
  if (!asked->options.network) {
    return {PartState::kUnknown, "no engine here has it; its registry is asked with --network"};
  }
  const Answer told = AskSkopeo(reference, asked);
  return told.why.empty() ? AskRegistry(image, asked) : told;
}

}  // namespace

void AskForImage(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts) {
  Image image = manifest.image;
  if (image.kind == ImageKind::kHost) return;
  if (IsImageFile(image)) {
    const Answer answer = OfImageFile(image, asked);
    parts->push_back({"image", image.location, answer.state, answer.why});
    return;
  }
  CompleteImageName(&image);
  const auto reference = ImageReference(image);
  if (!reference.ok()) {
    parts->push_back({"image", image.repository, PartState::kUnknown,
                      image.digest.empty()
                          ? "the record does not pin it by a digest"
                          : "no engine takes its name: " + reference.error().message});
    return;
  }
  const Answer answer =
      asked->Once("image " + *reference, [&] { return OfRegistryImage(image, *reference, asked); });
  parts->push_back({"image", *reference, answer.state, answer.why});
}

}  // namespace rharness
