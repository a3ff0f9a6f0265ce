"""What `qindex doctor` looks at before a run costs anything, as far as it is installed here."""

from pathlib import Path

from qindex_pipeline.doctor.finding import Finding
from qindex_pipeline.doctor.query_side import looked_at_query_side
from qindex_pipeline.errors import UsageError
from qindex_pipeline.extras import install_command, is_installed
from qindex_pipeline.profiles import resolve_models
from qindex_pipeline.settings import Settings, unknown_variables

__all__ = ["Finding", "examine"]


def examine(folder: Path) -> list[Finding]:
    """Look at everything that asking and a run need; every line of trouble says what to mend."""
    try:
        settings = Settings.from_env()
        models = resolve_models(settings)
    except UsageError as error:
        return [Finding(False, "settings", str(error))]
    findings = [
        Finding(True, "working folder", str(folder)),
        *(Finding(False, "variable", line) for line in unknown_variables()),
        Finding(True, "models", models.line),
        *looked_at_query_side(settings, models),
    ]
    if not is_installed("pipeline"):
        return [*findings, Finding(True, "pipeline", _NOT_INSTALLED)]
    from qindex_pipeline.doctor.pipeline_side import looked_at_pipeline_side

    return [*findings, *looked_at_pipeline_side(settings, models)]


_NOT_INSTALLED = (
    "not installed: indexes are asked here, not built; "
    f"{install_command('pipeline')} adds what builds them"
)
