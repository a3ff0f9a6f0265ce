"""A model on loopback that takes its time: OpenAI's chat completions, one answer for all.

python benchmarks/asking_server.py PORT SECONDS
"""

import asyncio
import json
import sys

_ANSWER = {
    "questions": [
        {"question": f"How is setting {n} changed?", "evidence": "The settings"} for n in range(4)
    ]
}
_REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 0,
    "model": "gpt-4o-mini",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": json.dumps(_ANSWER)},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 900, "completion_tokens": 120, "total_tokens": 1020},
}
_BODY = json.dumps(_REPLY).encode()
_HEAD = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(_BODY)}\r\n\r\n"


def main() -> None:
    """Serve until the process is ended."""
    port, seconds = int(sys.argv[1]), float(sys.argv[2])
    asyncio.run(_serve(port, seconds))


async def _serve(port: int, seconds: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length))
                await asyncio.sleep(seconds)
                writer.write(_HEAD.encode() + _BODY)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    main()
