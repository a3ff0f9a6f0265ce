"""The index for programs and people: MCP tools, and a page to ask on."""
