#include "tar/writer.hpp"

#include <utility>

#include "build_id/module.hpp"

namespace eckart::tar {

std::unique_ptr<Writer> make_writer(OnBytes on_bytes) {
  using MakeWriter = Writer* (*)(const OnBytes&);
  static const auto make =
      reinterpret_cast<MakeWriter>(load_function("eckart_tar", "eckart_make_tar_writer"));
  return std::unique_ptr<Writer>(make(std::move(on_bytes)));
}

}  // namespace eckart::tar
