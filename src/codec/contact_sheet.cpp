#include "codec/contact_sheet.hpp"

#include <stdexcept>

#include "build_id/module.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

// Of src/codec/contact_sheet_module.cpp.
using Fit = void (*)(const Image& image, int min_side, int max_side, Image& fitted);
using Draw = void (*)(const std::string& title, const std::vector<std::string>& lines,
                      const std::vector<SheetCell>& cells, Image& sheet);

template <class Function>
Function load(const char* function) try {
  return reinterpret_cast<Function>(load_function("eckart_contact_sheet", function));
} catch (const std::runtime_error& error) {
  throw FatalError(ExitCode::unavailable,
                   std::string("contact sheets are not available: ") + error.what());
}

}  // namespace

Image fit_image(const Image& image, int min_side, int max_side) {
  static const auto fit = load<Fit>("eckart_contact_sheet_fit");
  Image fitted;
  fit(image, min_side, max_side, fitted);
  return fitted;
}

Image draw_contact_sheet(const std::string& title, const std::vector<std::string>& lines,
                         const std::vector<SheetCell>& cells) {
  static const auto draw = load<Draw>("eckart_contact_sheet_draw");
  Image sheet;
  draw(title, lines, cells, sheet);
  return sheet;
}

}  // namespace eckart::codec
