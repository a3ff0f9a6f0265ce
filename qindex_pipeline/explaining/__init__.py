"""Why a question found what it found, and what stands behind a page."""
