package interp

// grid is how many devices a program runs on.
type grid struct{ replicas, partitions int }

type hostState struct{}
