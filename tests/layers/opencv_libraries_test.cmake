# Checks that the program and the test programs link only two libraries of OpenCV. Others (image files, video, GUI, DNN) and
# their dependencies would be loaded without use: they take a quarter of a second.
#   cmake -DREADELF=... -DPROGRAM=.../bin/eckart -P opencv_libraries_test.cmake
set(allowed opencv_core opencv_imgproc)

function(opencv_libraries program result)
  execute_process(COMMAND ${READELF} -d ${program} OUTPUT_VARIABLE dynamic RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${READELF} -d ${program}: ${failed}")
  endif()
  string(REGEX MATCHALL "libopencv_[a-z0-9]+" libraries "${dynamic}")
  list(TRANSFORM libraries REPLACE "^lib" "")
  list(SORT libraries)
  set(${result} "${libraries}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND ${READELF} -d ${PROGRAM} OUTPUT_VARIABLE dynamic)
if(dynamic MATCHES "libdcm[a-z]+")
  message(SEND_ERROR "${PROGRAM} links ${CMAKE_MATCH_0}, which belongs to the module eckart_dcmtk")
endif()

opencv_libraries(${PROGRAM} libraries)
if(NOT libraries STREQUAL allowed)
  message(SEND_ERROR "${PROGRAM} links ${libraries}, not ${allowed}")
endif()

get_filename_component(folder ${PROGRAM} DIRECTORY)
file(GLOB programs ${folder}/*_test)
foreach(program ${programs})
  opencv_libraries(${program} libraries)
  list(REMOVE_ITEM libraries ${allowed})
  if(libraries)
    message(SEND_ERROR "${program} links ${libraries}")
  endif()
endforeach()
