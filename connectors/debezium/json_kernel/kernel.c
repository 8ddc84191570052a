#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "kernel.h"

#define NONE (-1)
#define MOST_DEPTH 64
#define DOUBLE_DIGITS 18
#define INTEGER_DIGITS 19
#define AHEAD 12

/* Grammar: each of these takes the place where something begins and gives the place behind it, NULL where it is not. */

static const uint8_t *space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

static bool is_digit(const uint8_t *p, const uint8_t *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

static bool continues(const uint8_t *p, const uint8_t *end)
{
    return p < end && (*p & 0xC0) == 0x80;
}

/* One character beyond ASCII (Unicode, table 3-7: no overlong forms, no surrogates, nothing beyond U+10FFFF). */
static const uint8_t *wide_character(const uint8_t *p, const uint8_t *end)
{
    uint8_t lead = *p++;
    if (lead < 0xC2 || lead > 0xF4 || !continues(p, end))
        return NULL;
    if (lead < 0xE0)
        return p + 1;
    if ((lead == 0xE0 && *p < 0xA0) || (lead == 0xED && *p > 0x9F) || (lead == 0xF0 && *p < 0x90) ||
        (lead == 0xF4 && *p > 0x8F))
        return NULL;
    if (!continues(++p, end))
        return NULL;
    if (lead < 0xF0)
        return p + 1;
    return continues(++p, end) ? p + 1 : NULL;
}

/* The four hexadecimal digits of an escape, or -1. */
static int32_t unit(const uint8_t *p, const uint8_t *end)
{
    int32_t code = 0;
    if (end - p < 4)
        return -1;
    for (int place = 0; place < 4; place++) {
        uint8_t c = p[place];
        int32_t digit = c >= '0' && c <= '9' ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

/* An escape, behind its backslash. A surrogate counts only as half of a pair. */
static const uint8_t *escape(const uint8_t *p, const uint8_t *end)
{
    int32_t code;
    if (p >= end)
        return NULL;
    if (*p != 'u')
        return memchr("\"\\/bfnrt", *p, 8) ? p + 1 : NULL;
    code = unit(p + 1, end);
    if (code < 0 || (code >= 0xDC00 && code <= 0xDFFF))
        return NULL;
    p += 5;
    if (code < 0xD800 || code > 0xDBFF)
        return p;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return NULL;
    code = unit(p + 2, end);
    return code >= 0xDC00 && code <= 0xDFFF ? p + 6 : NULL;
}

#if defined(__SSE2__)
/* Bytes that a text may just go on over, sixteen at a time as far as they go. */
static const uint8_t *plain_run(const uint8_t *p, const uint8_t *end)
{
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), printable = _mm_set1_epi8(0x20);
    for (; end - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)p);
        /* As signed numbers, bytes beyond ASCII are below the printable ones like control characters. */
        __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash));
        int found = _mm_movemask_epi8(_mm_or_si128(ends, _mm_cmplt_epi8(bytes, printable)));
        if (found)
            return p + __builtin_ctz((unsigned)found);
    }
    return p;
}
#else
/* Bytes that a text may just go on over, eight at a time as far as they go. */
static const uint8_t *plain_run(const uint8_t *p, const uint8_t *end)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    while (end - p >= 8) {
        uint64_t word, quote, slash;
        memcpy(&word, p, 8);
        quote = word ^ (ones * '"');
        slash = word ^ (ones * '\\');
        /* The top bit of each byte that is a quote, a backslash, a control character or beyond ASCII. What borrows
         * from a byte below it marks too much, never too little; the loop below looks again. */
        word = ((quote - ones) | (slash - ones) | (word - ones * 0x20) | word) & tops;
        if (word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            return p + (__builtin_ctzll(word) >> 3);
#else
            break;
#endif
        }
        p += 8;
    }
    return p;
}
#endif

/* A text, behind its opening quote. */
static const uint8_t *text(const uint8_t *p, const uint8_t *end, bool *escaped)
{
    for (;;) {
        p = plain_run(p, end);
        if (p >= end || *p < 0x20)
            return NULL;
        if (*p == '"')
            return p + 1;
        if (*p == '\\') {
            *escaped = true;
            p = escape(p + 1, end);
        } else if (*p < 0x80) {
            p++;
        } else {
            do
                p = wide_character(p, end);
            while (p && p < end && *p >= 0x80);
        }
        if (!p)
            return NULL;
    }
}

static const uint8_t *digits(const uint8_t *p, const uint8_t *end)
{
    if (!is_digit(p, end))
        return NULL;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; end - p >= 8; p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        word ^= 0x3030303030303030u;
        /* The top bit of each byte that is no digit; what carries into a byte comes from one below it that is none. */
        word = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
        if (word)
            return p + (__builtin_ctzll(word) >> 3);
    }
#endif
    while (is_digit(p, end))
        p++;
    return p;
}

static const uint8_t *number(const uint8_t *p, const uint8_t *end, uint8_t *kind)
{
    *kind = JSON_INTEGER;
    if (*p == '-')
        p++;
    if (p < end && *p == '0')
        p++;
    else
        p = digits(p, end);
    if (p && p < end && *p == '.') {
        *kind = JSON_NUMBER;
        p = digits(p + 1, end);
    }
    if (p && p < end && (*p == 'e' || *p == 'E')) {
        *kind = JSON_NUMBER;
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        p = digits(p, end);
    }
    return p;
}

static const uint8_t *word(const uint8_t *p, const uint8_t *end, const char *expected, size_t size)
{
    return (size_t)(end - p) >= size && memcmp(p, expected, size) == 0 ? p + size : NULL;
}

/* A value that is neither object nor array. */
static const uint8_t *scalar(const uint8_t *p, const uint8_t *end, uint8_t *kind)
{
    bool escaped = false;
    switch (*p) {
    case '"':
        p = text(p + 1, end, &escaped);
        *kind = escaped ? JSON_ESCAPED : JSON_TEXT;
        return p;
    case 'n':
        *kind = JSON_NULL;
        return word(p, end, "null", 4);
    case 't':
        *kind = JSON_TRUE;
        return word(p, end, "true", 4);
    case 'f':
        *kind = JSON_FALSE;
        return word(p, end, "false", 5);
    default:
        return number(p, end, kind);
    }
}

/* A member's name with its colon, from its opening quote. */
static const uint8_t *name(const uint8_t *p, const uint8_t *end, bool *escaped)
{
    if (p >= end || *p != '"')
        return NULL;
    p = text(p + 1, end, escaped);
    if (!p)
        return NULL;
    p = space(p, end);
    return p < end && *p == ':' ? p + 1 : NULL;
}

/* An object or array of any content, from its opening bracket. */
static const uint8_t *container(const uint8_t *p, const uint8_t *end)
{
    uint64_t objects = 0; /* the lowest bit tells whether the innermost container is an object, and so on upwards */
    int depth = 0;
    bool ignored;
    uint8_t kind;
    for (;;) {
        /* Here a value begins. */
        if (p >= end)
            return NULL;
        if (*p == '{' || *p == '[') {
            bool object = *p == '{';
            if (++depth > MOST_DEPTH)
                return NULL;
            objects = objects << 1 | object;
            p = space(p + 1, end);
            if (p >= end)
                return NULL;
            if (*p != (object ? '}' : ']')) {
                if (object) {
                    p = name(p, end, &ignored);
                    if (!p)
                        return NULL;
                }
                p = space(p, end);
                continue;
            }
        } else {
            p = scalar(p, end, &kind);
            if (!p)
                return NULL;
            p = space(p, end);
        }
        /* Here a value has ended, or an empty container is about to. */
        while (p < end && *p == (objects & 1 ? '}' : ']')) {
            p++;
            objects >>= 1;
            if (--depth == 0)
                return p;
            p = space(p, end);
        }
        if (p >= end || *p != ',')
            return NULL;
        p = space(p + 1, end);
        if (objects & 1) {
            p = name(p, end, &ignored);
            if (!p)
                return NULL;
            p = space(p, end);
        }
    }
}

static const uint8_t *value(const uint8_t *p, const uint8_t *end, uint8_t *kind)
{
    if (*p != '{' && *p != '[')
        return scalar(p, end, kind);
    *kind = *p == '{' ? JSON_OBJECT : JSON_ARRAY;
    return container(p, end);
}

/* The scan. */

typedef struct {
    const json_program *program;
    json_cells *cells;
    int64_t count;
    int64_t row;
    const uint8_t *begin;
    const uint8_t *end;
} record;

/* Whether so many bytes are the same: names are too short for the call of a library. */
static bool are_same(const uint8_t *these, const uint8_t *those, int64_t size)
{
    uint64_t left, right;
    if (size < 8) {
        while (size > 0 && these[size - 1] == those[size - 1])
            size--;
        return size == 0;
    }
    for (int64_t place = 0; place < size - 8; place += 8) {
        memcpy(&left, these + place, 8);
        memcpy(&right, those + place, 8);
        if (left != right)
            return false;
    }
    memcpy(&left, these + size - 8, 8);
    memcpy(&right, those + size - 8, 8);
    return left == right;
}

/* The object's member of this quoted name, looked for from the one that is expected next. */
static int32_t member_of(const json_program *program, int32_t first, int32_t last, int32_t next, const uint8_t *from,
                         int64_t size)
{
    for (int32_t member = next; member < last; member++)
        if (program->token[member + 1] - program->token[member] == size + 1 &&
            memcmp(program->tokens + program->token[member], from, (size_t)size) == 0)
            return member;
    for (int32_t member = first; member < next; member++)
        if (program->token[member + 1] - program->token[member] == size + 1 &&
            memcmp(program->tokens + program->token[member], from, (size_t)size) == 0)
            return member;
    return NONE;
}

/* An object of the program, behind its opening brace. */
static const uint8_t *walk(const record *r, int32_t object, const uint8_t *p)
{
    const json_program *program = r->program;
    const uint8_t *end = r->end;
    int32_t first = program->first[object], last = program->first[object + 1], next = first;
    p = space(p, end);
    if (p < end && *p == '}')
        return p + 1;
    for (;;) {
        int32_t member = NONE, child = NONE;
        const uint8_t *start;
        uint8_t kind;
        int64_t expected = next < last ? program->token[next + 1] - program->token[next] : 0;
        if (expected && end - p >= expected && are_same(program->tokens + program->token[next], p, expected)) {
            member = next;
            p += expected;
        } else {
            bool escaped = false;
            const uint8_t *quoted = space(p, end), *behind;
            if (quoted >= end || *quoted != '"')
                return NULL;
            behind = text(quoted + 1, end, &escaped);
            if (!behind || escaped)
                return NULL;
            member = member_of(program, first, last, next, quoted, behind - quoted);
            if (member == NONE && program->closed)
                return NULL;
            p = space(behind, end);
            if (p >= end || *p != ':')
                return NULL;
            p++;
        }
        p = space(p, end);
        if (p >= end)
            return NULL;
        start = p;
        if (member != NONE)
            child = program->child[member];
        if (child > object && *p == '{') {
            kind = JSON_OBJECT;
            p = walk(r, child, p + 1);
        } else {
            p = value(p, end, &kind);
        }
        if (!p)
            return NULL;
        if (member != NONE) {
            int64_t cell = member * r->count + r->row;
            if (r->cells->kinds[cell] != JSON_ABSENT)
                return NULL;
            r->cells->kinds[cell] = kind;
            r->cells->spans[cell].start = (uint32_t)(start - r->begin);
            r->cells->spans[cell].end = (uint32_t)(p - r->begin);
            r->cells->sizes[member] += p - start;
            next = member + 1;
        }
        p = space(p, end);
        if (p >= end)
            return NULL;
        if (*p == '}')
            return p + 1;
        if (*p != ',')
            return NULL;
        p++;
    }
}

void json_scan(const json_texts *texts, const json_program *program, json_cells *cells)
{
    record r = {program, cells, texts->count, 0, NULL, NULL};
    for (int64_t row = 0; row < texts->count; row++) {
        int64_t start = texts->starts[row], stop = texts->ends[row];
        const uint8_t *p;
        cells->status[row] = 1;
        if (start < 0 || start > stop || stop > texts->size || stop - start > INT32_MAX)
            continue;
        r.row = row;
        r.begin = texts->content + start;
        r.end = texts->content + stop;
        p = space(r.begin, r.end);
        if (p >= r.end || *p != '{')
            continue;
        p = walk(&r, 0, p + 1);
        if (p && space(p, r.end) == r.end)
            cells->status[row] = 0;
    }
}

/* The columns. */

typedef struct {
    uint8_t kind;
    const uint8_t *p;
    const uint8_t *end;
} cell;

/* Has the processor bring bytes that are read soon: a column's values are too far apart for it to foresee them. */
static void fetch(const uint8_t *p)
{
#if defined(__GNUC__)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

static cell cell_of(const json_texts *texts, const json_cells *cells, int64_t member, int64_t row)
{
    int64_t place = member * texts->count + row;
    cell found = {cells->kinds[place], NULL, NULL};
    if (row + AHEAD < texts->count && cells->kinds[place + AHEAD] != JSON_ABSENT)
        fetch(texts->content + texts->starts[row + AHEAD] + cells->spans[place + AHEAD].start);
    if (found.kind != JSON_ABSENT) {
        found.p = texts->content + texts->starts[row] + cells->spans[place].start;
        found.end = texts->content + texts->starts[row] + cells->spans[place].end;
    }
    return found;
}

static void mark(uint8_t *bits, int64_t row)
{
    bits[row >> 3] = (uint8_t)(bits[row >> 3] | 1u << (row & 7));
}

/* Whether the record is still read here and has a value of a kind above the given one; a null is counted. */
static bool there(const json_texts *texts, json_cells *cells, json_column *column, int64_t row, uint8_t above)
{
    if (!cells->status[row]) {
        if (cells->kinds[column->member * texts->count + row] > above)
            return true;
        if (column->required && (column->parent < 0 ||
                                 cells->kinds[column->parent * texts->count + row] == JSON_OBJECT))
            cells->status[row] = 1;
    }
    column->nulls++;
    return false;
}

static void hand_over(json_cells *cells, json_column *column, int64_t row)
{
    cells->status[row] = 1;
    column->nulls++;
}

/* The number that eight digits are: pairs, then fours, then all of them are put together in one word. */
static uint64_t eight_digits(const uint8_t *p)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word;
    memcpy(&word, p, 8);
    word -= 0x3030303030303030u;
    word = word * 10 + (word >> 8);
    return ((word & 0x000000FF000000FFu) * 0x000F424000000064u +
            (word >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u) >> 32;
#else
    uint64_t sum = 0;
    for (int place = 0; place < 8; place++)
        sum = sum * 10 + (uint64_t)(p[place] - '0');
    return sum;
#endif
}

/* An integer of 64 bits; so many digits fit into an unsigned one in any case. */
static bool integer(const uint8_t *p, const uint8_t *end, int64_t *out)
{
    bool negative = *p == '-';
    uint64_t sum = 0;
    p += negative;
    if (end - p > INTEGER_DIGITS)
        return false;
    for (; end - p >= 8; p += 8)
        sum = sum * 100000000 + eight_digits(p);
    for (; p < end; p++)
        sum = sum * 10 + (uint64_t)(*p - '0');
    if (sum > (uint64_t)INT64_MAX + negative)
        return false;
    *out = !negative ? (int64_t)sum : sum > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)sum;
    return true;
}

void json_gather_integers(const json_texts *texts, json_cells *cells, json_column *column, int32_t width, void *out)
{
    int64_t highest = width == 1 ? INT8_MAX : width == 2 ? INT16_MAX : width == 4 ? INT32_MAX : INT64_MAX;
    for (int64_t row = 0; row < texts->count; row++) {
        int64_t found = 0;
        if (there(texts, cells, column, row, JSON_NULL)) {
            cell c = cell_of(texts, cells, column->member, row);
            if (c.kind == JSON_INTEGER && integer(c.p, c.end, &found) && found <= highest && found >= -highest - 1) {
                mark(column->valid, row);
            } else {
                found = 0;
                hand_over(cells, column, row);
            }
        }
        switch (width) {
        case 1:
            ((int8_t *)out)[row] = (int8_t)found;
            break;
        case 2:
            ((int16_t *)out)[row] = (int16_t)found;
            break;
        case 4:
            ((int32_t *)out)[row] = (int32_t)found;
            break;
        default:
            ((int64_t *)out)[row] = found;
        }
    }
}

void json_gather_booleans(const json_texts *texts, json_cells *cells, json_column *column, uint8_t *bits)
{
    for (int64_t row = 0; row < texts->count; row++) {
        uint8_t kind;
        if (!there(texts, cells, column, row, JSON_NULL))
            continue;
        kind = cells->kinds[column->member * texts->count + row];
        if (kind != JSON_TRUE && kind != JSON_FALSE) {
            hand_over(cells, column, row);
            continue;
        }
        mark(column->valid, row);
        if (kind == JSON_TRUE)
            mark(bits, row);
    }
}

static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A number whose digits and power of ten are doubles themselves: one operation then rounds as it has to (Clinger). */
static bool quick_double(const uint8_t *p, const uint8_t *end, double *out)
{
    bool negative = *p == '-';
    int64_t sum = 0, power = 0;
    int count = 0;
    p += negative;
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            power = p + 1 - end; /* no exponent may follow: see below */
            continue;
        }
        if (sum && ++count >= DOUBLE_DIGITS)
            return false;
        sum = sum * 10 + (*p - '0');
    }
    if (p < end || power < -22 || sum == 0 || sum > INT64_C(9007199254740992) || FLT_EVAL_METHOD != 0)
        return sum == 0 && p == end && !negative ? (*out = 0, true) : false;
    *out = power < 0 ? (double)sum / POWERS[-power] : (double)sum;
    if (negative)
        *out = -*out;
    return true;
}

int64_t json_gather_doubles(const json_texts *texts, json_cells *cells, json_column *column, double *out,
                            int64_t *slow)
{
    int64_t left = 0;
    for (int64_t row = 0; row < texts->count; row++) {
        cell c;
        out[row] = 0;
        if (!there(texts, cells, column, row, JSON_NULL))
            continue;
        c = cell_of(texts, cells, column->member, row);
        if (c.kind != JSON_INTEGER && c.kind != JSON_NUMBER) {
            hand_over(cells, column, row);
            continue;
        }
        mark(column->valid, row);
        if (!quick_double(c.p, c.end, &out[row]))
            slow[left++] = row;
    }
    return left;
}

static uint8_t *put_character(uint8_t *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (uint8_t)code;
    } else if (code < 0x800) {
        *out++ = (uint8_t)(0xC0 | code >> 6);
        *out++ = (uint8_t)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (uint8_t)(0xE0 | code >> 12);
        *out++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (code & 0x3F));
    } else {
        *out++ = (uint8_t)(0xF0 | code >> 18);
        *out++ = (uint8_t)(0x80 | (code >> 12 & 0x3F));
        *out++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (code & 0x3F));
    }
    return out;
}

/* A text's characters, its escapes being right: the scan has seen them. Never longer than the text itself. */
static int64_t unescaped(const uint8_t *p, const uint8_t *end, uint8_t *out)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    uint8_t *began = out;
    while (p < end) {
        uint32_t code;
        if (*p != '\\') {
            *out++ = *p++;
            continue;
        }
        if (p[1] != 'u') {
            const char *found = memchr(from, p[1], 8);
            *out++ = (uint8_t)into[found - from];
            p += 2;
            continue;
        }
        code = (uint32_t)unit(p + 2, end);
        p += 6;
        if (code >= 0xD800 && code <= 0xDBFF) {
            code = 0x10000 + ((code - 0xD800) << 10) + ((uint32_t)unit(p + 2, end) - 0xDC00);
            p += 6;
        }
        out = put_character(out, code);
    }
    return out - began;
}

int64_t json_gather_texts(const json_texts *texts, json_cells *cells, json_column *column, int32_t *offsets,
                          uint8_t *out, int64_t room)
{
    int64_t used = 0;
    for (int64_t row = 0; row < texts->count; row++) {
        offsets[row] = (int32_t)used;
        if (there(texts, cells, column, row, JSON_NULL)) {
            cell c = cell_of(texts, cells, column->member, row);
            int64_t size = c.end - c.p - 2;
            if ((c.kind != JSON_TEXT && c.kind != JSON_ESCAPED) || size > room - used) {
                hand_over(cells, column, row);
                continue;
            }
            mark(column->valid, row);
            if (c.kind == JSON_ESCAPED)
                size = unescaped(c.p + 1, c.end - 1, out + used);
            else
                memcpy(out + used, c.p + 1, (size_t)size);
            used += size;
        }
    }
    offsets[texts->count] = (int32_t)used;
    return used;
}

int64_t json_gather_raw(const json_texts *texts, json_cells *cells, json_column *column, int32_t *offsets,
                        uint8_t *out, int64_t room)
{
    int64_t used = 0;
    for (int64_t row = 0; row < texts->count; row++) {
        offsets[row] = (int32_t)used;
        if (there(texts, cells, column, row, JSON_ABSENT)) {
            cell c = cell_of(texts, cells, column->member, row);
            int64_t size = c.end - c.p;
            if (size > room - used) {
                hand_over(cells, column, row);
                continue;
            }
            mark(column->valid, row);
            memcpy(out + used, c.p, (size_t)size);
            used += size;
        }
    }
    offsets[texts->count] = (int32_t)used;
    return used;
}

static int32_t sextet(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' ? 62
           : c == '/' ? 63
                      : -1;
}

/* Bytes from base64 with its padding and with no bit left over; their number, or -1. */
static int64_t from_base64(const uint8_t *p, const uint8_t *end, uint8_t *out)
{
    uint8_t *began = out;
    if ((end - p) % 4 != 0)
        return -1;
    for (; p < end; p += 4) {
        int padding = end - p > 4 ? 0 : (p[3] == '=') + (p[3] == '=' && p[2] == '=');
        int32_t bits = 0;
        for (int place = 0; place < 4; place++) {
            int32_t six = place < 4 - padding ? sextet(p[place]) : 0;
            if (six < 0)
                return -1;
            bits = bits << 6 | six;
        }
        if (bits & ((1 << 8 * padding) - 1))
            return -1;
        *out++ = (uint8_t)(bits >> 16);
        if (padding < 2)
            *out++ = (uint8_t)(bits >> 8);
        if (padding < 1)
            *out++ = (uint8_t)bits;
    }
    return out - began;
}

int64_t json_gather_base64(const json_texts *texts, json_cells *cells, json_column *column, int32_t *offsets,
                           uint8_t *out, int64_t room)
{
    int64_t used = 0;
    for (int64_t row = 0; row < texts->count; row++) {
        offsets[row] = (int32_t)used;
        if (there(texts, cells, column, row, JSON_NULL)) {
            cell c = cell_of(texts, cells, column->member, row);
            int64_t size = c.kind == JSON_TEXT && c.end - c.p - 2 <= room - used
                               ? from_base64(c.p + 1, c.end - 1, out + used)
                               : -1;
            if (size < 0) {
                hand_over(cells, column, row);
                continue;
            }
            mark(column->valid, row);
            used += size;
        }
    }
    offsets[texts->count] = (int32_t)used;
    return used;
}

void json_gather_letters(const json_texts *texts, json_cells *cells, json_column *column, uint8_t *out)
{
    for (int64_t row = 0; row < texts->count; row++) {
        cell c;
        out[row] = '?';
        if (!there(texts, cells, column, row, JSON_NULL))
            continue;
        c = cell_of(texts, cells, column->member, row);
        if (c.kind != JSON_TEXT || c.end - c.p != 3) {
            hand_over(cells, column, row);
            continue;
        }
        mark(column->valid, row);
        out[row] = c.p[1];
    }
}

void json_expect(const json_texts *texts, json_cells *cells, json_column *column, const uint8_t *expected,
                 int64_t size)
{
    for (int64_t row = 0; row < texts->count; row++) {
        cell c;
        if (!there(texts, cells, column, row, JSON_NULL))
            continue;
        c = cell_of(texts, cells, column->member, row);
        if (c.end - c.p != size || memcmp(c.p, expected, (size_t)size) != 0)
            hand_over(cells, column, row);
    }
}

int32_t json_same(const json_texts *texts, const json_cells *cells, int64_t member)
{
    cell first = {JSON_ABSENT, NULL, NULL};
    bool any = false;
    for (int64_t row = 0; row < texts->count; row++) {
        cell c;
        if (cells->status[row])
            continue;
        c = cell_of(texts, cells, member, row);
        if (!any) {
            any = true;
            first = c;
        } else if (c.kind != first.kind) {
            return 0;
        } else if (c.kind != JSON_ABSENT &&
                   (c.end - c.p != first.end - first.p || memcmp(c.p, first.p, (size_t)(c.end - c.p)) != 0)) {
            return 0;
        }
    }
    return 1;
}

int32_t json_framed(const json_texts *texts, const uint8_t *prefix, int64_t prefix_size, const uint8_t *suffix,
                    int64_t suffix_size)
{
    for (int64_t row = 0; row < texts->count; row++) {
        int64_t start = texts->starts[row], stop = texts->ends[row];
        if (start < 0 || start > stop || stop > texts->size || stop - start < prefix_size + suffix_size)
            return 0;
        if (memcmp(texts->content + start, prefix, (size_t)prefix_size) != 0 ||
            memcmp(texts->content + stop - suffix_size, suffix, (size_t)suffix_size) != 0)
            return 0;
    }
    return 1;
}
