// Shared by the sources of the library that is loaded before all others; see preload.cc.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_PRELOAD_PARTS_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_PRELOAD_PARTS_H_

#include <cstddef>
#include <cstdint>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace rharness {

// Whether this process has the notes mapped. Takes no lock and no memory, like everything here.
bool MayNote();
// Each text of a kind once.
void NoteText(std::uint8_t kind, const char* text, std::size_t size);
// The path of an open file into kLongestPath bytes, with its end; its length, 0: none, or too long.
long PathOfOpen(int fd, char* path);
// The next function of this name after the library; null: there is none.
void* NextFunction(const char* name);

// The same, looked up once: `known` is a static of the caller.
template <class F>
F* Next(F** known, const char* name) {
  F* found = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (found == nullptr) {
    found = reinterpret_cast<F*>(NextFunction(name));
    __atomic_store_n(known, found, __ATOMIC_RELAXED);
  }
  return found;
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_PRELOAD_PARTS_H_
