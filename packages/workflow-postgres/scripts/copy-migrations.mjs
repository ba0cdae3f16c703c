// Ships the SQL with the package, for people who run it by hand.
import { cp, rm } from 'node:fs/promises'

const target = new URL('../migrations/', import.meta.url)
await rm(target, { recursive: true, force: true })
await cp(new URL('../../../migrations/', import.meta.url), target, { recursive: true })
