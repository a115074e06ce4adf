int main(int count, char **arguments) {
    FILE *vectors = stdin;
    long cases = 0;
    if (count > 1) vectors = fopen(arguments[1], "r");
    else fputs("reading test vectors from standard input\n", stderr);
    if (!vectors) {
        perror(arguments[1]);
        return 2;
    }
    while (fgets(line, sizeof line, vectors)) {
        if (line[0] == '#' || line[0] == '\n') continue;
        cases++;
        if (!replay()) {
            printf("FAIL case %ld\n", cases);
            return 1;
        }
    }
    if (cases == 0) printf("FAIL no cases\n");
    else printf("PASS %ld\n", cases);
    return cases == 0;
}
