"""The WordPiece tokenizer of BERT (uncased, English), which this package carries for MiniLM.

Many embedding models were made from that BERT and kept its vocabulary, so the same file counts
their tokens too.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from qindex_pipeline.embedding.checksums import verify

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FOLDER = Path(__file__).parent / "minilm"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def wordpiece(folder: Path = FOLDER) -> "Tokenizer":
    """The tokenizer in `folder`, which neither truncates nor pads.

    Raises WorkError when its file is missing or damaged.
    """
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    verify(file, TOKENIZER_SHA256, "reinstall qindex_pipeline")
    tokenizer = Tokenizer.from_file(str(file))
    # The file truncates at 128 and pads by itself: both would hide words silently.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
