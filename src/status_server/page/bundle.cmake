# Bundles index.html and the files that it names to one HTML file, and writes a C++ source with its content.
#   cmake -DPAGE=index.html -DPACKAGES=node_modules -DHTML=out.html [-DSOURCE=out.cpp] -P bundle.cmake
# Without PACKAGES, files from node_modules are left out, and the page has no charts.
cmake_minimum_required(VERSION 3.24)
cmake_path(GET PAGE PARENT_PATH folder)
file(READ ${PAGE} html)

# base64(OUT HEX): base64 of a SHA-256, as in a Content-Security-Policy
function(base64 out hex)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "")
  string(APPEND hex 00)  # pads 32 bytes to 33, a multiple of 3
  while(NOT hex STREQUAL "")
    string(SUBSTRING ${hex} 0 6 group)
    string(SUBSTRING ${hex} 6 -1 hex)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${index} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endwhile()
  string(REGEX REPLACE ".$" "=" text ${text})
  set(${out} ${text} PARENT_SCOPE)
endfunction()

# inline(PATTERN TAG): replaces each file reference in `html` that matches PATTERN by a TAG with the content of the file, and
# appends its hash to TAG_hashes
function(inline pattern tag)
  set(hashes "")
  while(html MATCHES "${pattern}")
    set(line "${CMAKE_MATCH_0}")
    set(name "${CMAKE_MATCH_1}")
    set(element "")
    if(name MATCHES "^node_modules/([^/]+)/" AND NOT PACKAGES)
      string(REPLACE "${line}\n" "" html "${html}")
      continue()
    elseif(name MATCHES "^node_modules/([^/]+)/")
      file(READ ${PACKAGES}/../${name} content)
      file(READ ${PACKAGES}/${CMAKE_MATCH_1}/LICENSE license)
      if(NOT html MATCHES "<!-- ${CMAKE_MATCH_1}:")
        set(element "<!-- ${CMAKE_MATCH_1}:\n${license}-->\n")
      endif()
    else()
      file(READ ${folder}/${name} content)
    endif()
    if(content MATCHES "</${tag}|<!--")
      message(FATAL_ERROR "${name}: must not contain </${tag}> or <!--")
    endif()
    string(SHA256 hash "${content}")
    base64(hash ${hash})
    string(APPEND hashes " 'sha256-${hash}'")
    string(REPLACE "${line}" "${element}<${tag}>${content}</${tag}>" html "${html}")
  endwhile()
  set(${tag}_hashes "${hashes}" PARENT_SCOPE)
  set(html "${html}" PARENT_SCOPE)
endfunction()

inline("<link rel=\"stylesheet\" href=\"([^\"]+)\">" style)
inline("<script src=\"([^\"]+)\"></script>" script)
# Allow no external content and only these scripts, so that a script injected through a file name does not run.
set(policy "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'")
string(APPEND policy "; style-src${style_hashes}; script-src${script_hashes}")
string(REPLACE "<!-- policy -->" "<meta http-equiv=\"Content-Security-Policy\" content=\"${policy}\">" html "${html}")
file(WRITE ${HTML} "${html}")

if(SOURCE)
  if(html MATCHES "\\)page\"")
    message(FATAL_ERROR "${PAGE}: must not contain )page followed by a quote")
  endif()
  file(WRITE ${SOURCE} "// Made by bundle.cmake.
#include \"status_server/page/status_page.hpp\"

namespace eckart::status_server {

std::string_view status_page() {
  static constexpr std::string_view kPage = R\"page(${html})page\";
  return kPage;
}

}  // namespace eckart::status_server
")
endif()
