// SPDX-License-Identifier: Apache-2.0
// CPUs without such instructions: has_panels says so, and nobody asks further.
#include "ops/cube/panel_product.h"

namespace npu::ops::cube {

template <class T>
void panel_order_right(const GemmArgs<T>&, bool, T*) {}
template <class T>
void panel_product(const GemmArgs<T>&, const T*, int64_t, const PanelResult&) {}

template void panel_order_right(const GemmArgs<float>&, bool, float*);
template void panel_order_right(const GemmArgs<BFloat16>&, bool, BFloat16*);
template void panel_product(const GemmArgs<float>&, const float*, int64_t, const PanelResult&);
template void panel_product(const GemmArgs<BFloat16>&, const BFloat16*, int64_t, const PanelResult&);

}  // namespace npu::ops::cube
