#include "io/state_folder.hpp"

#include "files/state_folder.hpp"

namespace eckart::io {

RootPath state_folder(const std::filesystem::path& output) {
  return RootPath(output).child(files::kStateFolder);
}

}  // namespace eckart::io
