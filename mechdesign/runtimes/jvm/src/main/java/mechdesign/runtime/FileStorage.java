package mechdesign.runtime;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;

/**
 * A state in a file, locked through a file beside it until it is closed. It is written beside,
 * confirmed by the disk and renamed, so at every moment the file holds one state or the other. On
 * Android name one in {@code noBackupFilesDir}.
 */
public final class FileStorage implements Storage, AutoCloseable {
  /**
   * The lock files that this process has locked. The second one to open one must not even open it:
   * closed again, it would take the lock of the first along, as systems count locks by process.
   */
  private static final Set<Path> HELD = new HashSet<>();

  private final Path path, locked;
  private final FileChannel lock;

  /** The file is the only one's that has it open: to others it is {@link StateRefused}, busy. */
  public FileStorage(Path path) throws IOException {
    this.path = path.toAbsolutePath();
    synchronized (HELD) {
      Path file = beside(".lock");
      try {
        Files.createFile(file);
      } catch (FileAlreadyExistsException there) {
        // as it was left, or as another process made it
      }
      locked = file.toRealPath();
      if (!HELD.add(locked)) throw new StateRefused("busy");
      try {
        lock = lock(locked);
      } catch (Throwable refused) {
        HELD.remove(locked);
        throw refused;
      }
    }
  }

  private static FileChannel lock(Path file) throws IOException {
    FileChannel lock = FileChannel.open(file, StandardOpenOption.WRITE);
    try {
      if (lock.tryLock() != null) return lock;
    } catch (OverlappingFileLockException twice) {
      // other classes of this process have it
    }
    lock.close();
    throw new StateRefused("busy");
  }

  private Path beside(String ending) {
    return path.resolveSibling(path.getFileName() + ending);
  }

  @Override
  public byte[] load() throws IOException {
    requireLock();
    return Files.exists(path) ? Files.readAllBytes(path) : null;
  }

  @Override
  public void store(byte[] content) throws IOException {
    requireLock();
    Path next = beside(".new");
    EnumSet<StandardOpenOption> options =
        EnumSet.of(
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING);
    try (FileChannel out = FileChannel.open(next, options, own())) {
      ByteBuffer left = ByteBuffer.wrap(content);
      while (left.hasRemaining()) {
        out.write(left);
      }
      out.force(true);
    }
    Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    if (File.separatorChar == '\\') return;
    try (FileChannel folder = FileChannel.open(path.getParent(), StandardOpenOption.READ)) {
      folder.force(true); // so that a power cut does not undo the rename
    }
  }

  /** What nobody else may read. */
  private FileAttribute<?>[] own() {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        }
        : new FileAttribute<?>[0];
  }

  private void requireLock() {
    if (!lock.isOpen()) throw new StateRefused("busy");
  }

  @Override
  public void close() throws IOException {
    synchronized (HELD) {
      if (!lock.isOpen()) return;
      lock.close();
      HELD.remove(locked);
    }
  }
}
