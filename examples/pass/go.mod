module example.com/tally

go 1.26.0
