"""Where records live, and how they become arrays of public codes."""
