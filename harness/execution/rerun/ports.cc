// Sockets that are bound and closed again.
#include "harness/execution/rerun/ports.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstdint>

#include "harness/base/descriptor.h"

namespace rharness {
namespace {

constexpr int kFirstOfUsers = 1024;
constexpr int kLastPort = 65535;
constexpr int kTorchPort = 29500;  // torchrun's own default

std::optional<int> PortIn(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return port < kFirstOfUsers || port > kLastPort ? std::nullopt : std::optional(port);
}

// 0: it can be had; else errno. What the run itself left is no obstacle to the next one.
int TryPort(int port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return socket.valid() && ::bind(socket.get(), generic, sizeof(address)) == 0 ? 0 : errno;
}

// FNV-1a, which is the same on all machines.
std::uint32_t StartOf(std::string_view attempt) {
  std::uint32_t hash = 2166136261U;
  for (const char c : attempt) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

}  // namespace

std::string PortRange::ToString() const { return fmt::format("{}-{}", first, last); }

Result<PortRange> ParsePortRange(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = PortIn(text.substr(0, dash));
  const auto last = dash == text.npos ? first : PortIn(text.substr(dash + 1));
  if (!first || !last || *first > *last) {
    return InvalidInput(fmt::format("'{}': expected ports from {} to {}, as 29500-29999", text,
                                    kFirstOfUsers, kLastPort));
  }
  return PortRange{*first, *last};
}

std::optional<int> FreePort(const std::optional<PortRange>& range, std::string_view attempt) {
  if (range) {
    const int size = range->last - range->first + 1;
    const int start = static_cast<int>(StartOf(attempt) % static_cast<std::uint32_t>(size));
    for (int i = 0; i < size; ++i) {
      const int port = range->first + (start + i) % size;
      if (TryPort(port) == 0) return port;
    }
    return std::nullopt;
  }
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  if (!socket.valid() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return kTorchPort;
  }
  return ntohs(address.sin_port);
}

bool IsPortTaken(int port) { return TryPort(port) == EADDRINUSE; }

bool FailedByPort(std::string_view stderr_text, int port, bool is_taken) {
  const bool in_use = stderr_text.find("ddress already in use") != stderr_text.npos ||
                      stderr_text.find("EADDRINUSE") != stderr_text.npos;
  return in_use && (is_taken || stderr_text.find(std::to_string(port)) != stderr_text.npos);
}

}  // namespace rharness
