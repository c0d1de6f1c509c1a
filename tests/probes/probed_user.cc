// A shared library that needs another one, which the loader does not find.
extern "C" int ProbedAnswer();
extern "C" int UserAnswer() { return ProbedAnswer(); }
