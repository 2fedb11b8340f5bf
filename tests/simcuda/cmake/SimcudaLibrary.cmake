# SPDX-License-Identifier: Apache-2.0

# Writes a source file with a default entry for every name of some lists. A definition elsewhere replaces its default, which
# is weak.
function(simcuda_default_entries output names_files header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${names_files})
  set(names "")
  foreach(file IN LISTS names_files)
    file(STRINGS ${file} more)
    list(APPEND names ${more})
  endforeach()
  set(text "// Generated from ${names_files}.\n#include \"${header}\"\n\n")
  foreach(name IN LISTS names)
    string(APPEND text "SIMCUDA_DEFAULT_ENTRY(${name})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()

# Writes a version script that exports the names of a list, and nothing else, under one version node.
function(simcuda_version_node output names_file node)
  file(STRINGS ${names_file} names)
  list(JOIN names ";\n  " text)
  file(CONFIGURE OUTPUT ${output} CONTENT "${node} {\n global:\n  ${text};\n local: *;\n};\n" @ONLY)
endfunction()

# A library of the simulated stack: in <build>/simcuda under its SONAME with a plain .so link beside it, calling its own
# functions directly as NVIDIA's does, exporting only the API, and needing no C++ library at run time.
function(simcuda_library target name soversion version_script)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}
    SOVERSION ${soversion}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/simcuda
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${version_script})
  target_link_options(${target} PRIVATE -Wl,--version-script=${version_script}
    -Wl,-Bsymbolic -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
  if(NOT GPUMEM_SANITIZE)  # a sanitizer's functions come with the executable
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
