# Writes OUT, a source with the commit of the sources in SOURCE: "-dirty" where a tracked file differs,
# "unknown" where they are no checkout of their own. Leaves OUT alone where nothing changed.
cmake_minimum_required(VERSION 3.22)

function(git_output variable)
  execute_process(COMMAND git --no-optional-locks -C ${SOURCE} ${ARGN}
                  OUTPUT_VARIABLE output ERROR_QUIET RESULT_VARIABLE failed
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(output "failed")
  endif()
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

git_output(top rev-parse --show-toplevel)
file(REAL_PATH "${SOURCE}" source)
set(commit unknown)
# Unpacked below another checkout, the commit would be another project's.
if(top STREQUAL source)
  git_output(head rev-parse HEAD)
  git_output(changes status --porcelain --untracked-files=no)
  if(head MATCHES "^[0-9a-f]+$")
    set(commit ${head})
    if(changes)
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT "// The commit that this was built from.
#include \"harness/cli/build_facts.h\"

namespace rharness {

const char kCommit[] = \"@commit@\";

}  // namespace rharness
")
