"""What a session may do next, decided in code and never by prompt text (assistant safety)."""
