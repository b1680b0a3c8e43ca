#include "machine/control_group.hpp"

#include <fstream>
#include <string>

namespace eckart::machine {

std::filesystem::path control_group() {
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(4);  // version 2
  }
  return {};
}

std::vector<std::filesystem::path> control_group_folders(const std::filesystem::path& root,
                                                         const std::filesystem::path& group) {
  std::vector<std::filesystem::path> folders{root};
  for (const auto& name : group) folders.push_back(folders.back() / name);
  return folders;
}

}  // namespace eckart::machine
