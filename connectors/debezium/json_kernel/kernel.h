/* Reads JSON records of a known layout into columns, without an object per record or value.
 *
 * json_scan walks each record once and notes where each wanted member's value is; the json_gather functions then make
 * one column of one member's values. Both see strict JSON only. A record that they are not sure of (an escaped or
 * repeated name, a number or type that the column does not plainly hold, bytes that are no UTF-8, deep nesting) gets a
 * status other than 0, and is decoded elsewhere: this code decides how fast a record is read, never what is read.
 *
 * Records come from outside: nothing is read beyond a record's end, and nothing recurses deeper than the program's
 * own objects. This header holds declarations only; cffi reads it too.
 */

enum json_kind {
    JSON_ABSENT,
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_INTEGER,
    JSON_NUMBER,
    JSON_TEXT,
    JSON_ESCAPED,
    JSON_OBJECT,
    JSON_ARRAY
};

/* Records within one buffer. */
typedef struct {
    const uint8_t *content;
    int64_t size;
    const int64_t *starts;
    const int64_t *ends;
    int64_t count;
} json_texts;

/* What is wanted. Object 0 is the record; the members of object o are those from first[o] up to first[o + 1].
 * A member's token is its name as compact JSON has it, quotes and colon included: tokens[token[m]] up to
 * tokens[token[m + 1]]. Its child is the object that its value is walked as, of a higher number, or -1. Where the program
 * is closed, a record with any other member is handed over. */
typedef struct {
    const int32_t *first;
    const uint8_t *tokens;
    const int32_t *token;
    const int32_t *child;
    int32_t closed;
} json_program;

/* Where a value is in its record: from its first byte up to the one behind its last. */
typedef struct {
    uint32_t start;
    uint32_t end;
} json_span;

/* What was found, member by member: the cell of member m in record r is m * count + r. */
typedef struct {
    uint8_t *kinds;    /* enum json_kind; all 0 before the scan */
    json_span *spans;
    int64_t *sizes;    /* per member: the bytes of all of its values; all 0 before the scan */
    uint8_t *status;   /* per record: not 0 where it is handed over */
} json_cells;

/* One member's values as a column; nulls and valid are filled in (valid is an Arrow bitmap, all 0 before). */
typedef struct {
    int64_t member;
    int64_t parent;    /* the member that is the object around it, or -1: the record itself */
    int32_t required;  /* a record with the object around it, and without the member, is handed over */
    uint8_t *valid;
    int64_t nulls;
} json_column;

void json_scan(const json_texts *texts, const json_program *program, json_cells *cells);

void json_gather_integers(const json_texts *texts, json_cells *cells, json_column *column, int32_t width, void *out);
void json_gather_booleans(const json_texts *texts, json_cells *cells, json_column *column, uint8_t *bits);
/* Returns how many numbers are no quick ones; their records' numbers are in slow, and their values are left out. */
int64_t json_gather_doubles(const json_texts *texts, json_cells *cells, json_column *column, double *out,
                            int64_t *slow);
/* Variable lengths: offsets has count + 1 numbers; what does not fit into out is handed over. All return the bytes
 * written. Texts without quotes and escapes; bytes from base64; values as they stand in the record, null included. */
int64_t json_gather_texts(const json_texts *texts, json_cells *cells, json_column *column, int32_t *offsets,
                          uint8_t *out, int64_t room);
int64_t json_gather_base64(const json_texts *texts, json_cells *cells, json_column *column, int32_t *offsets,
                           uint8_t *out, int64_t room);
int64_t json_gather_raw(const json_texts *texts, json_cells *cells, json_column *column, int32_t *offsets,
                        uint8_t *out, int64_t room);
/* Texts of one plain character each. */
void json_gather_letters(const json_texts *texts, json_cells *cells, json_column *column, uint8_t *out);
/* Hands over each record whose value is there and is not this one. */
void json_expect(const json_texts *texts, json_cells *cells, json_column *column, const uint8_t *value, int64_t size);

/* Whether all values of a member, of records that are not handed over, are the same bytes. */
int32_t json_same(const json_texts *texts, const json_cells *cells, int64_t member);
/* Whether all records start with the prefix and, behind it, end with the suffix. */
int32_t json_framed(const json_texts *texts, const uint8_t *prefix, int64_t prefix_size, const uint8_t *suffix,
                    int64_t suffix_size);
