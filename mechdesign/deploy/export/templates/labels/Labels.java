// @if input_labels
    /** The input labels. */
    public static final java.util.List<String> INPUT_LABELS = inputLabels();

    private static java.util.List<String> inputLabels() {
        return labels(
@input_texts@);
    }

    private static final java.util.Map<String, Integer> PLACES = places();

    private static java.util.Map<String, Integer> places() {
        java.util.Map<String, Integer> found = new java.util.HashMap<>();
        for (String label : INPUT_LABELS) found.put(label, found.size());
        return found;
    }

    /** The place of an input label; what is none is an IllegalArgumentException. */
    static int placeOf(String x) {
        Integer place = PLACES.get(x);
        if (place == null) throw new IllegalArgumentException("the input must be one of INPUT_LABELS");
        return place;
    }

// @end
// @if output_labels
    /** The output labels. */
    public static final java.util.List<String> OUTPUT_LABELS = outputLabels();

    private static java.util.List<String> outputLabels() {
        return labels(
@output_texts@);
    }

// @end
// @if labels
    // one text with a label a line: no label holds a control character, and code that fills an array may be too long
    private static java.util.List<String> labels(String... texts) {
        return java.util.List.of(String.join("", texts).split("\n"));
    }

// @end
