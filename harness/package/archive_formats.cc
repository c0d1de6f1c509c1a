// The formats of libarchive that rharness does not write: where it is linked as an archive.
//
// Role: libarchive's list of formats names every one, and an archive of it would bring them all,
// with the ciphers and compressors of zip, xar and 7zip. rharness asks for pax by name, never for
// these.
struct archive;

#define RHARNESS_NO_FORMAT(name)                                 \
  extern "C" int archive_write_set_format_##name(archive*) {     \
    constexpr int kFatal = -30; /* ARCHIVE_FATAL of archive.h */ \
    return kFatal;                                               \
  }
RHARNESS_NO_FORMAT(7zip)
RHARNESS_NO_FORMAT(cpio)
RHARNESS_NO_FORMAT(cpio_bin)
RHARNESS_NO_FORMAT(cpio_newc)
RHARNESS_NO_FORMAT(cpio_odc)
RHARNESS_NO_FORMAT(cpio_pwb)
RHARNESS_NO_FORMAT(gnutar)
RHARNESS_NO_FORMAT(iso9660)
RHARNESS_NO_FORMAT(mtree)
RHARNESS_NO_FORMAT(raw)
RHARNESS_NO_FORMAT(shar)
RHARNESS_NO_FORMAT(shar_dump)
RHARNESS_NO_FORMAT(warc)
RHARNESS_NO_FORMAT(xar)
RHARNESS_NO_FORMAT(zip)
