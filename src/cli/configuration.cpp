#include "cli/configuration.hpp"

#include <system_error>

namespace eckart::cli {

void add_config_options(CLI::App& command, ConfigArgs& args, bool has_print_option) {
  command.add_option("--config", args.file, "YAML file with settings")->check(CLI::ExistingFile);
  command.add_option("--set", args.assignments,
                     "Set one key, such as output.jpeg_quality=90; may be repeated");
  if (has_print_option)
    command.add_flag("--print-config", args.print, "Print the effective settings and exit");
}

settings::Configuration read_configuration(const ConfigArgs& args,
                                           const std::filesystem::path& system_file) {
  settings::Configuration configuration;
  std::error_code unreadable;  // ignored: the user may not be allowed to read the folder
  if (std::filesystem::exists(system_file, unreadable))
    configuration = settings::load_configuration(system_file);
  if (!args.file.empty()) configuration = settings::load_configuration(args.file, configuration);
  for (const std::string& assignment : args.assignments)
    settings::apply(configuration.settings, assignment);
  return configuration;
}

}  // namespace eckart::cli
