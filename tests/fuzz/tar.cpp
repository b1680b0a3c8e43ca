// Fuzzes the lists of members of tar archives, and archives that are written of what could be read.
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tar/archive.hpp"
#include "tar/dali_index.hpp"
#include "tar/writer.hpp"
#include "tests/fuzz/target.hpp"

namespace eckart::fuzz {
namespace {

files::FileDescriptor memory_file(std::string_view bytes) {
  files::FileDescriptor file(memfd_create("tar", MFD_CLOEXEC));
  require(file && write(file.get(), bytes.data(), bytes.size()) == ssize_t(bytes.size()),
          "a file in memory holds the bytes");
  return file;
}

bool is_safe(const std::string& name) {
  if (name.empty() || name.front() == '/') return false;
  for (const std::filesystem::path& part : std::filesystem::path(name))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

void check_member(const tar::Archive& archive, const tar::Member& member, std::size_t size) {
  require(archive.find(member.name) == &member, "a member is found by its name");
  if (!member.problem.empty()) {
    require(is_one_line_message(member.problem), "a problem is on one line");
    return note(member.problem);
  }
  require(!member.is_unsafe && is_safe(member.name), "a name stays in its folder");
  require(member.offset >= 0 && member.size >= 0 && std::size_t(member.offset) <= size &&
              std::size_t(member.size) <= size - std::size_t(member.offset),
          "a member is in the archive");
}

std::string content_of(std::string_view bytes, const tar::Member& member) {
  return std::string(bytes.substr(std::size_t(member.offset), std::size_t(member.size)));
}

void check_rewritten(const tar::Archive& archive, std::string_view bytes) {
  std::string rewritten;
  const auto writer = tar::make_writer([&](std::span<const std::byte> part) {
    rewritten.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  std::vector<const tar::Member*> written;
  std::size_t total = 0;
  for (const tar::Member& member : archive.members()) {
    if (!member.problem.empty() || total + std::size_t(member.size) > (1 << 20)) continue;
    total += std::size_t(member.size);
    const std::string content = content_of(bytes, member);
    writer->add(member.name, std::as_bytes(std::span(content)), 0);
    written.push_back(&member);
  }
  if (written.empty()) return;
  writer->finish();
  const tar::Archive again(memory_file(rewritten));
  require(again.damage().empty() && again.members().size() == written.size(),
          "an archive that is written has all members");
  for (std::size_t i = 0; i < written.size(); ++i) {
    require(again.members()[i].name == written[i]->name &&
                content_of(rewritten, again.members()[i]) == content_of(bytes, *written[i]),
            "a member that is written reads back the same");
  }
}

void check(std::string_view bytes) {
  try {
    const tar::Archive archive(memory_file(bytes));
    std::set<std::string> names;
    for (const tar::Member& member : archive.members()) {
      require(names.insert(member.name).second, "a name is there once");
      check_member(archive, member, bytes.size());
    }
    note(archive.damage());
    static_cast<void>(tar::dali_index(archive.members()));
    check_rewritten(archive, bytes);
  } catch (const ItemError& error) {
    note(error.what());
  }
}

}  // namespace
}  // namespace eckart::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  eckart::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
