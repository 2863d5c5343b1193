#include <unistd.h>

int malloc_trim(size_t n) { return write(2, "trimmed\n", 8); }
