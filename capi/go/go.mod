module berth.dev/berth

go 1.21
