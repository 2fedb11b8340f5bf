# The CUDA toolkit of the tests: headers to check our prototypes against, nvcc, and NVIDIA's own runtime library.
#
# cuda_toolkit_folder   where it is, empty if there is none
# cuda_headers          target that brings its headers
# add_cuda_program(NAME SOURCE shared|static [OPTION…])   built by nvcc with that kind of runtime library
#
# GPUMEM_TOOLKIT=wheels in the environment of the first configuration takes the toolkit from PyPI; see scripts/toolkit.

if(NOT EXISTS "${cuda_toolkit_folder}/bin/nvcc")
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/toolkit
                  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(cuda_toolkit_folder "${folder}" CACHE PATH "folder of the CUDA toolkit" FORCE)
  else()
    set(cuda_toolkit_folder "" CACHE PATH "folder of the CUDA toolkit" FORCE)
    message(WARNING "No CUDA toolkit: the tests that need one will be skipped")
  endif()
endif()

add_library(cuda_headers INTERFACE)
if(cuda_toolkit_folder)
  target_include_directories(cuda_headers SYSTEM INTERFACE ${cuda_toolkit_folder}/include)
endif()

function(add_cuda_program name source cudart)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E env --unset=LIBRARY_PATH
            ${cuda_toolkit_folder}/bin/nvcc -std=c++17 -O1 -g -arch=sm_75 -cudart ${cudart} ${ARGN}
            -o ${program} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPENDS ${source}
    COMMENT "Building ${name} with nvcc"
    VERBATIM)
  add_custom_target(build_${name} ALL DEPENDS ${program})
endfunction()
