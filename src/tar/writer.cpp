#include "tar/writer.hpp"

#include "build_id/module.hpp"

namespace eckart::tar {

std::unique_ptr<Writer> make_writer(const OnBytes& on_bytes) {
  using MakeWriter = Writer* (*)(const OnBytes&);
  static const auto make =
      reinterpret_cast<MakeWriter>(load_function("eckart_tar", "eckart_make_tar_writer"));
  return std::unique_ptr<Writer>(make(on_bytes));
}

}  // namespace eckart::tar
