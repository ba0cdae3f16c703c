import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Bench } from '../../bench.ts'
import { STEPS_PER_RUN } from './history.ts'

const GIB = 1024 ** 3

// Tables and indexes of a finished run and of each of its step rows, with the free space that the tables leave on each page.
const BYTES_PER_RUN = 500
const BYTES_PER_STEP = 400
/** What a continuously fed worker adds to the tables while nothing can be vacuumed. */
const HELD_BYTES_PER_SECOND = 40 * 1024 ** 2
/** The largest size of the write-ahead log, and a safety margin. */
const SPARE_BYTES = 6 * GIB

export function historyBytes({ historyRuns }: Bench): number {
  return historyRuns * (BYTES_PER_RUN + STEPS_PER_RUN * BYTES_PER_STEP)
}

export function heldBytes({ holdMs }: Bench): number {
  return (holdMs / 1_000) * HELD_BYTES_PER_SECOND
}

/** Throws if the disk of our own server is too small; another server's disk cannot be checked. */
export async function checkSpace(bench: Bench, what: string, bytes: number): Promise<void> {
  if (!bench.server.isOwn) return
  const free = await freeBytes()
  const needed = bytes + SPARE_BYTES
  if (free >= needed) return
  throw new Error(
    `${what} needs ${inGiB(needed)} GiB in ${tmpdir()}, which has ${inGiB(free)} GiB free. Make room, set TMPDIR, or choose a smaller --history or --hold.`,
  )
}

/** Whether our own server's disk is nearly full. */
export async function isSpaceShort(bench: Bench): Promise<boolean> {
  return bench.server.isOwn && (await freeBytes()) < SPARE_BYTES / 2
}

async function freeBytes(): Promise<number> {
  const { bavail, bsize } = await statfs(tmpdir())
  return bavail * bsize
}

function inGiB(bytes: number): string {
  return (bytes / GIB).toFixed(1)
}
