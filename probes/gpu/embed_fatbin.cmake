# Embeds machine code of one kernel file: cmake -DSYMBOL= -DIMAGE= -DPTX= -DARCHITECTURES= -DLOWEST= -DTOOLKIT= -DPTXAS= -DFATBINARY= -DOUT= -P
# The assembler makes it of the PTX that embed_kernel.cmake wrote, one cubin an architecture; the
# fatbin holds these and the PTX.
string(REPLACE " " ";" architectures "${ARCHITECTURES}")
set(images --image3=kind=ptx,sm=${LOWEST},file=${PTX})
foreach(architecture ${architectures})
  set(cubin "${OUT}.${architecture}.cubin")
  execute_process(COMMAND "${PTXAS}" -arch=sm_${architecture} "${PTX}" -o "${cubin}"
                  COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND images --image3=kind=elf,sm=${architecture},file=${cubin})
endforeach()
execute_process(COMMAND "${FATBINARY}" --64 --compress-all --create=${OUT}.fatbin ${images}
                COMMAND_ERROR_IS_FATAL ANY)
file(READ "${OUT}.fatbin" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${OUT}" "// Made by embed_fatbin.cmake.
#include \"probes/gpu/fat_kernels.h\"
namespace rharness {
namespace {
alignas(16) constexpr unsigned char ${SYMBOL}Bytes[] = {${bytes}};
}  // namespace
extern const FatKernels ${SYMBOL};
const FatKernels ${SYMBOL} = {&${IMAGE}, ${SYMBOL}Bytes, \"${ARCHITECTURES}\", ${TOOLKIT}};
}  // namespace rharness
")
