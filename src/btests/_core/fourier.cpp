// Sums of random Fourier features of one instruction set. Compiled as loops.cpp is.
#include <new>

#include "fourier_sums.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class T> static void run(const FourierTask& t) {
    if (t.rows_are_float32) FourierSums<T, float>(t).run();
    else FourierSums<T, double>(t).run();
}

int fourier_sums(const FourierTask& t) try {
    if (t.in_float32) run<float>(t);
    else run<double>(t);
    return 0;
} catch (const std::bad_alloc&) {
    return 2;
}

}  // namespace BTESTS_ISA
}  // namespace btests
