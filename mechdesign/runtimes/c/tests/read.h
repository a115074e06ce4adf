/* Files for tests. */
#include "mechdesign.h"

#include <stdio.h>
#include <stdlib.h>

static char *text_of(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        text = (char *)malloc((size_t)size + 1);
        *length = text == NULL ? 0 : fread(text, 1, (size_t)size, file);
    }
    if (text == NULL) {
        perror(path);
        exit(2);
    }
    text[*length] = '\0';
    fclose(file);
    return text;
}

static mdp_table *table_of(const char *path) {
    size_t length = 0;
    char *text = text_of(path, &length);
    mdp_table *table = NULL;
    int outcome = mdp_table_read(text, length, &table);
    free(text);
    if (outcome == MDP_OK) return table;
    printf("FAIL %s: outcome %d\n", path, outcome);
    exit(2);
}
