    private static byte[] bytesOf(String text) {
        if (text.equals("-")) return null;
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        return bytes;
    }

    private static boolean replay(String line) throws IOException {
        String[] fields = line.split(" ");
        String[] stored = {"-"};
        @name@.Storage storage = new @name@.Storage() {
            @Override
            public byte[] load() {
                return bytesOf(fields[1]);
            }

            @Override
            public void store(byte[] content) {
                StringBuilder text = new StringBuilder();
                for (byte b : content) text.append(String.format("%02x", b));
                stored[0] = text.toString();
            }
        };
        int period = Integer.parseInt(fields[2]), least = Integer.parseInt(fields[3]);
        byte[] stream = bytesOf(fields[6]);
        int[] position = {0};
        String said = "done";
        try {
            if (fields[0].equals("create")) {
                @name@.create(storage, period, Integer.parseInt(fields[4]), least);
            } else {
// @if items
                int x = Integer.parseInt(fields[5]);
                byte[] y = @name@.@core@(storage, x, period, least, bytes -> {
                    for (int i = 0; i < bytes.length; i++) bytes[i] = stream[position[0]++];
                });
                StringBuilder text = new StringBuilder();
                for (byte b : y) text.append(String.format("%02x", b));
                said = text.toString();
// @else
                double x = Double.longBitsToDouble(Long.parseUnsignedLong(fields[5], 16));
                double y = @name@.@core@(storage, x, period, least, bytes -> {
                    for (int i = 0; i < bytes.length; i++) bytes[i] = stream[position[0]++];
                });
                said = String.format("%016x", Double.doubleToRawLongBits(y));
// @end
                if (position[0] != Integer.parseInt(fields[7])) return false;
            }
        } catch (@name@.StateRefused refused) {
            said = refused.reason;
        } catch (IllegalArgumentException error) {
            said = "input";
        }
        return said.equals(fields[8]) && stored[0].equals(fields[9]);
    }
