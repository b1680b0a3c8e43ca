# Plants includes and links that src/layers.cmake does not allow, in a copy of src/, and checks that each is refused.
#   cmake -DROOT=... -DBUILD=... -DWORK=... -P planted_violations_test.cmake
cmake_minimum_required(VERSION 3.24)

# Checks a file with this one line, as src/FILE.
function(try_line file line result_variable text_variable)
  file(REMOVE_RECURSE ${WORK}/src)
  file(WRITE ${WORK}/src/${file} "#pragma once\n${line}\n")
  get_filename_component(folder ${file} DIRECTORY)
  execute_process(COMMAND ${CMAKE_COMMAND} -DTABLE=${BUILD}/layers/layers.cmake -DSOURCE=${WORK}/src -DFOLDER=${folder}
                          -P ${ROOT}/src/check_layer.cmake
                  RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result_variable} ${result} PARENT_SCOPE)
  set(${text_variable} "${text}" PARENT_SCOPE)
endfunction()

function(expect_allowed file line)
  try_line(${file} "${line}" result text)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "src/${file}: ${line} was refused:\n${text}")
  endif()
endfunction()

function(expect_refused file line reason)
  try_line(${file} "${line}" result text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(FIND "${text}" "${reason}" at)
  if(result EQUAL 0)
    message(SEND_ERROR "src/${file}: ${line} was not refused")
  elseif(at EQUAL -1)
    message(SEND_ERROR "src/${file}: ${line} was refused without \"${reason}\":\n${text}")
  endif()
endfunction()

expect_allowed(core/a.hpp "#include \"core/image.hpp\"")
expect_allowed(core/a.hpp "#include <vector>")
expect_allowed(core/a.hpp "#include <corelib.h>")
expect_allowed(pipeline/a.hpp "#include \"io/source.hpp\"")
expect_allowed(io/watch/a.hpp "#include \"io/source.hpp\"")
expect_allowed(compute/cuda/a.cuh "#include <cuda_runtime.h>")
expect_allowed(compute/cuda/a.cu "#include \"compute/cuda/kernels/quad.cuh\"")
expect_allowed(codec/a.cpp "#include <opencv2/imgproc.hpp>")
expect_allowed(flow/channel.hpp "#include <concurrentqueue/moodycamel/concurrentqueue.h>")

expect_refused(core/a.hpp "#include \"flow/budget.hpp\"" "src/core/a.hpp includes flow/budget.hpp: core may not use flow")
expect_refused(core/a.hpp "#include <flow/budget.hpp>" "core may not use flow")
expect_refused(core/a.hpp "  #  include\"flow/budget.hpp\"" "core may not use flow")
expect_refused(flow/a.cpp "#include \"core/image.hpp\"" "flow may not use core")
expect_refused(io/a.cpp "#include \"io/watch/tree_scan.hpp\"" "io may not use io/watch")
expect_refused(io/a.cpp "#include \"pipeline/pipeline.hpp\"" "io may not use pipeline")
expect_refused(pipeline/a.cpp "#include \"status_server/run_status.hpp\"" "pipeline may not use status_server")
expect_refused(pipeline/a.cpp "#include \"reports/image_report.hpp\"" "pipeline may not use reports")
expect_refused(app/a.cpp "#include \"compute/cuda/lane.hpp\"" "app may not use compute/cuda")
expect_refused(cli/a.cpp "#include \"compute/cpu/cpu_backend.hpp\"" "cli may not use compute/cpu")
expect_refused(pipeline/a.cpp "#include <opencv2/imgproc.hpp>" "pipeline may not use opencv")
expect_refused(compute/cpu/a.cpp "#include <cuda_runtime.h>" "compute/cpu may not use cuda")
expect_refused(compute/a.cpp "#include <lapacke.h>" "compute may not use openblas")
expect_refused(io/a.cpp "#include \"opencv2/imgproc.hpp\"" "use <> for a third-party header")
expect_refused(io/a.cpp "#include \"source.hpp\"" "use a path relative to src")
expect_refused(io/a.cpp "#include \"../core/image.hpp\"" "use a path relative to src")
expect_refused(cli/a.cpp "#include <gtest/gtest.h>" "cli may not use googletest")

expect_allowed(core/a.hpp "namespace eckart {")
expect_allowed(io/watch/a.hpp "namespace eckart::io {")
expect_allowed(compute/cuda/kernels/a.cuh "namespace eckart::compute::cuda {")
expect_allowed(compute/cuda/kernels/tensor_core.cuh "namespace eckart::compute::cuda::tensor_core {")

expect_refused(core/a.hpp "namespace eckart::core {" "the namespace of core is eckart")
expect_refused(pipeline/a.hpp "namespace eckart {" "src/pipeline/a.hpp: namespace eckart {: its namespace is eckart::pipeline")
expect_refused(compute/cuda/a.hpp "namespace eckart::cuda {" "its namespace is eckart::compute::cuda")
expect_refused(text/a.hpp "namespace eckart::hash {" "its namespace is eckart::text")

# Configures a small project with three components, and a line of CMake after them.
function(try_project layers extra result_variable text_variable)
  file(REMOVE_RECURSE ${WORK}/project)
  file(WRITE ${WORK}/project/src/low/a.cpp "int low() { return 1; }\n")
  file(WRITE ${WORK}/project/src/side/a.cpp "int side() { return 1; }\n")
  file(WRITE ${WORK}/project/src/high/a.cpp "int high() { return 1; }\n")
  file(WRITE ${WORK}/project/src/layers.cmake "${layers}")
  file(WRITE ${WORK}/project/CMakeLists.txt "cmake_minimum_required(VERSION 3.24)
project(planted LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH ${WORK}/project/src ${ROOT}/src)
include(components)
eckart_write_layers()
foreach(folder low side high)
  eckart_component(\${folder} SOURCES src/\${folder}/a.cpp)
endforeach()
${extra}
eckart_check_links()
")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/project/build
                  RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  set(${result_variable} ${result} PARENT_SCOPE)
  set(${text_variable} "${text}" PARENT_SCOPE)
endfunction()

function(expect_project layers extra reason)
  try_project("${layers}" "${extra}" result text)
  string(FIND "${text}" "${reason}" at)
  if(reason STREQUAL "" AND NOT result EQUAL 0)
    message(SEND_ERROR "refused: ${extra}\n${text}")
  elseif(NOT reason STREQUAL "" AND (result EQUAL 0 OR at EQUAL -1))
    message(SEND_ERROR "not refused with \"${reason}\": ${extra}\n${text}")
  endif()
endfunction()

set(layers "eckart_layer(low ABOUT low)\neckart_layer(side ABOUT side)\neckart_layer(high ABOUT high USES low)\n")
expect_project("${layers}" "" "")
expect_project("${layers}" "target_link_libraries(eckart_low PRIVATE eckart_high)"
               "eckart_low is linked with eckart_high, which src/layers.cmake does not allow low")
expect_project("${layers}" "target_link_libraries(eckart_high PUBLIC eckart_side)"
               "eckart_high is linked with eckart_side, which src/layers.cmake does not allow high")
expect_project("${layers}" "target_link_libraries(eckart_low PRIVATE m)"
               "eckart_low is linked with m, which src/layers.cmake does not allow low")
expect_project("eckart_layer(low ABOUT low USES high)\neckart_layer(side ABOUT side)\neckart_layer(high ABOUT high)\n" ""
               "low uses high, which is not listed above it")
expect_project("eckart_layer(low ABOUT low)\neckart_layer(high ABOUT high)\n" "" "src/layers.cmake has no line for side")

# A wrong include ends the build, not only the check.
try_project("${layers}" "" result text)
file(WRITE ${WORK}/project/src/side/b.hpp "inline int b() { return 1; }\n")
file(WRITE ${WORK}/project/src/high/a.cpp "#include \"side/b.hpp\"\nint high() { return b(); }\n")
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/project/build
                RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(result EQUAL 0 OR NOT text MATCHES "high may not use side")
  message(SEND_ERROR "the build did not end at a planted include:\n${text}")
endif()

# The table in the documents is the one of src/layers.cmake.
file(READ ${BUILD}/layers/layers.md expected)
file(READ ${ROOT}/${DOCUMENT} document)
string(FIND "${document}" "${expected}" at)
if(at EQUAL -1)
  message(SEND_ERROR "${DOCUMENT} does not have the table of src/layers.cmake: copy ${BUILD}/layers/layers.md there")
endif()
