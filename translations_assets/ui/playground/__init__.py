"""A page that translates with an exported model in the engine that browsers ship (WebAssembly)."""
