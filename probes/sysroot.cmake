# Compiles and links everything against the C library in RHARNESS_PROBE_SYSROOT, with the compiler,
# its archives and the other libraries of this machine.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-multiarch
                OUTPUT_VARIABLE multiarch OUTPUT_STRIP_TRAILING_WHITESPACE)
set(libraries ${RHARNESS_PROBE_SYSROOT}/usr/lib/${multiarch})
foreach(file ${RHARNESS_PROBE_SYSROOT}/usr/include/features.h ${libraries}/Scrt1.o)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "RHARNESS_PROBE_SYSROOT has no ${file}: expected an unpacked libc6-dev")
  endif()
endforeach()
# This machine's headers come last: those of its C library are hidden by the older ones.
add_compile_options(--sysroot=${RHARNESS_PROBE_SYSROOT} "SHELL:-idirafter /usr/include"
                    "SHELL:-idirafter /usr/include/${multiarch}")
# -B, since the compiler would look for the start files where it is installed first.
add_link_options(--sysroot=${RHARNESS_PROBE_SYSROOT} -B${libraries}/)
# Libraries of their own before glibc 2.34.
string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " -Wl,--as-needed -lpthread -ldl -lrt")

# rharness_old_glibc(PROGRAM): gives it what the archives miss in that C library.
function(rharness_old_glibc program)
  set(source ${PROJECT_SOURCE_DIR}/probes/old_glibc.cc)
  target_sources(${program} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  foreach(function exp exp2 log log2 pow expf exp2f logf log2f powf lgamma lgammaf lgammal
           pthread_cond_clockwait fcntl64 explicit_bzero)
    target_link_options(${program} PRIVATE LINKER:--wrap=${function})
  endforeach()
endfunction()
