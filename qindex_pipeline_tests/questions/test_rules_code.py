"""Which shell lines install a package."""

import pytest

from qindex_pipeline.questions.generators.rule_set.code import installed_package


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("npm install structured-table", "structured-table"),
        ("$ npm i -D @acme/core@2", "@acme/core"),
        ("pnpm add acme", "acme"),
        ("yarn add --dev acme", "acme"),
        ("pip install 'acme>=2'", "acme"),
        ("python3 -m pip install acme[extra]", "acme"),
        ("sudo apt-get install -y acme-doc", "acme-doc"),
        ("go install example.org/acme@latest", "example.org/acme"),
        ("docker pull acme/core:1.2", "acme/core"),
        ("npm install", None),
        ("pip install -r", None),
        ("git add file.txt", None),
        ("echo npm install acme", None),
    ],
)
def test_install_commands_name_their_package(line, package):
    assert installed_package(line) == package
