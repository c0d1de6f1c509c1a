// Builds the world with the engines' own tools, so that what a launcher claims can be held against
// what they wrote.
#include "tests/execution/launch/container_world.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "harness/base/descriptor.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Of a server that nobody stops; a Reaper ends those of a test that was killed.
constexpr std::chrono::minutes kLife{60};

std::map<std::string, std::string> WholeEnvironment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && equals > 0) {
      variables[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  return variables;
}

ProcessResult RunWith(std::vector<std::string> argv, std::chrono::seconds timeout,
                      const std::function<bool()>& should_cancel) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = WholeEnvironment();
  ProcessLimits limits;
  limits.timeout = timeout;
  return RunProcess(spec, limits, {}, should_cancel);
}

// Tries to connect until somebody listens, for ten seconds at most.
bool AwaitListener(const sockaddr* address, socklen_t size) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < until) {
    const Descriptor fd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(fd.get(), address, size) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

void WriteText(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

Service::Service(std::vector<std::string> argv)
    : thread_([this, argv = std::move(argv)] {
        RunWith(argv, kLife, [this] { return stop_.load(); });
      }) {}

Service::~Service() {
  stop_ = true;
  thread_.join();
}

ContainerWorld::ContainerWorld() {
  Result<ScopedTempDir> folder = ScopedTempDir::Make("rharness-world-");
  if (!folder.ok()) {
    problem_ = folder.error().ToString();
    return;
  }
  folder_ = std::make_unique<ScopedTempDir>(std::move(*folder));
  reaper_ = std::make_unique<Reaper>(folder_->path());
  problem_ = reaper_->problem();
  if (!problem_.empty()) return;
  Configure();
  for (const char* program : {"podman", "buildah", "docker-registry", "busybox"}) {
    if (!Demand({"sh", "-c", std::string("command -v ") + program})) return;
  }
  if (!StartRegistry()) return;
  if (!MakeImage("first", &first_) || !MakeImage("second", &second_)) return;
  Demand({"podman", "run", "--rm", "--network=none", "localhost/first", "/bin/busybox", "true"});
  Demand({"podman", "rmi", "--all", "--force"});
}

ContainerWorld::~ContainerWorld() {
  docker_.reset();
  if (folder_ == nullptr) return;
  Run({"podman", "rm", "--all", "--force"});
  // The overlay driver leaves its folder mounted on itself.
  ::umount2((folder() / "storage" / "overlay").c_str(), MNT_DETACH);
}

void ContainerWorld::Configure() {
  port_ = FreePort();
  fs::create_directories(folder() / "runtime");
  WriteText(folder() / "containers.conf",
            "[containers]\n"
            "default_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n"
            "[engine]\n"
            "cgroup_manager = \"cgroupfs\"\n"
            "events_logger = \"file\"\n"
            "runtime = \"runc\"\n");
  WriteText(folder() / "storage.conf",
            fmt::format("[storage]\ndriver = \"overlay\"\ngraphroot = \"{0}/storage\"\n"
                        "runroot = \"{0}/run\"\n",
                        folder().string()));
  WriteText(folder() / "registries.conf",
            fmt::format("[[registry]]\nlocation = \"{}\"\ninsecure = true\n", registry()));
  fs::create_directories(folder() / "docker");
  WriteText(folder() / "docker" / "config.json", "{}\n");
  WriteText(folder() / "registry.yml",
            fmt::format("version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n"
                        "    rootdirectory: {}/registry\nhttp:\n  addr: {}\n",
                        folder().string(), registry()));
  const std::map<std::string, std::string> variables = {
      {"CONTAINERS_CONF", folder() / "containers.conf"},
      {"CONTAINERS_STORAGE_CONF", folder() / "storage.conf"},
      {"CONTAINERS_REGISTRIES_CONF", folder() / "registries.conf"},
      {"XDG_RUNTIME_DIR", folder() / "runtime"},
      {"DOCKER_CONFIG", folder() / "docker"},
      {"DOCKER_HOST", fmt::format("unix://{}/docker.sock", folder().string())},
      {"RHARNESS_TEST_SECRET", "must not be seen in a container"}};
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
}

std::string ContainerWorld::registry() const { return fmt::format("127.0.0.1:{}", port_); }

int ContainerWorld::FreePort() {
  const Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool ContainerWorld::StartRegistry() {
  registry_ = std::make_unique<Service>(
      std::vector<std::string>{"docker-registry", "serve", folder() / "registry.yml"});
  const sockaddr_in address = Loopback(port_);
  if (AwaitListener(reinterpret_cast<const sockaddr*>(&address), sizeof(address))) return true;
  problem_ = "docker-registry does not listen on " + registry();
  return false;
}

bool ContainerWorld::StartDocker() {
  const std::string path = folder() / "docker.sock";
  if (!Demand({"sh", "-c", "command -v docker"})) return false;
  docker_ = std::make_unique<Service>(
      std::vector<std::string>{"podman", "system", "service", "--time=0", "unix://" + path});
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (AwaitListener(reinterpret_cast<const sockaddr*>(&address), sizeof(address))) return true;
  problem_ = "podman offers no docker API at " + path;
  return false;
}

bool ContainerWorld::MakeImage(const std::string& text, TestImage* image) {
  WriteText(folder() / "which", text);
  const std::string name = "localhost/" + text;
  const std::string id_file = folder() / "image-id";
  const std::string digest_file = folder() / "digest";
  std::string container;
  if (!Demand({"buildah", "from", "scratch"}, &container)) return false;
  container.erase(container.find_last_not_of('\n') + 1);
  if (!Demand({"buildah", "copy", container, "/bin/busybox", "/bin/busybox"}) ||
      !Demand({"buildah", "copy", container, folder() / "which", "/which"}) ||
      !Demand({"buildah", "config", "--entrypoint", "[\"/bin/busybox\", \"echo\"]", container}) ||
      !Demand({"buildah", "commit", "--quiet", "--rm", "--format=oci", "--timestamp=0",
               "--iidfile=" + id_file, container, name}) ||
      !Demand({"podman", "push", "--quiet", "--tls-verify=false", "--digestfile=" + digest_file,
               name, registry() + "/ml/tiny:1"})) {
    return false;
  }
  image->digest = *ReadFile(digest_file);
  image->image_id = *ReadFile(id_file);
  return true;
}

ProcessResult ContainerWorld::Run(std::vector<std::string> argv) {
  return RunWith(std::move(argv), std::chrono::seconds(30), {});
}

bool ContainerWorld::Demand(std::vector<std::string> argv, std::string* out) {
  if (!problem_.empty()) return false;
  const std::string line = fmt::format("{}", fmt::join(argv, " "));
  ProcessResult result = Run(std::move(argv));
  if (!result.outcome.Succeeded()) {
    problem_ = fmt::format("{}: {} {}", line, result.outcome.ToString(), result.stderr_text);
    return false;
  }
  if (out != nullptr) *out = std::move(result.stdout_text);
  return true;
}

}  // namespace rharness
