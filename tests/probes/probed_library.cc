// A shared library to be loaded by tests.
extern "C" int ProbedAnswer() { return PROBED_ANSWER; }
