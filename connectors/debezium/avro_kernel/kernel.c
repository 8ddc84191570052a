#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernel.h"

#define NONE (-1)
#define HIGH_BITS UINT64_C(0x8080808080808080)
#define SHORT 16
#define AHEAD 8

/* One datum that is walked. */
typedef struct {
    const avro_node *nodes;
    const int32_t *child;
    const uint8_t *start;
    const uint8_t *end;
    int64_t count;    /* of datums */
    uint8_t *there;   /* of cell c at c * count */
    uint64_t *values; /* of cell c at c * count */
    int64_t *sizes;
} datum;

/* Each of these takes the place where something begins and gives the place behind it, NULL where it is not. */

static const uint8_t *number(const uint8_t *p, const uint8_t *end, int64_t *out)
{
    uint64_t zigzag = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (p >= end)
            return NULL;
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            return NULL;
        zigzag |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
            return p;
        }
    }
    return NULL;
}

static const uint8_t *bits(const uint8_t *p, const uint8_t *end, int width, uint64_t *out)
{
    if (end - p < width)
        return NULL;
    *out = 0;
    for (int place = 0; place < width; place++)
        *out |= (uint64_t)p[place] << 8 * place;
    return p + width;
}

/* One character beyond ASCII (Unicode, table 3-7: no overlong forms, no surrogates, nothing beyond U+10FFFF). */
static const uint8_t *wide_character(const uint8_t *p, const uint8_t *end)
{
    int more = *p >= 0xF0 ? 3 : *p >= 0xE0 ? 2 : 1;
    uint32_t code = *p & (0x3Fu >> more);
    if (*p < 0xC2 || *p > 0xF4 || end - p <= more)
        return NULL;
    for (int place = 1; place <= more; place++) {
        if ((p[place] & 0xC0) != 0x80)
            return NULL;
        code = code << 6 | (p[place] & 0x3Fu);
    }
    if ((more == 2 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) ||
        (more == 3 && (code < 0x10000 || code > 0x10FFFF)))
        return NULL;
    return p + more + 1;
}

static bool is_ascii(const uint8_t *p, const uint8_t *end)
{
    uint64_t eight, all = 0;
    if (end - p < 8) {
        while (p < end)
            all |= *p++;
        return all < 0x80;
    }
    for (; end - p > 8; p += 8) {
        memcpy(&eight, p, 8);
        all |= eight;
    }
    memcpy(&eight, end - 8, 8);
    return ((all | eight) & HIGH_BITS) == 0;
}

static bool is_utf8(const uint8_t *p, const uint8_t *end)
{
    if (is_ascii(p, end))
        return true;
    while (p < end)
        if (*p < 0x80)
            p++;
        else if (!(p = wide_character(p, end)))
            return false;
    return true;
}

static inline void put(const datum *d, const avro_node *node, uint64_t value)
{
    if (node->cell == NONE)
        return;
    d->there[node->cell * d->count] = 1;
    d->values[node->cell * d->count] = value;
}

static inline void put_span(const datum *d, const avro_node *node, const uint8_t *from, const uint8_t *to)
{
    if (node->cell == NONE)
        return;
    put(d, node, (uint64_t)(from - d->start) | (uint64_t)(to - d->start) << 32);
    d->sizes[node->cell] += to - from;
}

static const uint8_t *walk(const datum *d, const avro_node *node, const uint8_t *p);

/* A value of a type that has nothing within it. */
static inline const uint8_t *plain(const datum *d, const avro_node *node, const uint8_t *p)
{
    const uint8_t *end = d->end;
    int64_t found = node->size;
    uint64_t value;

    switch (node->type) {
    case AVRO_NULL:
        return p;
    case AVRO_BOOLEAN:
        if (!(p = bits(p, end, 1, &value)) || value > 1)
            return NULL;
        break;
    case AVRO_INT:
        if (!(p = number(p, end, &found)) || found < INT32_MIN || found > INT32_MAX)
            return NULL;
        value = (uint64_t)found;
        break;
    case AVRO_LONG:
        if (!(p = number(p, end, &found)))
            return NULL;
        value = (uint64_t)found;
        break;
    case AVRO_ENUM:
        if (!(p = number(p, end, &found)) || found < 0 || found >= node->size)
            return NULL;
        value = (uint64_t)found;
        break;
    case AVRO_FLOAT:
        if (!(p = bits(p, end, 4, &value)))
            return NULL;
        break;
    case AVRO_DOUBLE:
        if (!(p = bits(p, end, 8, &value)))
            return NULL;
        break;
    case AVRO_BYTES:
    case AVRO_STRING:
        if (!(p = number(p, end, &found)))
            return NULL;
        /* fall through */
    case AVRO_FIXED:
        if (found < 0 || found > end - p || (node->type == AVRO_STRING && !is_utf8(p, p + found)))
            return NULL;
        put_span(d, node, p, p + found);
        return p + found;
    default:
        return NULL;
    }
    put(d, node, value);
    return p;
}

/* The branch of a union that its datum has; NULL where there is none. */
static inline const avro_node *branch(const datum *d, const avro_node *node, const uint8_t **p)
{
    int64_t found;
    if (!(*p = number(*p, d->end, &found)) || found < 0 || found >= node->behind - node->first)
        return NULL;
    return d->nodes + d->child[node->first + found];
}

static const uint8_t *fields(const datum *d, const avro_node *node, const uint8_t *p)
{
    for (int32_t place = node->first; place < node->behind; place++) {
        const avro_node *field = d->nodes + d->child[place];
        if (field->type == AVRO_UNION && field->cell == NONE && !(field = branch(d, field, &p)))
            return NULL;
        if (!(p = field->type < AVRO_RECORD ? plain(d, field, p) : walk(d, field, p)))
            return NULL;
    }
    return p;
}

/* The blocks of an array or a map. Each item takes a byte at least, or it is not read here: their number could be
 * anything. */
static const uint8_t *blocks(const datum *d, const avro_node *node, const uint8_t *p)
{
    const avro_node *item = d->nodes + d->child[node->first];
    int64_t items, size;
    while ((p = number(p, d->end, &items)) && items) {
        if (items < 0) {
            if (items == INT64_MIN || !(p = number(p, d->end, &size)))
                return NULL;
            items = -items;
        }
        for (; items; items--) {
            const uint8_t *from = p;
            if (node->type == AVRO_MAP) {
                if (!(p = number(p, d->end, &size)) || size < 0 || size > d->end - p || !is_utf8(p, p + size))
                    return NULL;
                p += size;
            }
            if (!(p = walk(d, item, p)) || p == from)
                return NULL;
        }
    }
    return p;
}

static const uint8_t *walk(const datum *d, const avro_node *node, const uint8_t *p)
{
    const uint8_t *from = p;
    const avro_node *found;

    switch (node->type) {
    case AVRO_UNION:
        if (!(found = branch(d, node, &p)))
            return NULL;
        p = walk(d, found, p);
        break;
    case AVRO_RECORD:
        p = fields(d, node, p);
        break;
    case AVRO_ARRAY:
    case AVRO_MAP:
        p = blocks(d, node, p);
        break;
    default:
        return plain(d, node, p);
    }
    if (p)
        put_span(d, node, from, p);
    return p;
}

int64_t avro_scan(const avro_datums *datums, const avro_program *program, avro_cells *cells)
{
    int64_t elsewhere = 0;
    for (int64_t row = 0; row < datums->count; row++) {
        datum one = {program->nodes, program->child, datums->content + datums->starts[row],
                     datums->content + datums->ends[row], datums->count, cells->there + row, cells->values + row,
                     cells->sizes};
        cells->status[row] = walk(&one, program->nodes, one.start) != one.end;
        elsewhere += cells->status[row];
    }
    return elsewhere;
}

static const uint8_t *at(const avro_datums *datums, uint64_t span, int64_t row)
{
    return datums->content + datums->starts[row] + (uint32_t)span;
}

static int64_t size_of(uint64_t span)
{
    return (int64_t)(span >> 32) - (int64_t)(uint32_t)span;
}

static void fetch(const uint8_t *p)
{
#if defined(__GNUC__)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

void avro_gather(const avro_datums *datums, const avro_cells *cells, int64_t cell, int32_t *offsets, uint8_t *out)
{
    const uint8_t *there = cells->there + cell * datums->count;
    const uint64_t *spans = cells->values + cell * datums->count;
    int64_t room = cells->sizes[cell], written = 0;

    offsets[0] = 0;
    for (int64_t row = 0; row < datums->count; row++) {
        if (row + AHEAD < datums->count && there[row + AHEAD])
            fetch(at(datums, spans[row + AHEAD], row + AHEAD));
        if (there[row]) {
            const uint8_t *from = at(datums, spans[row], row);
            int64_t size = size_of(spans[row]);
            /* A copy of a fixed length is no call; what it has too much of, the next one overwrites. */
            if (size <= SHORT && room - written >= SHORT && datums->content + datums->size - from >= SHORT)
                memcpy(out + written, from, SHORT);
            else
                memcpy(out + written, from, (size_t)size);
            written += size;
        }
        offsets[row + 1] = (int32_t)written;
    }
}

int32_t avro_same(const avro_datums *datums, const avro_cells *cells, int64_t cell)
{
    const uint64_t *spans = cells->values + cell * datums->count;
    for (int64_t row = 1; row < datums->count; row++) {
        int64_t size = size_of(spans[row]);
        if (size != size_of(spans[0]) || memcmp(at(datums, spans[row], row), at(datums, spans[0], 0), (size_t)size))
            return 0;
    }
    return 1;
}
