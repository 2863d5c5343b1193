package backends

// Property is one line of what a backend tells of itself.
type Property struct{ Name, Value string }
