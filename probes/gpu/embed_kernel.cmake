# Embeds one kernel file: cmake -DNAME= -DSYMBOL= -DSOURCE= -DPTX= -DISA= -DDRIVER= -DCOMPUTE= -DPTXAS= -DOUT= -P
# The compiler writes its own PTX version, which older drivers refuse whatever the text needs; the
# lowest one is written over it, and the assembler refuses the text if an instruction needs more.
file(READ "${PTX}" ptx)
string(REGEX REPLACE "\n\\.version [0-9]+\\.[0-9]+\n" "\n.version ${ISA}\n" ptx "${ptx}")
if(NOT ptx MATCHES "\n\\.version ${ISA}\n")
  message(FATAL_ERROR "${PTX}: expected a line with the PTX version")
endif()
file(WRITE "${OUT}.ptx" "${ptx}")
execute_process(COMMAND "${PTXAS}" -arch=sm_${COMPUTE} "${OUT}.ptx" -o "${OUT}.cubin"
                RESULT_VARIABLE failed ERROR_VARIABLE text)
if(failed)
  message(FATAL_ERROR "${NAME}: PTX ${ISA} is too low for its instructions:\n${text}")
endif()
file(READ "${SOURCE}" source)

# String literals in pieces, since compilers limit the length of one.
function(literal text out)
  set(result "")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND result "R\"kernel(${piece})kernel\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(${out} "${result}" PARENT_SCOPE)
endfunction()
literal("${source}" source_literal)
literal("${ptx}" ptx_literal)
# 90a is 9.0 and no other.
string(REGEX REPLACE "[^0-9]" "" number "${COMPUTE}")
set(exact false)
if(NOT COMPUTE STREQUAL number)
  set(exact true)
endif()
file(WRITE "${OUT}" "// Made by embed_kernel.cmake from ${NAME}.cu.
#include \"probes/gpu/kernels.h\"
namespace rharness {
extern const KernelImage ${SYMBOL};
const KernelImage ${SYMBOL} = {\"${NAME}\", ${source_literal}, ${ptx_literal}, ${number}, ${DRIVER}, ${exact}};
}  // namespace rharness
")
