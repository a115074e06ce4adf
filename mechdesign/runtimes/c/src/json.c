/* Canonical JSON: no blanks, no fractions, ASCII. Values are looked up in the text once it was found to be
 * well-formed. */
#include "internal.h"

enum { DEPTH = 16, LIMBS = 128 };

static const char *after_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++) {
        if (*at < ' ' || *at > '~') return NULL;
        if (*at != '\\') continue;
        if (++at == end) return NULL;
        if (*at == 'u') {
            int digits = 0;
            for (; digits < 4 && end - at > 1 && at[1] != '\0' && strchr("0123456789abcdef", at[1]) != NULL;
                 at++)
                digits++;
            if (digits < 4) return NULL;
        } else if (*at == '\0' || strchr("\"\\bfnrt", *at) == NULL)
            return NULL;
    }
    return at < end ? at + 1 : NULL;
}

/* Where the value that begins here ends; NULL if it is none. */
static const char *after_value(const char *at, const char *end, int depth) {
    static const char *const words[] = {"null", "true", "false"};
    size_t i;
    if (at >= end || depth == 0) return NULL;
    if (*at == '"') return after_string(at, end);
    if (*at == '[' || *at == '{') {
        char close = *at == '[' ? ']' : '}';
        if (end - at > 1 && at[1] == close) return at + 2;
        do {
            at++;
            if (close == '}') {
                if (at >= end || *at != '"' || (at = after_string(at, end)) == NULL) return NULL;
                if (at >= end || *at++ != ':') return NULL;
            }
            at = after_value(at, end, depth - 1);
        } while (at != NULL && at < end && *at == ',');
        return at != NULL && at < end && *at == close ? at + 1 : NULL;
    }
    for (i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - at) >= length && memcmp(at, words[i], length) == 0) return at + length;
    }
    if (*at == '-') at++;
    if (at >= end || *at < '0' || *at > '9') return NULL;
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

/* The one value of a text, after which there may be a newline. */
MDP_SHARED int mdp_json_read(const char *text, size_t length, mdp_json *value) {
    const char *end = text + length;
    value->at = text;
    value->end = after_value(text, end, DEPTH);
    if (value->end == NULL) return 0;
    return value->end == end || (end - value->end == 1 && *value->end == '\n');
}

/* Whether the value is this text of JSON. */
MDP_SHARED int mdp_json_is(mdp_json value, const char *text) {
    size_t length = strlen(text);
    return (size_t)(value.end - value.at) == length && memcmp(value.at, text, length) == 0;
}

/* The next element; `rest` begins as the array. */
MDP_SHARED int mdp_json_next(mdp_json *rest, mdp_json *element) {
    if (*rest->at == ']' || (*rest->at != ',' && *rest->at != '[') || rest->at[1] == ']') return 0;
    element->at = rest->at + 1;
    element->end = rest->at = after_value(element->at, rest->end, DEPTH);
    return 1;
}

/* The member of an object by its key, which has no letters to escape. What is no object has none. */
MDP_SHARED int mdp_json_member(mdp_json object, const char *key, mdp_json *value) {
    const char *at = object.at;
    size_t length = strlen(key);
    if (*at != '{' || at[1] == '}') return 0;
    do {
        const char *name = at + 2;
        value->at = after_string(at + 1, object.end) + 1;
        value->end = at = after_value(value->at, object.end, DEPTH);
        if ((size_t)(value->at - name) == length + 2 && memcmp(name, key, length) == 0) return 1;
    } while (*at == ',');
    return 0;
}

MDP_SHARED int mdp_json_integer(mdp_json value, int64_t *number) {
    int negative = *value.at == '-';
    const char *at = value.at + negative;
    int64_t found = 0;
    if (at == value.end || *at < '0' || *at > '9') return 0;
    for (; at < value.end; at++) {
        int digit = *at - '0';
        if (found > (INT64_MAX - digit) / 10) return 0;
        found = 10 * found + digit;
    }
    *number = negative ? -found : found;
    return 1;
}

/* The double that a text "DIGITS.DIGITS" is, exactly: with f digits after the point it is a whole number of
 * 2^-f, as 5^f divides all digits together. What is no double is refused, so nothing is rounded. */
MDP_SHARED int mdp_json_decimal(mdp_json value, double *number) {
    uint32_t limbs[LIMBS];
    size_t used = 0, i;
    int fraction = -1, lowest = -1, highest = 0, exponent;
    const char *at = value.at + 1, *last = value.end - 1;
    int negative = at < last && *at == '-';
    double found = 0;
    if (*value.at != '"' || (at += negative) >= last || *at == '.' || last[-1] == '.') return 0;
    for (; at < last; at++) {
        uint64_t carry = (uint64_t)(*at - '0');
        if (*at == '.' && fraction < 0) {
            fraction = 0;
            continue;
        }
        if (*at < '0' || *at > '9') return 0;
        if (fraction >= 0 && ++fraction > 1074) return 0;
        for (i = 0; i < used; i++, carry >>= 32) limbs[i] = (uint32_t)(carry += UINT64_C(10) * limbs[i]);
        if (carry > 0 && used == LIMBS) return 0;
        if (carry > 0) limbs[used++] = (uint32_t)carry;
    }
    if (fraction < 0) fraction = 0;
    for (exponent = 0; exponent < fraction; exponent++) {
        uint64_t rest = 0;
        for (i = used; i-- > 0; rest %= 5) {
            rest = rest << 32 | limbs[i];
            limbs[i] = (uint32_t)(rest / 5);
        }
        if (rest > 0) return 0;
    }
    for (i = 0; i < 32 * used; i++) {
        if ((limbs[i / 32] >> i % 32 & 1) == 0) continue;
        highest = (int)i;
        if (lowest < 0) lowest = highest;
    }
    if (highest - lowest > 52 && lowest >= 0) return 0;
    for (i = used; i-- > 0;) {
        double part = limbs[i];
        if (limbs[i] == 0) continue;
        for (exponent = 32 * (int)i - fraction; exponent > 0; exponent--) part *= 2;
        for (; exponent < 0; exponent++) part /= 2;
        found += part;
    }
    if (found - found != 0) return 0;
    *number = negative ? -found : found;
    return 1;
}

static unsigned hexadecimal(char digit) { return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

/* 64 hexadecimal digits. */
MDP_SHARED int mdp_json_hash(mdp_json value, unsigned char *hash) {
    size_t i;
    if (value.end - value.at != 66 || *value.at != '"') return 0;
    for (i = 0; i < 64; i++) {
        if (value.at[i + 1] == '\0' || strchr("0123456789abcdef", value.at[i + 1]) == NULL) return 0;
    }
    for (i = 0; i < 32; i++) {
        hash[i] = (unsigned char)(hexadecimal(value.at[2 * i + 1]) << 4 | hexadecimal(value.at[2 * i + 2]));
    }
    return 1;
}

static unsigned long unit_of(const char *at) {
    return (unsigned long)(hexadecimal(at[0]) << 12 | hexadecimal(at[1]) << 8 | hexadecimal(at[2]) << 4 |
                           hexadecimal(at[3]));
}

/* Writes a text in UTF-8, with its null character: at most as many bytes as the value has. Returns its
 * length, or 0 where it has none, or a letter that is null or half a pair. */
MDP_SHARED size_t mdp_json_text(mdp_json value, char *text) {
    static const char letters[] = "\"\\bfnrt", meant[] = "\"\\\b\f\n\r\t";
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    char *to = text;
    const char *at;
    if (*value.at != '"') return 0;
    for (at = value.at + 1; at < value.end - 1; at++) {
        unsigned long point = (unsigned char)*at;
        int further;
        if (*at == '\\') {
            if (*++at != 'u')
                point = (unsigned char)meant[strchr(letters, *at) - letters];
            else {
                point = unit_of(at + 1);
                at += 4;
                if (point >= 0xD800 && point < 0xDC00) {
                    unsigned long low = at[1] == '\\' && at[2] == 'u' ? unit_of(at + 3) : 0;
                    if (low < 0xDC00 || low > 0xDFFF) return 0;
                    point = 0x10000 + ((point & 0x3FF) << 10) + (low & 0x3FF);
                    at += 6;
                } else if (point == 0 || (point >= 0xDC00 && point < 0xE000))
                    return 0;
            }
        }
        further = (point > 0x7F) + (point > 0x7FF) + (point > 0xFFFF);
        *to++ = (char)(lead[further] | point >> 6 * further);
        while (further-- > 0) *to++ = (char)(0x80 | (point >> 6 * further & 0x3F));
    }
    *to = '\0';
    return (size_t)(to - text);
}
