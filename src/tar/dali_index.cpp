#include "tar/dali_index.hpp"

#include <algorithm>
#include <cstddef>

namespace eckart::tar {

std::string_view sample_key(std::string_view name) {
  const std::size_t file_name = name.rfind('/') + 1;
  return name.substr(0, std::min(name.find('.', file_name), name.size()));
}

std::optional<std::string> dali_index(std::span<const Member> members) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  std::string lines;
  std::string_view previous;
  std::size_t samples = 0;
  for (const Member& member : members) {
    const std::string_view key = sample_key(member.name);
    if (!member.problem.empty() || key.empty() || key.ends_with('/')) continue;
    if (member.name.find_first_of(kWhiteSpace) != std::string::npos) return std::nullopt;
    const bool is_new = samples == 0 || key != previous;
    if (samples > 0) lines += is_new ? '\n' : ' ';
    samples += is_new;
    previous = key;
    const std::size_t extension = std::min(key.size() + 1, member.name.size());
    lines += member.name.substr(extension) + ' ' + std::to_string(member.offset) + ' ' +
             std::to_string(member.size) + ' ' + member.name;
  }
  if (samples > 0) lines += '\n';
  return "v1.2 " + std::to_string(samples) + '\n' + lines;
}

}  // namespace eckart::tar
