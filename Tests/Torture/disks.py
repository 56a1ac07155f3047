"""File systems on images in memory, whose power can be cut: what they have not written then is gone."""
import ctypes
import os
import shutil
import signal
import subprocess
import sys

import torture

# The program that makes a file system, its words, and the size of an image. It has holes; btrfs needs room for each sync.
KINDS = {
    "ext4": (["mkfs.ext4", "-q"], 256 << 20),
    "xfs": (["mkfs.xfs", "-q"], 512 << 20),
    "btrfs": (["mkfs.btrfs", "-q", "-f"], 512 << 20),
}
# A kernel may write the image while it is copied.
MOST_COPIES = 50
# From sched.h.
CLONE_NEWNS = 0x20000


def prepare():
    """Hides what this process mounts from all others; returns the file systems that it can make, or ends it.

    A copy of a mount, in the name space of somebody else, would keep the file system mounted.
    """
    found = [kind for kind, (words, _) in KINDS.items() if shutil.which(words[0])]
    for kind in KINDS.keys() - found:
        print(f"{kind}: left out, there is no {KINDS[kind][0][0]}", flush=True)
    if os.geteuid() or not os.path.exists("/dev/loop-control") or not found:
        sys.exit("cuts: file systems can be mounted by root only, with loop devices and e2fsprogs, xfsprogs or btrfs-progs")
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    return found


class MountedSpace(torture.Space):
    """A space with its state on a file system of its own."""

    def __init__(self, kind):
        super().__init__(in_memory=True)
        words, size = KINDS[kind]
        self.image, self.copy, self.place = self / "image", self / "copy", self / "disk"
        with open(self.image, "wb") as file:
            file.truncate(size)
        subprocess.run([*words, self.image], check=True)
        os.mkdir(self.place)
        self.mount()

    @property
    def state(self):
        return os.path.join(self.place, "state")

    def mount(self):
        subprocess.run(["mount", "-o", "loop", self.image, self.place], check=True)

    def unmount(self):
        subprocess.run(["umount", self.place], check=True)

    def cut(self, navd):
        """Cuts the power of the disk and of navd at one moment; returns false if navd had ended by itself.

        All threads stand still before the image is copied. So navd has acknowledged nothing that the copy need not have.
        """
        os.kill(navd.process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, navd.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        self.copy_image()
        is_killed = navd.kill()
        self.unmount()
        os.replace(self.copy, self.image)
        self.mount()
        return is_killed

    def copy_image(self):
        """Copies the image as it was at one moment."""
        for _ in range(MOST_COPIES):
            subprocess.run(["cp", "--sparse=always", self.image, self.copy], check=True)
            if not subprocess.run(["cmp", "-s", self.image, self.copy], check=False).returncode:
                return
        raise torture.Silence(f"the kernel has not left the image alone for {MOST_COPIES} copies")

    def remove(self):
        self.unmount()
        super().remove()
