/* Reads Avro datums of one writer schema, without an object per datum or value.
 *
 * avro_scan walks each datum once and notes what the schema's values are, or where; the functions below it then make
 * columns of that. What is no datum of the schema (one that ends elsewhere than its bytes do, a number that is longer
 * or larger than its type, a branch or symbol that does not exist, a text that is no UTF-8) gets a status other than 0,
 * and is looked at elsewhere, by avro_check.py, which has the same rules and says what is wrong.
 *
 * Datums come from outside: nothing is read beyond a datum's end, and nothing recurses deeper than the schema. What it
 * says is of Avro 1.11's specification, "Binary Encoding". This header holds declarations only; cffi reads it too.
 */

enum avro_type {
    AVRO_NULL,
    AVRO_BOOLEAN,
    AVRO_INT,
    AVRO_LONG,
    AVRO_FLOAT,
    AVRO_DOUBLE,
    AVRO_BYTES,
    AVRO_STRING,
    AVRO_FIXED,
    AVRO_ENUM,
    AVRO_RECORD,
    AVRO_ARRAY,
    AVRO_MAP,
    AVRO_UNION
};

/* Datums within one buffer, each shorter than 4 GiB. */
typedef struct {
    const uint8_t *content;
    int64_t size;
    const int64_t *starts;
    const int64_t *ends;
    int64_t count;
} avro_datums;

/* A type of the writer schema, written out without references. */
typedef struct {
    int32_t type;
    int32_t cell;   /* where what it holds goes, or -1 */
    int32_t first;  /* its children are child[first] to child[behind - 1] of the program: */
    int32_t behind; /* a record's fields, a union's branches, the items of an array or a map */
    int64_t size;   /* of a fixed in bytes; how many symbols an enum has */
} avro_node;

/* The writer schema: node 0 is the datum, and child has numbers of nodes, each higher than its parent's. */
typedef struct {
    const avro_node *nodes;
    const int32_t *child;
} avro_program;

/* What was found, cell by cell: that of cell c in datum d is at c * count + d. */
typedef struct {
    uint8_t *there;    /* 1 where the datum has the value; all 0 before the scan */
    uint64_t *values;  /* a boolean, an int, a long or an enum's number; a float's or a double's bits; of all others
                        * where it is in its datum: the first byte in the lower half, the one behind the last above */
    int64_t *sizes;    /* per cell: the bytes of all values that are somewhere; all 0 before the scan */
    uint8_t *status;   /* per datum: not 0 where it is none */
} avro_cells;

/* Returns how many datums have a status other than 0; what cells hold of these is void. */
int64_t avro_scan(const avro_datums *datums, const avro_program *program, avro_cells *cells);

/* What is at the places of a cell's values, one after the other, none where there is no value: offsets has count + 1
 * numbers, out as many bytes as the cell's size says. No datum may have a status other than 0. */
void avro_gather(const avro_datums *datums, const avro_cells *cells, int64_t cell, int32_t *offsets, uint8_t *out);

/* Whether the same bytes are at all places of a cell's values, which all datums have. */
int32_t avro_same(const avro_datums *datums, const avro_cells *cells, int64_t cell);
