# Checks that the program and the test programs link no library of OpenCV and of dcmtk. These belong to modules, which are loaded
# when they are needed: OpenCV's decoder and its dependencies take a quarter of a second.
#   cmake -DREADELF=... -DPROGRAM=.../bin/eckart -P opencv_libraries_test.cmake
get_filename_component(folder ${PROGRAM} DIRECTORY)
file(GLOB programs ${folder}/*_test)
foreach(program ${PROGRAM} ${programs})
  execute_process(COMMAND ${READELF} -d ${program} OUTPUT_VARIABLE dynamic RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${READELF} -d ${program}: ${failed}")
  endif()
  string(REGEX MATCHALL "lib(opencv_|dcm)[a-z0-9]+" libraries "${dynamic}")
  if(libraries)
    message(SEND_ERROR "${program} links ${libraries}")
  endif()
endforeach()
