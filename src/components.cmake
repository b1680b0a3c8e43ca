# Compiler settings, and eckart_component(): one static library for each folder of src/.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # components are linked into the CUDA module as well
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(eckart_warnings INTERFACE)
target_compile_options(eckart_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>  # false on std::string's operator+ in GCC 12
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>)
if(ECKART_WERROR)
  target_compile_options(eckart_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()
if(ECKART_SANITIZE)
  add_compile_options(-fsanitize=${ECKART_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # false on std::function in instrumented code, GCC 12
  add_link_options(-fsanitize=${ECKART_SANITIZE})
endif()
if(ECKART_SANITIZE MATCHES thread)
  target_sources(eckart_warnings INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${PROJECT_SOURCE_DIR}/src/tsan_suppressions.cpp>)
endif()

# Minutes, of a build from scratch; ccache, and whoever changes a line, want none of it.
option(ECKART_UNITY_BUILD "Compile what is costly once for many files: headers of GoogleTest, components that are UNITY" OFF)

include(layering)
include(layers)

# eckart_component(FOLDER SOURCES a.cpp ... [UNITY])
#   Makes target eckart_FOLDER (with _ for /), linked with what src/layers.cmake allows it. Its #includes are checked before it is
#   compiled. UNITY: its sources all instantiate the same of CLI11, fmt or nlohmann-json, which costs more to optimize, above all
#   for a sanitizer, than it brings the tests.
function(eckart_component folder)
  cmake_parse_arguments(COMPONENT "UNITY" "" "SOURCES" ${ARGN})
  eckart_target_name(target ${folder})
  eckart_layer_links(public private ${folder})
  add_library(${target} STATIC ${COMPONENT_SOURCES})
  if(COMPONENT_UNITY AND ECKART_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    target_compile_options(${target} PRIVATE -O1)
  endif()
  if(COMPONENT_UNITY AND ECKART_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${public} PRIVATE eckart_warnings ${private})
  eckart_check_includes(${target} ${folder})
endfunction()
