# Compiler settings, and eckart_component(): one static library for each folder of src/.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # components are also linked into the CUDA module
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()

# Saves minutes of a build from scratch, but makes ccache and incremental builds less effective.
option(ECKART_UNITY_BUILD "Precompile the headers of GoogleTest, and compile several sources of a component as one file" OFF)

add_library(eckart_warnings INTERFACE)
target_compile_options(eckart_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>  # false positive for std::string operator+ in GCC 12
  $<$<AND:$<BOOL:${ECKART_UNITY_BUILD}>,$<COMPILE_LANG_AND_ID:CXX,Clang>>:-Wno-shadow>  # two sources may declare the same alias
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>)
if(ECKART_WERROR)
  target_compile_options(eckart_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()
if(ECKART_SANITIZE)
  add_compile_options(-fsanitize=${ECKART_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>  # false positive for std::function in instrumented code, GCC 12
                      $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>  # instrumented loops are not vectorized
                      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=vptr>)  # false positive for objects of libstdc++
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND ECKART_SANITIZE MATCHES "address|thread")
    string(TOUPPER __sanitize_${CMAKE_MATCH_0}__ macro)  # GCC defines it, clang 14 does not
    add_compile_definitions(${macro})
  endif()
  add_link_options(-fsanitize=${ECKART_SANITIZE})
  if(ECKART_SANITIZE MATCHES undefined)
    # Each check refers to its source line. At a fixed address these two million references need no relocation, so a program
    # starts in half of the time.
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  endif()
endif()
# libFuzzer follows which code an input reaches. The instrumentation takes a quarter of the time to compile code that is not
# optimized, so only code that reads or writes untrusted data has it.
set(fuzz_options "")
if(ECKART_FUZZ)
  set(fuzz_options -fsanitize=fuzzer-no-link)
endif()
if(ECKART_SANITIZE)
  set(suppressions lsan)
  if(ECKART_SANITIZE MATCHES thread)
    set(suppressions tsan)
  endif()
  target_sources(eckart_warnings INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${PROJECT_SOURCE_DIR}/src/${suppressions}_suppressions.cpp>)
endif()

# The option is for tests: the compute backends, codecs and files, which take most of the time of a run, are not UNITY components.
# -O1 shows most of the warnings of GCC that need optimization.
option(ECKART_FAST_COMPILATION "Optimize UNITY components and CUDA kernels less" OFF)
set(unity_options "")
if(ECKART_SANITIZE)
  set(unity_options -O0)
elseif(ECKART_FAST_COMPILATION)
  set(unity_options -O1)
endif()

# Parsing these headers takes a tenth of the build time with a sanitizer. Other builds do not precompile them, to show a missing #include.
if(ECKART_SANITIZE AND ECKART_UNITY_BUILD)
  set(headers <algorithm> <array> <atomic> <chrono> <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <string>
              <unordered_map> <variant> <vector>)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "")
  add_library(eckart_headers STATIC ${PROJECT_BINARY_DIR}/headers.cpp)
  target_link_libraries(eckart_headers PRIVATE eckart_warnings)
  target_compile_options(eckart_headers PRIVATE ${fuzz_options})
  target_precompile_headers(eckart_headers PRIVATE ${headers})
  add_library(eckart_unity_headers STATIC ${PROJECT_BINARY_DIR}/headers.cpp)  # for UNITY components
  target_compile_options(eckart_unity_headers PRIVATE ${unity_options})
  target_link_libraries(eckart_unity_headers PRIVATE eckart_warnings nlohmann_json::nlohmann_json spdlog::spdlog)
  target_precompile_headers(eckart_unity_headers PRIVATE ${headers} <nlohmann/json.hpp> <spdlog/spdlog.h>)
endif()

include(layering)
include(layers)

# eckart_component(FOLDER SOURCES a.cpp ... [ALONE b.cpp ...] [UNITY [FUZZED]])
#   Creates target eckart_FOLDER (with _ for /) and links it with what src/layers.cmake allows. Its #includes are checked before it
#   is compiled. UNITY: its sources instantiate the same templates of CLI11, fmt or nlohmann-json. Optimizing these takes more time
#   than it saves in the tests, above all with a sanitizer, so they are compiled together and with less optimization. ALONE: also
#   sources, which unity builds do not compile together with others. FUZZED: a fuzz target is about this component. All other
#   components are instrumented for libFuzzer unless they are UNITY.
function(eckart_component folder)
  cmake_parse_arguments(COMPONENT "UNITY;FUZZED" "" "SOURCES;ALONE" ${ARGN})
  if(COMPONENT_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "eckart_component(${folder}): unknown arguments ${COMPONENT_UNPARSED_ARGUMENTS}")
  endif()
  eckart_target_name(target ${folder})
  eckart_layer_links(public private ${folder})
  add_library(${target} STATIC ${COMPONENT_SOURCES} ${COMPONENT_ALONE})
  if(ECKART_UNITY_BUILD)
    set(batch_size 5)
    if(COMPONENT_UNITY)
      set(batch_size 0)  # all
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch_size})
    # Generated code, and sources that have names at file scope that another has too.
    foreach(source IN LISTS COMPONENT_ALONE)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endforeach()
  endif()
  if(COMPONENT_UNITY)
    target_compile_options(${target} PRIVATE ${unity_options})
  endif()
  set(headers eckart_headers)
  if(COMPONENT_FUZZED OR NOT COMPONENT_UNITY)
    target_compile_options(${target} PRIVATE ${fuzz_options})
  else()
    set(headers eckart_unity_headers)
  endif()
  if(TARGET ${headers} AND NOT COMPONENT_FUZZED)  # precompiled headers need the same options
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${public} PRIVATE eckart_warnings ${private})
  eckart_check_includes(${target} ${folder})
endfunction()
