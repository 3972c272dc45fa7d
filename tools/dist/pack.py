"""A release as a tar archive, the same bytes for the same files: names sorted, owners, times and modes ours."""

import gzip
import hashlib
import io
import tarfile


class Release:
    """Files by their path in the archive; everything lies in one folder."""

    def __init__(self, folder, when):
        self.folder = folder
        self.when = when
        self.files = {}  # path: (bytes, executable)
        self.links = {}  # path: target

    def add(self, path, content, executable=False):
        if path in self.files or path in self.links:
            raise ValueError(f"{path} is there twice")
        if isinstance(content, str):
            content = content.encode()
        self.files[path] = (content, executable)

    def add_link(self, path, target):
        self.links[path] = target

    def checksums(self):
        """As sha256sum writes and checks them."""
        return "".join(f"{hashlib.sha256(content).hexdigest()}  {path}\n"
                       for path, (content, _) in sorted(self.files.items()))

    def _entry(self, path):
        entry = tarfile.TarInfo(f"{self.folder}/{path}")
        entry.mtime = self.when
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        return entry

    def tar(self):
        files = dict(self.files)
        files["SHA256SUMS"] = (self.checksums().encode(), False)
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in sorted(files.keys() | self.links.keys()):
                entry = self._entry(path)
                if path in self.links:
                    entry.type = tarfile.SYMTYPE
                    entry.linkname = self.links[path]
                    archive.addfile(entry)
                    continue
                content, executable = files[path]
                entry.size = len(content)
                entry.mode = 0o755 if executable else 0o644
                archive.addfile(entry, io.BytesIO(content))
        return out.getvalue()

    def tar_gz(self):
        out = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=self.when, compresslevel=9) as packed:
            packed.write(self.tar())
        return out.getvalue()
