// HSIC of one instruction set: one case for each size of tuples. Compiled as loops.cpp is.
#include <new>

#include "hsic.hpp"

namespace btests {
namespace BTESTS_ISA {

int hsic(const Task& x, const Task& y) try {
    switch (x.tuple_size) {
        case 2: return hsic_of<2>(x, y);
        case 4: return hsic_of<4>(x, y);
        case MAX_TUPLE: return hsic_of<MAX_TUPLE>(x, y);
    }
    return 1;
} catch (const std::bad_alloc&) {
    return 2;
}

std::int64_t hsic_sums(const Task& x, const Task& y) { return HsicSums(x, y).part_size(); }

}  // namespace BTESTS_ISA
}  // namespace btests
