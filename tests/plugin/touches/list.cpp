// SPDX-License-Identifier: BSD-3-Clause
// The services of the plugin, and the one of the tests. Takes the place of services/list.cpp.
#include "plugin/services/inplace/inplace.hpp"
#include "plugin/services/watching/watching.hpp"
#include "plugin/touches/recording.hpp"

namespace sluice::plugin {

Services make_services() {
    Services services;
    services.push_back(make_inplace());
    services.push_back(tests::make_recording());
    services.push_back(make_watching());
    return services;
}

}  // namespace sluice::plugin
