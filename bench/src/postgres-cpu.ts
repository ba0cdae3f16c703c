import { readdir, readFile } from 'node:fs/promises'
import { withClient } from './database.ts'

// The unit of the times in /proc, in every distribution of Linux.
const TICKS_PER_SECOND = 100

/** Returns the CPU time of all processes of a server so far, in milliseconds, including ended ones. */
export type CpuMeter = () => Promise<number>

/** A meter for our own server; undefined if its processes cannot be read. */
export async function openCpuMeter(server: { url: string; isOwn: boolean }): Promise<CpuMeter | undefined> {
  if (!server.isOwn || process.platform !== 'linux') return undefined
  try {
    const postmaster = await findPostmaster(server.url)
    const meter = () => cpuOf(postmaster)
    await meter()
    return meter
  } catch {
    return undefined
  }
}

async function findPostmaster(url: string): Promise<number> {
  const backend = await withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return readProcess(rows[0]!.pid)
  })
  return backend.parent
}

async function cpuOf(postmaster: number): Promise<number> {
  const folders = await readdir('/proc')
  const pids = folders.map(Number).filter((pid) => pid > 0)
  // A process may be gone before it is read. Then its time is included in its parent's.
  const living = await Promise.all(pids.map((pid) => readProcess(pid).catch(() => undefined)))
  const parent = await readProcess(postmaster)
  const ticks = living
    .filter((entry) => entry?.parent === postmaster)
    .reduce((sum, entry) => sum + entry!.ticks, parent.ticks + parent.childrenTicks)
  return (ticks / TICKS_PER_SECOND) * 1_000
}

async function readProcess(pid: number): Promise<{ parent: number; ticks: number; childrenTicks: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  // The name comes first, in parentheses, and may contain anything. The state is the first field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number)
  return {
    parent: Number(fields[1]),
    ticks: user! + system!,
    childrenTicks: childrenUser! + childrenSystem!,
  }
}
