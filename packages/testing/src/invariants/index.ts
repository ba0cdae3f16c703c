export { assertInvariants, checkInvariants, type Violation } from './check.ts'
export { type Dump, type QueueDump, type RunDump, readDump, type WorkerDump } from './dump.ts'
