const char *const @stem@_input_labels[@input_count@] = {
@input_texts@
};

/* The places of the labels, in the order of their bytes. */
static const int32_t SORTED[@input_count@] = {
@input_order@
};

int64_t @stem@_place_of(const char *x) {
    size_t low = 0, size = @input_count@;
    if (x == NULL) return -1;
    while (size > 1) {
        size_t half = size / 2;
        if (strcmp(@stem@_input_labels[SORTED[low + half]], x) <= 0) low += half;
        size -= half;
    }
    return strcmp(@stem@_input_labels[SORTED[low]], x) == 0 ? SORTED[low] : -1;
}
