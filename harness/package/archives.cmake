# Libraries as archives, so that the programs need glibc alone: for the wheel. Included before the
# libraries are looked for.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
set(Boost_USE_STATIC_LIBS ON)

# The two whose packages describe the shared library alone, or first.
function(rharness_take_archives)
  find_library(RHARNESS_YAML_ARCHIVE libyaml-cpp.a REQUIRED)
  mark_as_advanced(RHARNESS_YAML_ARCHIVE)
  get_target_property(configurations yaml-cpp IMPORTED_CONFIGURATIONS)
  foreach(configuration ${configurations})
    set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION_${configuration} ${RHARNESS_YAML_ARCHIVE})
  endforeach()
  set_target_properties(pugixml::pugixml PROPERTIES INTERFACE_LINK_LIBRARIES pugixml::static)
endfunction()
