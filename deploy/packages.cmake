# cpack -G DEB; see tools/make-packages.
set(ECKART_PACKAGE_RELEASE 1 CACHE STRING "Debian revision of the packages")
set(ECKART_PACKAGE_MAINTAINER "Eckart maintainers <maintainers@eckart.invalid>" CACHE STRING
    "Maintainer of the packages: Name <address>")
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  return()
endif()

set(debian ${CMAKE_CURRENT_SOURCE_DIR}/debian)
set(version ${PROJECT_VERSION}-${ECKART_PACKAGE_RELEASE})
install(FILES eckart.yaml DESTINATION /etc/eckart COMPONENT eckart)

set(packages eckart)
if(TARGET eckart_cuda)
  list(APPEND packages eckart-cuda)
endif()
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(package ${packages})
  set(changelog ${compressed}/${package}.changelog)
  file(CONFIGURE OUTPUT ${changelog} CONTENT
       "@package@ (@version@) unstable; urgency=medium\n\n  * Version @PROJECT_VERSION@.\n\n -- @ECKART_PACKAGE_MAINTAINER@  @now@\n")
  eckart_gzip(${changelog} ${changelog}.gz)
  install(FILES ${changelog}.gz DESTINATION share/doc/${package} RENAME changelog.Debian.gz COMPONENT ${package})
  install(FILES ${debian}/copyright DESTINATION share/doc/${package} COMPONENT ${package})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME eckart)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR Eckart)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "truncated-SVD reconstruction of images on CPUs and GPUs")
set(CPACK_SET_DESTDIR ON)  # installs to /usr and /etc
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ${packages})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${ECKART_PACKAGE_RELEASE})
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${ECKART_PACKAGE_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_ECKART_PACKAGE_NAME eckart)
set(CPACK_COMPONENT_ECKART_DESCRIPTION
"Eckart reads images (PNG, JPEG, TIFF, WebP, PNM, BMP, DICOM) and computes the
truncated singular value decomposition of each channel. It writes the nearest
matrix of rank k. It processes folders, and watches folders as a service. It
computes on the CPU, and on NVIDIA GPUs with the package eckart-cuda.")
set(CPACK_DEBIAN_ECKART_PACKAGE_RECOMMENDS systemd)
set(CPACK_DEBIAN_ECKART_PACKAGE_SUGGESTS eckart-cuda)
set(CPACK_DEBIAN_ECKART_PACKAGE_CONTROL_EXTRA
    ${debian}/eckart/conffiles ${debian}/eckart/postinst ${debian}/eckart/prerm ${debian}/eckart/postrm)

if(TARGET eckart_cuda)
  # These packages come from NVIDIA, not from Debian. They are recommended and not required, because the CUDA toolkit may be
  # installed in another way.
  set(cuda ${CUDAToolkit_VERSION_MAJOR}-${CUDAToolkit_VERSION_MINOR})
  set(CPACK_DEBIAN_ECKART-CUDA_PACKAGE_NAME eckart-cuda)
  set(CPACK_COMPONENT_ECKART-CUDA_DESCRIPTION
"The CUDA backend of eckart. It requires NVIDIA's driver, cuBLAS and cuSOLVER
of CUDA ${CUDAToolkit_VERSION_MAJOR}. If they are missing, eckart says so and computes on the CPU.")
  set(CPACK_DEBIAN_ECKART-CUDA_PACKAGE_DEPENDS "eckart (= ${version})")
  set(CPACK_DEBIAN_ECKART-CUDA_PACKAGE_RECOMMENDS "libcublas-${cuda}, libcusolver-${cuda}")
  set(CPACK_DEBIAN_ECKART-CUDA_PACKAGE_SUGGESTS libcuda1)
  set(CPACK_DEBIAN_ECKART-CUDA_PACKAGE_CONTROL_EXTRA ${debian}/eckart-cuda/postinst ${debian}/eckart-cuda/postrm)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CUDAToolkit_LIBRARY_DIR})
endif()
include(CPack)
