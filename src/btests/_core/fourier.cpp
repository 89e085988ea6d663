// Sums of random Fourier features of one instruction set. Compiled as loops.cpp is.
#include <new>

#include "fourier_sums.hpp"

namespace btests {
namespace BTESTS_ISA {

int fourier_sums(const FourierTask& t) try {
    if (t.rows_are_float32) FourierSums<float>(t).run();
    else FourierSums<double>(t).run();
    return 0;
} catch (const std::bad_alloc&) {
    return 2;
}

}  // namespace BTESTS_ISA
}  // namespace btests
