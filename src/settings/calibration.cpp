#include "settings/calibration.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "core/positive_number.hpp"
#include "settings/yaml_text.hpp"

namespace eckart::settings {
namespace {

constexpr const char* kSystemCalibrationFile = "/etc/eckart/calibration.yaml";

/// Reads a map that must contain every known key exactly once and no other key.
class MapReader {
 public:
  /// `path` is the key of `map`, for messages; empty for an entry of the list.
  MapReader(const TextSource& origin, const YAML::Node& map, std::string path,
            const std::set<std::string>& names)
      : origin_(origin), map_(map), path_(std::move(path)) {
    if (!map.IsMap()) {
      origin_.fail(map.Mark(), prefix() + found(map) + " is not a map of keys");
    }
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : found(entry.first);
      if (!names.contains(name)) origin_.fail(entry.first.Mark(), key(name) + ": unknown key");
      if (!seen.insert(name).second)
        origin_.fail(entry.first.Mark(), key(name) + ": is given more than once");
    }
    for (const std::string& name : names) {
      if (!seen.contains(name)) origin_.fail(map.Mark(), key(name) + ": is missing");
    }
  }

  template <class Type, class Value>
  void read(const std::string& name, const Type& type, Value& value) const {
    const YAML::Node node = map_[name];
    try {
      if (!node.IsScalar()) throw std::invalid_argument(found(node) + " is not " + type.expected());
      type.read(node.Scalar(), value);
    } catch (const std::invalid_argument& error) {
      origin_.fail(node.IsNull() ? map_.Mark() : node.Mark(), key(name) + ": " + error.what());
    }
  }

  YAML::Node operator[](const std::string& name) const { return map_[name]; }

 private:
  std::string prefix() const { return path_.empty() ? "" : path_ + ": "; }
  std::string key(const std::string& name) const {
    return path_.empty() ? one_line(name) : path_ + "." + one_line(name);
  }

  const TextSource& origin_;
  const YAML::Node map_;
  const std::string path_;
};

CostCoefficients read_costs(const TextSource& origin, const YAML::Node& map,
                            const std::string& path) {
  std::set<std::string> names;
  for (const CostTerm& term : kCostTerms) names.insert(term.name);
  const MapReader fields(origin, map, path, names);
  CostCoefficients costs;
  for (const auto& [name, seconds_per_unit] : kCostTerms)
    fields.read(name, Number{0, 1000}, costs.*seconds_per_unit);
  return costs;
}

MeasuredCosts read_entry(const TextSource& origin, const YAML::Node& map) {
  const MapReader fields(origin, map, {}, {"backend", "device", "date", "subspace", "gram"});
  MeasuredCosts measured;
  fields.read("backend", Choice<CostBackend>{}, measured.backend);
  fields.read("device", Text{}, measured.device);
  fields.read("date", Text{}, measured.date);
  measured.costs.subspace = read_costs(origin, fields["subspace"], "subspace");
  measured.costs.gram = read_costs(origin, fields["gram"], "gram");
  return measured;
}

std::string costs_line(const char* solver, const CostCoefficients& costs) {
  std::string list;
  for (const auto& [name, seconds_per_unit] : kCostTerms) {
    list.append(list.empty() ? "" : ", ")
        .append(name)
        .append(": ")
        .append(shortest_text(costs.*seconds_per_unit));
  }
  return std::string("  ") + solver + ": {" + list + "}\n";
}

}  // namespace

std::filesystem::path user_calibration_file() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  // The XDG Base Directory Specification requires that relative paths are ignored.
  if (config != nullptr && config[0] == '/') {
    return std::filesystem::path(config) / "eckart" / "calibration.yaml";
  }
  if (home == nullptr || home[0] != '/') return {};
  return std::filesystem::path(home) / ".config" / "eckart" / "calibration.yaml";
}

Calibration read_calibration(const std::filesystem::path& file) {
  const TextSource origin{file.string(), true};
  std::error_code none;
  if (std::filesystem::is_fifo(file, none))  // a service would wait for it at a reload
    throw SettingsError(file.string() + ": cannot be read: it is a pipe");
  const YAML::Node list = parse(origin, read_text(file));
  if (!list.IsSequence() && !list.IsNull()) {
    origin.fail(list.Mark(), found(list) + " is not a list of measured costs");
  }
  Calibration calibration;
  for (const YAML::Node& entry : list) calibration.push_back(read_entry(origin, entry));
  return calibration;
}

std::string to_yaml(const Calibration& calibration) {
  std::string yaml = "# Measured solver costs in seconds. Written by eckart doctor --calibrate.\n";
  for (const MeasuredCosts& measured : calibration) {
    yaml += "- backend: " + to_string(measured.backend) +
            "\n  device: " + Text{}.print(measured.device) +
            "\n  date: " + Text{}.print(measured.date) + "\n";
    yaml += costs_line("subspace", measured.costs.subspace);
    yaml += costs_line("gram", measured.costs.gram);
  }
  return yaml;
}

LoadedCalibration load_calibration(const FileChoice& choice) {
  if (choice.is_none()) return {};
  if (!choice.is_auto()) return {read_calibration(choice.file), {}};
  LoadedCalibration loaded;
  for (const std::filesystem::path& file :
       {user_calibration_file(), std::filesystem::path(kSystemCalibrationFile)}) {
    // If the folder is not accessible to this user, there is no warning.
    std::error_code unreadable;
    if (file.empty() || !std::filesystem::exists(file, unreadable)) continue;
    try {
      for (MeasuredCosts& measured : read_calibration(file)) {
        loaded.costs.push_back(std::move(measured));
      }
    } catch (const SettingsError& error) {
      loaded.warnings.push_back(error.what() + std::string("; this calibration file is ignored"));
    }
  }
  return loaded;
}

}  // namespace eckart::settings
