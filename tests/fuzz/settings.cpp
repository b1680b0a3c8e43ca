// Fuzzes files for --config, which are also parsed as calibration.yaml. An input that starts with
// "--set " is a list of --set KEY=VALUE arguments, separated by null bytes.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "settings/calibration.hpp"
#include "settings/watches.hpp"
#include "tests/fuzz/target.hpp"

namespace eckart::fuzz {
namespace {

using settings::Configuration;
using settings::Settings;
using settings::SettingsError;

/// A file in memory, because settings are read from files.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : descriptor_(memfd_create("yaml", 0)) {
    require(
        descriptor_ >= 0 && write(descriptor_, text.data(), text.size()) == ssize_t(text.size()),
        "a file in memory holds the text");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Returns the result of `read`, or nothing if it throws SettingsError. Other exceptions end the
/// process.
template <class Read>
auto catch_settings_error(Read&& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const SettingsError& error) {
    require(is_one_line_message(error.what()), "an error says what is wrong, on one line");
    note(error.what());
    return std::nullopt;
  }
}

Configuration load(std::string_view text) {
  return settings::load_configuration(MemoryFile(text).path());
}

Calibration load_calibration(std::string_view text) {
  return settings::read_calibration(MemoryFile(text).path());
}

void check_printed(const Settings& settings) {
  const std::string yaml = to_yaml(settings);
  require(to_yaml(load(yaml).settings) == yaml, "settings that are printed read back the same");
}

/// Checks that a configuration and its printed copy have the same valid watches, or both have none.
void check_watches(const Configuration& configuration, const Configuration& again) {
  const auto before = catch_settings_error([&] { return resolve_watches(configuration); });
  const auto after = catch_settings_error([&] { return resolve_watches(again); });
  require(before.has_value() == after.has_value(), "printed watches are as valid as the originals");
  for (std::size_t i = 0; before && i < before->size(); ++i) {
    const settings::WatchSettings &was = (*before)[i], &is = (*after)[i];
    require(is.input == was.input && is.output == was.output && is.move_to == was.move_to &&
                is.exclude == was.exclude && to_yaml(is.settings) == to_yaml(was.settings),
            "watches that are printed read back the same");
    require(was.input.is_absolute() && was.output.is_absolute() && !was.settings.ledger.is_none(),
            "a watch has folders and a ledger");
  }
}

void check_configuration(const Configuration& configuration) {
  check_printed(configuration.settings);
  const std::string yaml = to_yaml(configuration);
  const Configuration again = load(yaml);
  require(to_yaml(again) == yaml, "a configuration that is printed reads back the same");
  check_watches(configuration, again);
}

void check_file(std::string_view text) {
  if (const auto configuration = catch_settings_error([&] { return load(text); })) {
    check_configuration(*configuration);
  }
  if (const auto calibration = catch_settings_error([&] { return load_calibration(text); })) {
    const std::string yaml = settings::to_yaml(*calibration);
    require(settings::to_yaml(load_calibration(yaml)) == yaml,
            "a calibration that is printed reads back the same");
  }
}

constexpr std::string_view kSet = "--set ";

void check_assignments(std::string_view arguments) {
  Settings settings;
  while (arguments.starts_with(kSet)) {
    const std::size_t end = std::min(arguments.find('\0'), arguments.size());
    const std::string_view assignment = arguments.substr(kSet.size(), end - kSet.size());
    const std::string before = to_yaml(settings);
    if (catch_settings_error([&] { return apply(settings, assignment), true; })) {
      check_printed(settings);
    } else {
      require(to_yaml(settings) == before, "a rejected assignment changes nothing");
    }
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
  }
}

}  // namespace
}  // namespace eckart::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eckart::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  text.starts_with(kSet) ? check_assignments(text) : check_file(text);
  return 0;
}
