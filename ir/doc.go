package ir

type Module struct{}
