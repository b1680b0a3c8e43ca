#include "core/resource.hpp"

namespace eckart {

std::string_view to_string(Resource resource) {
  switch (resource) {
    case Resource::cores:
      return "cores";
    case Resource::gpu:
      return "GPU";
    case Resource::disk:
      return "disk";
    default:
      return to_string(*stage_of(resource));
  }
}

}  // namespace eckart
