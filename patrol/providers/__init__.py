"""Who answers a turn: a model behind an OpenAI-compatible server, or a scripted control."""
