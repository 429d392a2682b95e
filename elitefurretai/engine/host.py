"""The Node host as a process: started, spoken to in frames, watched, ended.

In: command frames. Out: update frames, in the order of the commands. What the host prints on stderr is drained by a
thread into a short memory and becomes part of the error when something goes wrong.

The shaping decision: one thread writes and reads through ``poll``, so that a frame can be sent while the reply to
an earlier one is still filling the pipe. A blocking write could wait for a host that waits for us to read.
A dead host is noticed at once (its pipe closes); a hung one when a reply takes longer than ``timeout``.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from elitefurretai.engine.errors import HostDiedError, HostHungError, NodeMissingError
from elitefurretai.engine.frames import LENGTH, Update, decode_frame, encode_frame
from elitefurretai.engine.install import ensure_showdown, verify_showdown
from elitefurretai.engine.node import node_binary

HOST_SCRIPT = Path(__file__).parent / "host" / "main.js"
PROTOCOL = 1

# Measured with 16 battles at once: 24 MB of young generation, 6.7 ms of CPU a battle and 177 MB in all; 16 MB, 6.9 ms
# and 155 MB; 8 MB, 7.5 ms and 140 MB. The old generation needs 50 MB; its limit only stops a leak.
BATTLE_HEAP_FLAGS = ("--max-semi-space-size=24", "--max-old-space-size=256")

_READ_BYTES = 1 << 18
_STDERR_LINES = 40
_CLOSE_SECONDS = 2.0


@dataclass(frozen=True)
class HostOptions:
    """How a host loads Showdown."""

    fast: bool
    """Patch Showdown's event dispatch in memory; logs stay byte-identical."""
    lean: bool = True
    """Leave out learnsets and descriptions: no battle needs them, team validation does."""
    workshop: bool = False
    """Answer team and format questions (needs ``lean=False``)."""


def fast_path_wanted() -> bool:
    """``ELITEFURRETAI_FAST_SIM=0`` turns the fast path off."""
    return os.environ.get("ELITEFURRETAI_FAST_SIM", "1") != "0"


class Host:
    """One Node process. ``start`` and ``close`` bound its life; a closed or dead host can be started again."""

    def __init__(self, options: HostOptions, timeout: float = 60.0) -> None:
        self.options = options
        self.timeout = timeout
        self.warnings: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._drain: threading.Thread | None = None
        self._inbox = bytearray()
        self._reading = select.poll()
        self._both = select.poll()
        self._sent = 0
        self._received = 0

    @property
    def pid(self) -> int:
        """Process id of the running host."""
        return self._running().pid

    @property
    def is_running(self) -> bool:
        """Whether the process exists and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def outstanding(self) -> int:
        """Frames sent whose reply has not been received."""
        return self._sent - self._received

    def start(self) -> None:
        """Start the process and wait until it says hello."""
        if self.is_running:
            return
        self.close()
        showdown = ensure_showdown()
        flags = BATTLE_HEAP_FLAGS if self.options.lean else ()
        command = [
            str(node_binary()),
            *flags,
            str(HOST_SCRIPT),
            str(showdown),
            json.dumps(vars(self.options)),
        ]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
            )
        except OSError as error:
            raise NodeMissingError(f"{command[0]} cannot be started ({error.strerror}); is it a Node.js?") from error
        self._stderr.clear()
        self._inbox.clear()
        self._sent = self._received = 0
        assert self._process.stdin is not None and self._process.stdout is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        os.set_blocking(self._process.stdout.fileno(), False)
        self._reading = select.poll()
        self._reading.register(self._process.stdout, select.POLLIN)
        self._both = select.poll()
        self._both.register(self._process.stdout, select.POLLIN)
        self._both.register(self._process.stdin, select.POLLOUT)
        self._drain = threading.Thread(target=self._drain_stderr, name="showdown-host-stderr", daemon=True)
        self._drain.start()
        try:
            _, (hello,) = decode_frame(self._read_frame())
        except HostDiedError:
            self.close()
            verify_showdown(showdown)  # damaged files are the likely cause, and have a way out of their own
            raise
        greeting = json.loads(hello.extra)["result"]
        if greeting["protocol"] != PROTOCOL:
            raise RuntimeError(f"the host speaks protocol {greeting['protocol']}, this client {PROTOCOL}")
        self.warnings = greeting["warnings"]

    def send(self, commands: list[bytes]) -> None:
        """Send one frame; its reply is the next ``receive`` that is not taken by an earlier frame."""
        self._sent += 1
        pending = memoryview(encode_frame(self._sent, commands))
        process = self._running()
        assert process.stdin is not None
        deadline = time.monotonic() + self.timeout
        while pending:
            if self._wait(self._both, deadline):
                self._fill_inbox()
            try:
                pending = pending[os.write(process.stdin.fileno(), pending) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._died() from None

    def receive(self) -> list[Update]:
        """The reply to the oldest frame that has none yet."""
        if not self.outstanding:
            raise RuntimeError("receive() without a frame sent")
        sequence, updates = decode_frame(self._read_frame())
        self._received += 1
        if sequence != self._received:
            raise RuntimeError(f"reply {sequence} came where {self._received} was due")
        return updates

    def close(self) -> None:
        """End the process, by closing its input and, if that is not enough, by force."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        # A host that is blocked on a full pipe sees this end too: its output has nowhere to go.
        process.stdout.close()
        try:
            process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._drain is not None:
            self._drain.join(_CLOSE_SECONDS)
        process.stderr.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the Showdown host is not running; call start() first")
        return self._process

    def _read_frame(self) -> bytes:
        deadline = time.monotonic() + self.timeout
        while True:
            if len(self._inbox) >= LENGTH.size:
                (length,) = LENGTH.unpack_from(self._inbox)
                end = LENGTH.size + length
                if len(self._inbox) >= end:
                    frame = bytes(memoryview(self._inbox)[LENGTH.size : end])
                    del self._inbox[:end]
                    return frame
            if self._wait(self._reading, deadline):
                self._fill_inbox()

    def _wait(self, poll: select.poll, deadline: float) -> bool:
        """Wait until a pipe is ready; whether it is the one to read from."""
        process = self._running()
        assert process.stdout is not None
        ready = poll.poll(max(deadline - time.monotonic(), 0.0) * 1000)
        if not ready:
            raise HostHungError(self.timeout, self._last_words())
        return any(fd == process.stdout.fileno() for fd, _ in ready)

    def _fill_inbox(self) -> None:
        process = self._running()
        assert process.stdout is not None
        try:
            data = os.read(process.stdout.fileno(), _READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            raise self._died()
        self._inbox += data

    def _died(self) -> HostDiedError:
        process = self._running()
        try:
            code: int | None = process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        if self._drain is not None:
            self._drain.join(_CLOSE_SECONDS)
        return HostDiedError(code, self._last_words())

    def _last_words(self) -> str:
        return "\n".join(self._stderr)

    def _drain_stderr(self) -> None:
        process = self._process
        if process is None or process.stderr is None:
            return
        for line in process.stderr:
            self._stderr.append(line.decode(errors="replace").rstrip())
