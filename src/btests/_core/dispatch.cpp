// The C interface of the library. Callers say which instruction set to use, one that this machine has.
#include "fourier_task.hpp"
#include "task.hpp"

namespace btests {
namespace isa_generic { extern const Loops loops; }
#ifdef BTESTS_AVX2
namespace isa_avx2 { extern const Loops loops; }
#endif
#ifdef BTESTS_AVX512
namespace isa_avx512 { extern const Loops loops; }
#endif

// The loops of an instruction set, null if this machine or this build does not have it.
static const Loops* loops(int i) {
    if (i == GENERIC) return &isa_generic::loops;
#ifdef BTESTS_AVX2
    if (i == AVX2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &isa_avx2::loops;
#endif
#ifdef BTESTS_AVX512
    if (i == AVX512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return &isa_avx512::loops;
#endif
    return nullptr;
}

}  // namespace btests

#define BTESTS_API extern "C" __attribute__((visibility("default")))
using btests::loops;

BTESTS_API int btests_has(std::int32_t instructions) { return loops(instructions) != nullptr; }
BTESTS_API int btests_size_of_task() { return sizeof(btests::Task); }  // for the caller to compare with its own
BTESTS_API int btests_summarize(const btests::Task* t, std::int32_t in_float32) {
    return in_float32 ? loops(t->instructions)->summarize_f32(*t) : loops(t->instructions)->summarize_f64(*t);
}
BTESTS_API int btests_hsic(const btests::Task* x, const btests::Task* y) { return loops(x->instructions)->hsic(*x, *y); }
BTESTS_API std::int64_t btests_hsic_sums(const btests::Task* x, const btests::Task* y) {
    return loops(x->instructions)->hsic_sums(*x, *y);
}
BTESTS_API void btests_flip(const double* moments, const std::uint64_t* words, double* out, std::int64_t n_strata,
                            std::int64_t n_groups, std::int64_t n_words, std::int64_t first, std::int64_t last,
                            std::int32_t instructions) {
    loops(instructions)->flip(moments, words, out, n_strata, n_groups, n_words, first, last);
}
BTESTS_API void btests_label_pairs(const double* matrix, const std::int64_t* labels, double* out, std::int64_t n,
                                   std::int64_t k, std::int64_t first, std::int64_t last, std::int32_t instructions) {
    loops(instructions)->label_pairs(matrix, labels, out, n, k, first, last);
}
BTESTS_API int btests_fourier_sums(const btests::FourierTask* t) { return loops(t->instructions)->fourier_sums(*t); }
