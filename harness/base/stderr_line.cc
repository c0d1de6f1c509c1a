// Messages and the status line, one write each so that threads do not mix.
#include "harness/base/stderr_line.h"

#include <unistd.h>

#include <atomic>
#include <mutex>

namespace rharness {
namespace {

constexpr std::string_view kWipe = "\r\x1b[K";  // back to the first column, erase to the end

std::atomic<bool> g_shown{false};

struct Pen {
  std::mutex mutex;
  std::string status;  // as shown now
};

// Never destroyed: messages may come while the process ends.
Pen& ThePen() {
  static Pen* pen = new Pen;
  return *pen;
}

void Write(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void WriteMessage(std::string_view message) {
  Pen& pen = ThePen();
  const std::scoped_lock lock(pen.mutex);
  if (pen.status.empty()) return Write(message);
  Write(std::string(kWipe).append(message).append(pen.status));
}

void ShowStatusLine(std::string text) {
  Pen& pen = ThePen();
  const std::scoped_lock lock(pen.mutex);
  if (text == pen.status) return;
  Write(std::string(kWipe).append(text));
  pen.status = std::move(text);
  g_shown = !pen.status.empty();
}

void ClearStatusLine() { ShowStatusLine({}); }

void AbandonStatusLine() noexcept {
  if (g_shown) Write(kWipe);
}

}  // namespace rharness
