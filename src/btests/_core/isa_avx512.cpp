#define BTESTS_ISA isa_avx512
#define BTESTS_BYTES 64
#define BTESTS_NAME "avx512"
#include "loops.hpp"
