module github.com/hlocb/hlocb

go 1.26
