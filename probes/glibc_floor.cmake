# Writes into PROGRAM's section .glibc_floor the lowest glibc that has every symbol version PROGRAM
# asks for. Needs READELF, OBJCOPY, PROGRAM.
execute_process(COMMAND ${READELF} --version-info --wide ${PROGRAM}
                OUTPUT_VARIABLE versions COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "Name: GLIBC_[0-9.]+" names "${versions}")
set(floor 0)
foreach(name ${names})
  string(REPLACE "Name: GLIBC_" "" version "${name}")
  if(version VERSION_GREATER floor)
    set(floor ${version})
  endif()
endforeach()
if(floor STREQUAL "0")
  message(FATAL_ERROR "${PROGRAM} names no version of glibc")
endif()
set(text "needs glibc ${floor} or newer")
string(LENGTH "${text}" length)
math(EXPR padding "64 - ${length}")
string(REPEAT " " ${padding} spaces)
file(WRITE ${PROGRAM}.floor "${text}${spaces}")
execute_process(COMMAND ${OBJCOPY} --update-section .glibc_floor=${PROGRAM}.floor ${PROGRAM}
                COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${PROGRAM}.floor)
