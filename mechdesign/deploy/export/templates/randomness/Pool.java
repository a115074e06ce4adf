    private static final ThreadLocal<Pool> POOL = ThreadLocal.withInitial(Pool::new);

    /** Random bytes that are not used yet: the last so many of a block. */
    private static final class Pool {
        private static SecureRandom system;
        private final byte[] block = new byte[4096];
        private int left = 0;

        void take(byte[] bytes) {
            for (int done = 0, part; done < bytes.length; done += part) {
                if (left == 0) {
                    read(block);
                    left = block.length;
                }
                part = Math.min(bytes.length - done, left);
                int start = block.length - left;
                left -= part;
                System.arraycopy(block, start, bytes, done, part);
                java.util.Arrays.fill(block, start, start + part, (byte) 0);
            }
        }

        private static synchronized void read(byte[] block) {
            try {
                if (system == null) system = new SecureRandom();
                system.nextBytes(block);
            } catch (RuntimeException | InternalError failure) {
                throw new NoRandomness(failure);
            }
        }
    }
