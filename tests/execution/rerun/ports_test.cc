// Ports of a range, free and taken.
#include "harness/execution/rerun/ports.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/base/descriptor.h"

namespace rharness {
namespace {

Descriptor Take(int port) {
  Descriptor taker(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  EXPECT_EQ(::bind(taker.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(taker.get(), 1), 0);
  return taker;
}

// Four that nobody has now, one after the other.
PortRange FourFree() {
  for (;;) {
    const int first = FreePort().value();
    if (first > 65000) continue;
    const bool free = !IsPortTaken(first) && !IsPortTaken(first + 1) && !IsPortTaken(first + 2) &&
                      !IsPortTaken(first + 3);
    if (free) return {first, first + 3};
  }
}

TEST(Ports, AreGivenAsARange) {
  EXPECT_EQ(ParsePortRange("29500-29999").value(), (PortRange{29500, 29999}));
  EXPECT_EQ(ParsePortRange("29500").value(), (PortRange{29500, 29500}));
  for (const char* text : {"", "-", "1-2", "80", "29500-", "-29500", "29999-29500", "29500-70000",
                           "29500-29999-", "29500 - 29999", "a-b", "+29500"}) {
    EXPECT_FALSE(ParsePortRange(text).ok()) << text;
  }
}

TEST(Ports, AttemptsBeginElsewhereInTheRange) {
  const PortRange range = FourFree();
  std::set<int> chosen;
  for (int attempt = 1; attempt <= 16; ++attempt) {
    const auto port = FreePort(range, fmt::format("gang/a.1.{}", attempt));
    ASSERT_TRUE(port);
    EXPECT_GE(*port, range.first);
    EXPECT_LE(*port, range.last);
    chosen.insert(*port);
  }
  EXPECT_GT(chosen.size(), 1U);
}

TEST(Ports, ThatAreTakenArePassedOver) {
  const PortRange range = FourFree();
  std::vector<Descriptor> takers;
  for (int port = range.first; port < range.last; ++port) takers.push_back(Take(port));
  for (const char* attempt : {"a", "b", "c", "d", "e"}) {
    EXPECT_EQ(FreePort(range, attempt), range.last);
  }
  takers.push_back(Take(range.last));
  EXPECT_FALSE(FreePort(range, "a"));
}

}  // namespace
}  // namespace rharness
