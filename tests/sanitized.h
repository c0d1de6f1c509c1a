// Whether the tests were built with a sanitizer, whose shadow memory defeats limits on memory and
// whose libraries a program then needs wherever it runs.
#ifndef RHARNESS_TESTS_SANITIZED_H_
#define RHARNESS_TESTS_SANITIZED_H_

namespace rharness {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Whether vfork is an ordinary fork, as the thread sanitizer makes it: the child then has no way to
// tell why it could not start its program, and may not yet be in its group when its start is told.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kVforkIsFork = true;
#else
inline constexpr bool kVforkIsFork = false;
#endif

}  // namespace rharness

#endif  // RHARNESS_TESTS_SANITIZED_H_
