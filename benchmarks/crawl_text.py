"""Made-up documentation from a seed: prose and code samples that differ from page to page.

What stands here knows no generator; `crawl_dialects` writes it down in each one's syntax.
"""

from dataclasses import dataclass
from random import Random

_NOUNS = (
    "worker queue snapshot cursor ledger gateway session bucket token shard replica schema "
    "pipeline checkpoint listener manifest adapter registry tenant quota lease digest channel "
    "partition index buffer policy resolver vault broker"
).split()
_VERBS = (
    "opens closes copies retries signs drains merges rotates verifies splits publishes restores "
    "compacts throttles audits mirrors validates archives"
).split()
_ADJECTIVES = (
    "idle local remote signed stale nested shared empty durable partial ordered cached primary "
    "secondary encrypted temporary"
).split()
_CLAUSES = (
    "before the next commit",
    "when the timeout has passed",
    "unless a replica is behind",
    "as soon as both sides agree",
    "while nobody holds the lock",
    "on every second heartbeat",
    "after a clean shutdown",
    "even if the disk is full",
)
_TEMPLATES = (
    "The {a} {n} {v} the {a2} {n2} {c}.",
    "Each {n} {v} its own {n2}, so a {a} {n3} never waits for more than {k} seconds.",
    "If a {n} is {a}, the {n2} {v} it {c}.",
    "Set `{s}` to {k} and the {n} {v} every {a} {n2}.",
    "A **{a} {n}** {v} its {n2} {c}; the *{a2}* {n3} stays as it was.",
    "Use `{n}.{s}()` where the {n2} is {a}, and `{s}=None` where it is {a2}.",
    "In the café example, {k} {a} {n}s share one {n2} – that is the limit.",
)


@dataclass(frozen=True)
class Sample:
    """A code sample: its language as fences name it, a file name, and the code."""

    language: str
    file: str
    code: str


class Author:
    """Writes words, sentences and code; the same seed writes the same."""

    def __init__(self, seed: str) -> None:
        """Begin with a seed."""
        self.random = Random(seed)

    def noun(self) -> str:
        """A thing of the made-up product."""
        return self.random.choice(_NOUNS)

    def name(self) -> str:
        """An identifier."""
        return f"{self.random.choice(_ADJECTIVES)}_{self.noun()}"

    def title(self) -> str:
        """A heading."""
        verb = self.random.choice(("Opening", "Tuning", "Sharing", "Moving", "Reading", "Testing"))
        return f"{verb} a {self.random.choice(_ADJECTIVES)} {self.noun()}"

    def sentence(self) -> str:
        """A sentence in which markdown's inline markup may occur."""
        pick = self.random.choice
        return pick(_TEMPLATES).format(
            n=pick(_NOUNS),
            n2=pick(_NOUNS),
            n3=pick(_NOUNS),
            a=pick(_ADJECTIVES),
            a2=pick(_ADJECTIVES),
            v=pick(_VERBS),
            c=pick(_CLAUSES),
            s=self.name(),
            k=self.random.randint(2, 900),
        )

    def paragraph(self) -> str:
        """Two to five sentences."""
        return " ".join(self.sentence() for _ in range(self.random.randint(2, 5)))

    def sample(self, language: str | None = None) -> Sample:
        """A code sample with names of its own."""
        file, code = SAMPLES[language] if language else ("", "")
        if language is None:
            language = self.random.choice(list(SAMPLES))
            file, code = SAMPLES[language]
        values = {"@A": self.name(), "@B": self.name(), "@N": self.noun()}
        values["@K"] = str(self.random.randint(2, 900))
        for mark, value in values.items():
            code, file = code.replace(mark, value), file.replace(mark, value)
        return Sample(language, file, code)


SAMPLES = {
    "python": (
        "@N.py",
        '''from dataclasses import dataclass


@dataclass
class @N_config:
    """Settings of a <@N>."""

    @A: int = @K

    def @B(self, limit: float | None = None) -> list[str]:
        # Not a heading: the limit counts in seconds.
        if limit is not None and limit < @K:
            return [f"{self.@A!r} & {limit:>8.2f}"]

        return []''',
    ),
    "bash": (
        "install-@N.sh",
        """#!/usr/bin/env bash
# Install the @N first
set -euo pipefail

for node in alpha beta; do
    @N-ctl --node "$node" \\
        --limit @K \\
        set @A="${@B:-none}" > /dev/null 2>&1
done""",
    ),
    "yaml": (
        ".github/workflows/@N.yml",
        """on: push
jobs:
  @N:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: |
          make @N

          echo "${{ secrets.@A }}" | tee @B.txt
        env:
          LIMIT: @K""",
    ),
    "json": (
        "@N.json",
        """{
  "@A": {
    "kind": "@N",
    "limits": [1, @K, null],
    "@B": {"enabled": true}
  }
}""",
    ),
    "html": (
        "@N.html",
        """<!-- a @N in a page -->
<div class="@A" data-limit="@K">
  <p>Tom &amp; Jerry say &lt;hi&gt;</p>

  <script>
    if (a < b && b > c) { @B(); }
  </script>
</div>""",
    ),
    "ts": (
        "@N.ts",
        """import { @N, type Options } from './@N'

export async function @A<T extends object>(options: Options<T>): Promise<Map<string, T>> {
  const { limit = @K } = options

  return new Map(Object.entries(await @N(limit))) // never null
}

const pattern = /^[a-z]+\\\\s*$/`@B ${pattern}`""",
    ),
    "jsx": (
        "@N.jsx",
        """export default function @N_view({ items }) {
  return (
    <>
      {items.map((item) => (
        <li key={item.id} className="@A">{item.@B ?? @K}</li>
      ))}
    </>
  )
}""",
    ),
    "diff": (
        "@N.diff",
        """--- a/@N.toml
+++ b/@N.toml
@@ -1,3 +1,4 @@
 [@N]
-@A = 1
+@A = @K
+@B = true""",
    ),
    "c": (
        "@N.c",
        """#include <stdio.h>

int @A(char **argv)
{
    for (int i = 0; i < @K; i++) {
        if (argv[i][0] == '\\0')
            return -1;

        printf("%s -> %p\\n", argv[i], (void *)&argv[i]);
    }
    return 0;   /* @B */
}""",
    ),
    "sql": (
        "@N.sql",
        """SELECT @A, count(*) AS n
  FROM @N
 WHERE @B >= @K
   AND note NOT LIKE '%<none>%'
 GROUP BY 1
HAVING count(*) > 1;   -- the @N's own limit""",
    ),
    "markdown": (
        "@N.md",
        """# A @N of your own

Write it like this:

```python
@A = @K
```

- and list
    - what it holds""",
    ),
    "text": (
        "@N.log",
        """12:00:01  @N   started            limit=@K
12:00:02  @N   | @A   -> ok
               | @B   -> failed

12:00:09  @N   stopped""",
    ),
}
