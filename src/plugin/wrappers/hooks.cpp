#include "hooks.hpp"

namespace sluice::interpose {

Hooks g_hooks{};

}  // namespace sluice::interpose
