// The limits of one core: sums of exponentials in first-level cache, and multiply-adds in registers, with the vectors and
// the exponential of the compiled core. One library per instruction set.
#include "sample.hpp"
#include "shapes.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class T> double exponentials(std::int64_t n) {
    constexpr int lanes = Types<T>::lanes, size = 8192 / sizeof(T), chains = 4;
    Scratch<T> q(size);
    for (int i = 0; i < size; ++i) q[i] = T(i % 97) * T(0.37);
    Vec<T> sum[chains] = {};
    for (std::int64_t done = 0; done < n; done += size) {
        for (int i = 0; i < size; i += chains * lanes)
            for (int j = 0; j < chains; ++j) sum[j] += GaussianShape::value<T>(load(q.get() + i + j * lanes));
        __asm__ volatile("" ::: "memory");
    }
    double total = 0;
    for (auto& s : sum) for (int i = 0; i < lanes; ++i) total += double(s[i]);
    return total;
}

template <class T> double products(std::int64_t n) {
    constexpr int lanes = Types<T>::lanes, chains = 12;
    Vec<T> a[chains];
    for (int j = 0; j < chains; ++j) a[j] = broadcast(T(j));
    Vec<T> b = broadcast(T(0.999)), c = broadcast(T(1e-3));
    for (std::int64_t done = 0; done < n; done += chains * lanes) {
#pragma GCC unroll 12
        for (int j = 0; j < chains; ++j) a[j] = a[j] * b + c;
    }
    double total = 0;
    for (auto& v : a) for (int i = 0; i < lanes; ++i) total += double(v[i]);
    return total;
}

}  // namespace BTESTS_ISA
}  // namespace btests

#define BTESTS_API extern "C" __attribute__((visibility("default")))
using namespace btests::BTESTS_ISA;

BTESTS_API double sum_exponentials(std::int64_t n, std::int32_t in_float32) {
    return in_float32 ? exponentials<float>(n) : exponentials<double>(n);
}
BTESTS_API double sum_products(std::int64_t n, std::int32_t in_float32) {
    return in_float32 ? products<float>(n) : products<double>(n);
}
