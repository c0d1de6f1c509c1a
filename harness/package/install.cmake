# What `cmake --install build` puts where, in components: programs, documentation, completion. Below
# --prefix, as GNU has it; a component alone by --component NAME.
include(GNUInstallDirs)
set(programs_folder ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})

# rharness finds the other two beside it.
install(TARGETS rharness rharness-more rharness-probe
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
# What it lends to the runs that it records (harness/records/observe).
install(TARGETS rharness-observe rharness-kernels
        LIBRARY DESTINATION lib/rharness/observe COMPONENT programs)
install(TARGETS rharness-look
        RUNTIME DESTINATION lib/rharness/observe COMPONENT programs)
if(TARGET rharness-enter)
  install(TARGETS rharness-enter
          RUNTIME DESTINATION lib/rharness/observe COMPONENT programs)
endif()
install(FILES harness/records/observe/python/sitecustomize.py harness/records/observe/python/rharness_observe.py
              harness/records/observe/python/rharness_chance.py harness/records/observe/python/rharness_sources.py
              harness/records/observe/python/rharness_flags.py harness/records/observe/python/rharness_variables.py
              harness/records/observe/python/rharness_trace.py harness/records/observe/python/rharness_trace_torch.py
              harness/records/observe/python/rharness_calls.py harness/records/observe/python/rharness_calls_jax.py
              harness/records/observe/python/rharness_calls_torch.py harness/records/observe/python/rharness_calls_units.py
              harness/records/observe/python/rharness_contents_torch.py harness/records/observe/python/rharness_modes_torch.py
        DESTINATION lib/rharness/observe/python COMPONENT programs)
# Here a link into another build folder; there the program itself.
install(CODE "
  if(EXISTS \"${programs_folder}/rharness-probe-portable\")
    file(REAL_PATH \"${programs_folder}/rharness-probe-portable\" portable)
    file(INSTALL \"\${portable}\" TYPE PROGRAM RENAME rharness-probe-portable
         DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  endif()" COMPONENT programs)

# The program writes its own pages.
set(documents ${PROJECT_BINARY_DIR}/documents)
foreach(component documentation completion)
  install(CODE "
    file(REMOVE_RECURSE \"${documents}/${component}\")
    execute_process(COMMAND \"${programs_folder}/rharness\" documents --${component}
                    \"${documents}/${component}\" COMMAND_ERROR_IS_FATAL ANY)"
          COMPONENT ${component})
endforeach()
foreach(section 1 7)  # of verbs, of guides
  install(DIRECTORY ${documents}/documentation/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
          COMPONENT documentation FILES_MATCHING PATTERN "*.${section}")
endforeach()
install(DIRECTORY ${documents}/completion/ DESTINATION ${CMAKE_INSTALL_DATADIR}
        COMPONENT completion)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
get_property(guides GLOBAL PROPERTY RHARNESS_GUIDES)
foreach(guide ${guides})
  get_filename_component(name ${guide} NAME)
  install(FILES ${guide}/GUIDE.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/guides RENAME ${name}.md
          COMPONENT documentation)
endforeach()
# What README.md and `rharness import` name, at the path by which they name it.
install(FILES scenarios/mlflow/rerun.py scenarios/mlflow/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/scenarios/mlflow COMPONENT documentation)
# What the guides run.
install(DIRECTORY scenarios/tutorial DESTINATION ${CMAKE_INSTALL_DOCDIR}/scenarios
        USE_SOURCE_PERMISSIONS COMPONENT documentation)
# Those of what is written by a list of its members; then the others.
install(CODE "
  file(REMOVE_RECURSE \"${documents}/schemas\")
  execute_process(COMMAND \"${programs_folder}/rharness\" documents --schemas \"${documents}/schemas\"
                  COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT documentation)
install(DIRECTORY ${documents}/schemas/ DESTINATION ${CMAKE_INSTALL_DATADIR}/rharness/schemas
        COMPONENT documentation)
install(FILES
  compare/fingerprints/fingerprint.schema.json compare/traces/trace.schema.json compare/traces/calls.schema.json
  harness/trust/audit/audit_entry.schema.json
  harness/trust/attestation/model.schema.json harness/trust/attestation/verdict.schema.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/rharness/schemas COMPONENT documentation)
