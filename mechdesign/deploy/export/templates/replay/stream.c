static char line[1 << 20];

typedef struct {
    const char *text;
    size_t position, length;
} stream;

static int digit(char letter) {
    return letter <= '9' ? letter - '0' : letter - 'a' + 10;
}

static int from_stream(void *state, unsigned char *bytes, size_t count) {
    stream *from = (stream *)state;
    size_t i;
    if (from->position + count > from->length) return -1;
    for (i = 0; i < count; i++) {
        const char *pair = from->text + 2 * (from->position + i);
        bytes[i] = (unsigned char)(16 * digit(pair[0]) + digit(pair[1]));
    }
    from->position += count;
    return 0;
}
