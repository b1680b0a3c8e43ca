#include "cli/input_options.hpp"

namespace eckart::cli {

void add_input_options(CLI::App& command, InputArgs& args, const char* about) {
  command.add_option("INPUT", args.inputs, about);
  CLI::Option* lines = command
                           .add_option("--files-from", args.files_from,
                                       "File with further inputs, one path per line; - is stdin")
                           ->type_name("FILE")
                           ->group("Input");
  command
      .add_option("--files-from0", args.files_from0,
                  "The same, with a null byte after each path, as find -print0 writes")
      ->type_name("FILE")
      ->group("Input")
      ->excludes(lines);
}

}  // namespace eckart::cli
