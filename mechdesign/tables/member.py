"""A process that takes part in a run with others: started by `processes`, it runs one program, a party's or a server's.

It imports nothing of this package, so that it starts quickly. The task comes as one line of JSON on stdin, what happens
leaves as lines of JSON on stdout; messages travel over mpyc, on loopback. The process ends when its stdin does: nobody
waits for it any more.
"""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import sys
import threading
from typing import Any

LEFT = 3
"""How a process exits that others, or its caller, have left."""


def main() -> None:
    """Read the task, take part, say what happens."""
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_with_the_caller, daemon=True).start()
    addresses = [part for port in task["ports"] for part in ("-P", f"127.0.0.1:{port}")]
    sys.argv = ["member", *addresses, "-I", str(task["index"]), "-T", str(task["threshold"]), "--no-log"]
    from mpyc.runtime import mpc

    mpc.run(take_part(mpc, runpy.run_path(task["program"])["member"](mpc, task, say)))


def say(**news: Any) -> None:
    """One line for whoever started this process."""
    sys.stdout.write(json.dumps(news) + "\n")
    sys.stdout.flush()


async def take_part(network: Any, member: Any) -> None:
    """The whole run of one process."""
    state = {"is_over": False}
    _listen_on_loopback_only()
    _notice_who_leaves(state)
    await network.start()
    say(stage="connected")
    await member.take_part()
    state["is_over"] = True
    await network.shutdown()
    say(stage="finished")


def _leave_with_the_caller() -> None:
    """End this process at once when stdin ends: whoever started it holds it open and is gone."""
    while sys.stdin.read(1):
        pass
    os._exit(LEFT)


def _listen_on_loopback_only() -> None:
    loop = asyncio.get_running_loop()
    create = loop.create_server

    def listen(factory: Any, *, port: int, ssl: Any) -> Any:
        return create(factory, host="127.0.0.1", port=port, ssl=ssl)

    loop.create_server = listen  # type: ignore[method-assign, assignment]


def _notice_who_leaves(state: dict[str, bool]) -> None:
    """A connection that closes before the end stops this process at once, without opening or telling anything."""
    from mpyc import asyncoro

    goodbye = asyncoro.MessageExchanger.connection_lost

    def connection_lost(exchanger: Any, reason: Exception | None) -> None:
        if state["is_over"]:
            goodbye(exchanger, None)
            return
        say(failed="a party left", party=exchanger.peer_pid)
        os._exit(LEFT)

    asyncoro.MessageExchanger.connection_lost = connection_lost


if __name__ == "__main__":
    main()
