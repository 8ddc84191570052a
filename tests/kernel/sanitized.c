/* Runs the kernel over records from standard input, each in memory of its own that ends where it ends.
 *
 * To be compiled with the kernel and with sanitizers, which end the process at a read or write out of bounds and at
 * undefined behaviour. A record is its length, four bytes little-endian, and its bytes. The wanted names are the
 * arguments: all of them of the record, and of its members `before`, `after` and `source`. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define NAMES 65
#define OBJECTS 4

static int32_t first[OBJECTS + 1], token[OBJECTS * NAMES + 1], child[OBJECTS * NAMES];
static uint8_t tokens[OBJECTS * NAMES * 256];
static int32_t members;

static void *room(size_t size)
{
    void *found = calloc(size, 1);
    if (!found && size)
        exit(3);
    return found;
}

static void wanted(int argc, char **argv)
{
    for (int32_t object = 0; object < OBJECTS; object++) {
        first[object] = members;
        for (int place = 1; place < argc; place++) {
            const char *name = argv[place];
            int32_t at = token[members];
            int size = snprintf((char *)tokens + at, 256, "\"%s\":", name);
            child[members] = object ? -1
                             : !strcmp(name, "before") ? 1
                             : !strcmp(name, "after") ? 2
                             : !strcmp(name, "source") ? 3
                                                       : -1;
            token[++members] = at + size;
        }
    }
    first[OBJECTS] = members;
}

static void gather(const json_texts *texts, json_cells *cells, int64_t member)
{
    size_t count = (size_t)texts->count, bitmap = (count + 7) / 8;
    uint8_t *status = room(count);
    memcpy(status, cells->status, count);
    for (int kind = 0; kind < 14; kind++) {
        json_column column = {member, member % 3 ? -1 : 0, kind % 2, room(bitmap), 0};
        int32_t *offsets = room((count + 1) * sizeof(int32_t));
        /* From 8 to 10 there is less room than the values take. */
        size_t size = (size_t)cells->sizes[member] / (kind < 8 ? 1u : 2u);
        uint8_t *out = room(kind < 4 ? count << kind : kind == 4 ? bitmap : kind < 11 ? size : count);
        int64_t *slow = room(count * sizeof(int64_t));
        double *doubles = room(count * sizeof(double));
        switch (kind) {
        case 0:
        case 1:
        case 2:
        case 3:
            json_gather_integers(texts, cells, &column, 1 << kind, out);
            break;
        case 4:
            json_gather_booleans(texts, cells, &column, out);
            break;
        case 5:
        case 8:
            json_gather_texts(texts, cells, &column, offsets, out, (int64_t)size);
            break;
        case 6:
        case 9:
            json_gather_base64(texts, cells, &column, offsets, out, (int64_t)size);
            break;
        case 7:
        case 10:
            json_gather_raw(texts, cells, &column, offsets, out, (int64_t)size);
            break;
        case 11:
            json_gather_doubles(texts, cells, &column, doubles, slow);
            break;
        case 12:
            json_gather_letters(texts, cells, &column, out);
            break;
        default:
            json_expect(texts, cells, &column, tokens, 3);
            json_same(texts, cells, member);
        }
        memcpy(cells->status, status, count);
        free(column.valid);
        free(offsets);
        free(out);
        free(slow);
        free(doubles);
    }
    free(status);
}

static void run(const json_texts *texts, int32_t closed, int64_t *read)
{
    size_t count = (size_t)texts->count;
    json_program program = {first, tokens, token, child, closed};
    json_cells cells = {
        room((size_t)members * count),
        room((size_t)members * count * sizeof(json_span)),
        room((size_t)members * sizeof(int64_t)),
        room(count),
    };
    json_scan(texts, &program, &cells);
    for (size_t row = 0; row < count; row++)
        *read += !cells.status[row];
    for (int64_t member = 0; member < members; member++)
        gather(texts, &cells, member);
    json_framed(texts, tokens, 5, (const uint8_t *)"}", 1);
    free(cells.kinds);
    free(cells.spans);
    free(cells.sizes);
    free(cells.status);
}

int main(int argc, char **argv)
{
    uint8_t head[4];
    int64_t records = 0, read = 0;
    if (argc > NAMES)
        return 2;
    wanted(argc, argv);
    while (fread(head, 1, 4, stdin) == 4) {
        size_t size = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
        uint8_t *content = room(size);
        /* The record alone, then a batch: it, its first half, an empty one, and places that are none. */
        int64_t whole = (int64_t)size;
        int64_t starts[] = {0, 0, whole, 5, -1, 0}, ends[] = {whole, whole / 2, whole, 4, 1, whole + 1};
        json_texts one = {content, whole, starts, ends, 1}, batch = {content, whole, starts, ends, 6};
        if (fread(content, 1, size, stdin) != size)
            return 2;
        for (int32_t closed = 0; closed < 2; closed++) {
            run(&one, closed, &read);
            run(&batch, closed, &read);
        }
        free(content);
        records++;
    }
    printf("%lld records, %lld read\n", (long long)records, (long long)read);
    return 0;
}
