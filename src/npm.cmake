# Installs npm packages at build time; none is part of the repository.
find_program(NPM npm)
find_program(NODE node)
if(NOT NPM OR NOT NODE)
  message(FATAL_ERROR "npm or node was not found; the charts of the status page need both. Run tools/install-packages, "
                      "or pass -DECKART_STATUS_PAGE_CHARTS=OFF.")
endif()

# eckart_npm_ci(NAME FOLDER): installs the packages of FOLDER/package-lock.json to NAME_FOLDER/node_modules in the build folder
#   when that file changes. Targets that need them depend on NAME_STAMP. Scripts of packages are not run.
function(eckart_npm_ci name folder)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/npm-${name})
  set(files ${folder}/package.json ${folder}/package-lock.json ${folder}/.npmrc)
  add_custom_command(OUTPUT ${out}/stamp DEPENDS ${files}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${out}
    COMMAND ${CMAKE_COMMAND} -E copy ${files} ${out}
    COMMAND ${NPM} ci --prefix ${out} --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${out}/stamp
    COMMENT "npm ci: ${name} (not needed with -DECKART_STATUS_PAGE_CHARTS=OFF)" VERBATIM)
  set(${name}_FOLDER ${out} PARENT_SCOPE)
  set(${name}_STAMP ${out}/stamp PARENT_SCOPE)
endfunction()
