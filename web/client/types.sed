# Makes one file of index.d.ts and what it takes from `generated`.
/^import type .*generated/d
/^export \* from .*generated/{
r generated/protocol.d.ts
d
}
