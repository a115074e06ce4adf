/* Canonical JSON: no blanks, no fractions, ASCII. A value is where its text begins, once the whole was found
 * to be well-formed; NULL is none. */
#include "internal.h"

#include <errno.h>

enum { DEPTH = 16, LIMBS = 128 };

static const char *after_string(const char *at) {
    for (at++; *at != '"'; at++) {
        if (*at < ' ' || *at > '~' || (*at == '\\' && *++at < ' ')) return NULL;
    }
    return at + 1;
}

/* Where the value that begins here ends; NULL if it is none. Numbers and words are read where they are asked
 * for. */
static const char *after_value(const char *at, int depth) {
    char open = *at, close = open == '[' ? ']' : '}';
    if (open == '"') return after_string(at);
    if (open != '[' && open != '{') {
        const char *start = at;
        while (*at == '-' || (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z')) at++;
        return at > start ? at : NULL;
    }
    if (depth == 0) return NULL;
    if (at[1] == close) return at + 2;
    do {
        at++;
        if (open == '{') {
            at = *at == '"' ? after_string(at) : NULL;
            if (at == NULL || *at++ != ':') return NULL;
        }
        at = after_value(at, depth - 1);
    } while (at != NULL && *at == ',');
    return at != NULL && *at == close ? at + 1 : NULL;
}

/* Copies a text to where one more byte is free. It must be one value, after which there may be a newline. */
MDP_SHARED int mdp_json_read(char *copy, const char *text, size_t length) {
    const char *end;
    memcpy(copy, text, length);
    copy[length] = '\0';
    end = after_value(copy, DEPTH);
    if (end != NULL && *end == '\n') end++;
    return end == copy + length;
}

/* The first element of an array, and the one after another. */
MDP_SHARED const char *mdp_json_first(const char *array) {
    return array != NULL && *array == '[' && array[1] != ']' ? array + 1 : NULL;
}

MDP_SHARED const char *mdp_json_next(const char *element) {
    const char *end = after_value(element, DEPTH);
    return *end == ',' ? end + 1 : NULL;
}

/* The member of an object by its key, which has no letters to escape. */
MDP_SHARED const char *mdp_json_member(const char *object, const char *key) {
    size_t length = strlen(key);
    if (object == NULL || *object != '{' || object[1] == '}') return NULL;
    do {
        const char *name = object + 2, *value = after_string(object + 1) + 1;
        if ((size_t)(value - name) == length + 2 && memcmp(name, key, length) == 0) return value;
        object = after_value(value, DEPTH);
    } while (*object == ',');
    return NULL;
}

/* Whether the value is this text of JSON. */
MDP_SHARED int mdp_json_is(const char *value, const char *text) {
    size_t length = strlen(text);
    return value != NULL && strncmp(value, text, length) == 0 && after_value(value, DEPTH) == value + length;
}

MDP_SHARED int mdp_json_integer(const char *value, int64_t least, int64_t most, int64_t *number) {
    char *end;
    if (value == NULL) return 0;
    errno = 0;
    *number = strtoll(value, &end, 10);
    return errno == 0 && end > value && end == after_value(value, DEPTH) && least <= *number &&
           *number <= most;
}

/* The double that a text "DIGITS.DIGITS" is, exactly: with f digits after the point it is a whole number of
 * 2^-f, as 5^f divides all digits together. What is no double is refused, so nothing is rounded. */
MDP_SHARED int mdp_json_decimal(const char *value, double *number) {
    uint32_t limbs[LIMBS];
    size_t used = 0, i;
    int fraction = -1, negative, divided;
    const char *first, *at;
    double found = 0;
    if (value == NULL || *value != '"') return 0;
    negative = value[1] == '-';
    first = value + 1 + negative;
    if (*first == '.' || *first == '"') return 0;
    for (at = first; *at != '"'; at++) {
        uint64_t carry = (uint64_t)(*at - '0');
        if (*at == '.' && fraction < 0 && at[1] != '"') {
            fraction = 0;
            continue;
        }
        if (*at < '0' || *at > '9' || (fraction >= 0 && ++fraction > 1074)) return 0;
        for (i = 0; i < used; i++, carry >>= 32) limbs[i] = (uint32_t)(carry += UINT64_C(10) * limbs[i]);
        if (carry > 0 && used == LIMBS) return 0;
        if (carry > 0) limbs[used++] = (uint32_t)carry;
    }
    for (divided = 0; divided < fraction; divided++) {
        uint64_t rest = 0;
        for (i = used; i-- > 0; rest %= 5) {
            rest = rest << 32 | limbs[i];
            limbs[i] = (uint32_t)(rest / 5);
        }
        if (rest > 0) return 0;
    }
    while (used-- > 0) {
        double higher = found * 4294967296.0;
        found = higher + limbs[used];
        if (found - higher != limbs[used]) return 0; /* it was rounded */
    }
    *number = ldexp(negative ? -found : found, fraction < 0 ? 0 : -fraction);
    return 1;
}

/* The number that so many hexadecimal digits are, or -1. */
static long hexadecimal(const char *at, int count) {
    static const char digits[] = "0123456789abcdef";
    long number = 0;
    for (; count > 0; count--, at++) {
        const char *found = *at == '\0' ? NULL : strchr(digits, *at);
        if (found == NULL) return -1;
        number = number << 4 | (found - digits);
    }
    return number;
}

/* 64 hexadecimal digits. */
MDP_SHARED int mdp_json_hash(const char *value, unsigned char *hash) {
    int i;
    if (value == NULL || *value++ != '"') return 0;
    for (i = 0; i < 32; i++, value += 2) {
        long byte = hexadecimal(value, 2);
        if (byte < 0) return 0;
        hash[i] = (unsigned char)byte;
    }
    return *value == '"';
}

/* The letter that is escaped here, after a backslash, and where the next one is; 0 if it is none, or half a
 * pair. */
static long escaped(const char **at) {
    static const char letters[] = "\"\\bfnrt", meant[] = "\"\\\b\f\n\r\t";
    const char *found = strchr(letters, *(*at)++);
    long point, low;
    if (found != NULL) return meant[found - letters];
    point = (*at)[-1] == 'u' ? hexadecimal(*at, 4) : -1;
    if (point < 0) return 0;
    *at += 4;
    if (point < 0xD800 || point > 0xDFFF) return point;
    low = **at == '\\' && (*at)[1] == 'u' ? hexadecimal(*at + 2, 4) : -1;
    if (point > 0xDBFF || low < 0xDC00 || low > 0xDFFF) return 0;
    *at += 6;
    return 0x10000 + ((point & 0x3FF) << 10 | (low & 0x3FF));
}

/* Writes a text over its value, in UTF-8. It must have letters, and none of them null. */
MDP_SHARED int mdp_json_text(char *value) {
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    const char *at = value + 1;
    char *to = value;
    if (*value != '"' || *at == '"') return 0;
    while (*at != '"') {
        long point = *at++;
        int further;
        if (point == '\\') point = escaped(&at);
        if (point == 0) return 0;
        further = (point > 0x7F) + (point > 0x7FF) + (point > 0xFFFF);
        *to++ = (char)(lead[further] | point >> 6 * further);
        while (further-- > 0) *to++ = (char)(0x80 | (point >> 6 * further & 0x3F));
    }
    *to = '\0';
    return 1;
}
