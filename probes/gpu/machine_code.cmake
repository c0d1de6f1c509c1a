# Sources of rharness_gpu and rharness_gpu_probes that are machine code made at build time: our own
# kernels by the assembler, and CUB by nvcc.
target_sources(rharness_gpu PRIVATE equal_sets.cc forked.cc math_reference.cc mma_fp64.cc)
target_link_libraries(rharness_gpu PUBLIC rharness_probe_runner)

# Machine code for every architecture of these that the toolkit's assembler knows, or of fewer: on a device
# of another generation CUB then is what the driver makes of its oldest PTX. --version tells them.
set(RHARNESS_CUDA_ARCHITECTURES "" CACHE STRING
    "Architectures that machine code is made for, such as 75;90; all that the toolkit knows if empty")
execute_process(COMMAND ${RHARNESS_NVCC} --list-gpu-code OUTPUT_VARIABLE known_code
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[\r\n]+" ";" known_code "${known_code}")
set(architectures "")
foreach(architecture 75 80 86 89 90 100 103 110 120 121)
  if("sm_${architecture}" IN_LIST known_code)
    list(APPEND architectures ${architecture})
  endif()
endforeach()
list(GET architectures 0 lowest)
foreach(architecture ${RHARNESS_CUDA_ARCHITECTURES})
  if(NOT architecture IN_LIST architectures)
    message(FATAL_ERROR "RHARNESS_CUDA_ARCHITECTURES: ${architecture}; expected some of ${architectures}")
  endif()
endforeach()
if(RHARNESS_CUDA_ARCHITECTURES)
  set(architectures ${RHARNESS_CUDA_ARCHITECTURES})
endif()
set_property(GLOBAL PROPERTY RHARNESS_MACHINE_CODE ${architectures})
file(STRINGS ${RHARNESS_cuda_H}/cuda.h toolkit REGEX "^#define CUDA_VERSION [0-9]+")
string(REGEX REPLACE "[^0-9]" "" toolkit "${toolkit}")
# Machine code and the runtime in here run on drivers of the toolkit's major version.
math(EXPR toolkit_major "${toolkit} / 1000 * 1000")
set_property(GLOBAL APPEND PROPERTY rharness_kernel_drivers ${toolkit_major})

# rharness_fatbin(NAME SYMBOL IMAGE): embeds machine code of the kernels that rharness_kernel
# embedded as IMAGE.
find_program(RHARNESS_FATBINARY fatbinary HINTS "${cuda_bin}")
set(fatbin_sources "")
function(rharness_fatbin name symbol image)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}_fat.cc)
  set(ptx ${CMAKE_CURRENT_BINARY_DIR}/${name}_kernels.cc)
  string(REPLACE ";" " " listed "${architectures}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DSYMBOL=${symbol} -DIMAGE=${image} -DPTX=${ptx}.ptx
            "-DARCHITECTURES=${listed}" -DLOWEST=${lowest} -DTOOLKIT=${toolkit} -DPTXAS=${RHARNESS_PTXAS}
            -DFATBINARY=${RHARNESS_FATBINARY} -DOUT=${out}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/embed_fatbin.cmake
    DEPENDS ${ptx} ${CMAKE_CURRENT_SOURCE_DIR}/embed_fatbin.cmake
    COMMENT "Embedding machine code of the ${name} kernels" VERBATIM)
  set(fatbin_sources ${fatbin_sources} ${out} PARENT_SCOPE)
endfunction()
if(RHARNESS_FATBINARY)
  rharness_fatbin(reduce kReduceFat kReduceKernels)
  rharness_fatbin(corpus kCorpusFat kCorpusKernels)
  rharness_fatbin(math kMathFat kMathKernels)
  target_sources(rharness_gpu PRIVATE fat_kernels.cc ${fatbin_sources})
  target_sources(rharness_gpu_probes PRIVATE fatbin_force_jit.cc)
else()
  message(STATUS "No fatbinary beside nvcc: the probe of our own machine code is left out")
endif()

# CUB, with the CUDA runtime as an archive: its host side is compiled by nvcc. Its headers come by -I,
# before those that nvcc adds itself. The oldest PTX is for devices of later architectures.
set(RHARNESS_CCCL "" CACHE PATH "Folder of another CCCL's headers than the toolkit's")
find_path(RHARNESS_CUB_H cub/device/device_reduce.cuh
          HINTS "${cuda_root}/include/cccl" "${cuda_root}/include"
          PATHS /usr/local/cuda/include/cccl /usr/local/cuda/include)
if(RHARNESS_CCCL AND NOT EXISTS "${RHARNESS_CCCL}/cub/device/device_reduce.cuh")
  message(FATAL_ERROR "RHARNESS_CCCL: no cub/device/device_reduce.cuh in ${RHARNESS_CCCL}")
endif()
find_library(RHARNESS_CUDART_ARCHIVE libcudart_static.a
             HINTS "${cuda_root}/lib64" "${cuda_root}/lib" PATHS /usr/local/cuda/lib64)
if(RHARNESS_CUB_H AND RHARNESS_CUDART_ARCHIVE)
  set(cub_includes $<IF:$<BOOL:${RHARNESS_CCCL}>,${RHARNESS_CCCL},${RHARNESS_CUB_H}>)
  set(codes "")
  if(toolkit GREATER_EQUAL 13000)
    list(APPEND codes --compress-mode=size)
  endif()
  list(APPEND codes -gencode arch=compute_${lowest},code=compute_${lowest})
  foreach(architecture ${architectures})
    list(APPEND codes -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  set(cub_object ${CMAKE_CURRENT_BINARY_DIR}/cub_launch.o)
  add_custom_command(
    OUTPUT ${cub_object}
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${RHARNESS_NVCC} -std=c++20 -O2
            -ccbin ${CMAKE_CXX_COMPILER} ${codes} -Xcompiler=-Wall,-fPIE
            -I${PROJECT_SOURCE_DIR} -I${cub_includes} -MD -MF ${cub_object}.d
            -MT ${cub_object} -c ${CMAKE_CURRENT_SOURCE_DIR}/cub_launch.cu -o ${cub_object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cub_launch.cu DEPFILE ${cub_object}.d
    COMMENT "Compiling CUB" VERBATIM)
  target_sources(rharness_gpu PRIVATE ${cub_object})
  target_link_libraries(rharness_gpu PRIVATE ${RHARNESS_CUDART_ARCHIVE} Threads::Threads
                        ${CMAKE_DL_LIBS} rt)
  target_sources(rharness_gpu_probes PRIVATE cub_reduce_tree.cc scan_bits.cc)
else()
  message(STATUS "No CUB or no archive of the CUDA runtime: the probes of CUB are left out")
endif()
