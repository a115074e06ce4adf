    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 0) System.err.println("reading test vectors from standard input");
        byte[] text = arguments.length == 0 ? System.in.readAllBytes() : Files.readAllBytes(Path.of(arguments[0]));
        int cases = 0;
        for (String line : new String(text, StandardCharsets.US_ASCII).split("\\R")) {
            if (line.isEmpty() || line.startsWith("#")) continue;
            cases++;
            if (!replay(line)) {
                System.out.println("FAIL case " + cases);
                System.exit(1);
            }
        }
        System.out.println(cases == 0 ? "FAIL no cases" : "PASS " + cases);
        System.exit(cases == 0 ? 1 : 0);
    }
