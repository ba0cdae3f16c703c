// Default imports: a bundler for browsers puts an empty module in their place, which has no names to import.
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { BelayError } from '@belay/workflow/adapter'

/** A directory that this process has to itself. */
export interface DirectoryLock {
  /** The directory's real path. */
  readonly directory: string
  release(): void
}

interface Holder {
  readonly pid: number
  /** When that process started, as the system counts; null where it doesn't say. Tells a process from a later one with its id. */
  readonly processStartedAt: string | null
  /** Makes each lock another, so that one that was released and taken again is never mistaken for the old one. */
  readonly token: string
}

// Each try ends because another process moved in between, so more than a few mean that something else is wrong.
const TRIES_MAX = 20

/**
 * Takes a directory for this process, or throws `directory_in_use` with the holder. PGlite itself lets two processes open one directory,
 * and corrupt it. The lock is a file beside the directory. One whose process is gone, also by SIGKILL, is taken over at once.
 */
export function lockDirectory(wanted: string): DirectoryLock {
  fs.mkdirSync(wanted, { recursive: true })
  // By its real path: another path to the same directory must meet the same lock.
  const directory = fs.realpathSync(wanted)
  const file = `${directory}.lock`
  const own: Holder = {
    pid: process.pid,
    processStartedAt: startOf(process.pid),
    token: crypto.randomUUID(),
  }
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    if (createWith(file, own)) return held(directory, file, own)
    const holder = read(file)
    if (holder === null) continue
    if (isAlive(holder)) throw inUse(directory, file, holder)
    removeStale(file, holder)
  }
  throw new BelayError(
    'directory_in_use',
    `The directory ${directory} could not be locked: other processes keep taking its lock file ${file}. Let one process use it at a time, and try again.`,
  )
}

function held(directory: string, file: string, own: Holder): DirectoryLock {
  const release = () => {
    process.removeListener('exit', release)
    if (read(file)?.token === own.token) fs.rmSync(file, { force: true })
  }
  process.on('exit', release)
  return { directory, release }
}

/** Creates a file with its content in one step, so that nobody ever reads half of it. False when it is there already. */
function createWith(file: string, holder: Holder): boolean {
  const draft = `${file}.${holder.token}`
  fs.writeFileSync(draft, JSON.stringify(holder))
  try {
    fs.linkSync(draft, file)
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  } finally {
    fs.rmSync(draft, { force: true })
  }
}

/**
 * Removes the lock of a process that is gone. Several processes may find it at once, and the slowest must not remove what the fastest has
 * put in its place: so there is a second lock, for removing this very one, under which the first is read again.
 */
function removeStale(file: string, stale: Holder): void {
  const guard = `${file}.${stale.token}.removal`
  const own: Holder = { ...stale, pid: process.pid, processStartedAt: startOf(process.pid) }
  if (!createWith(guard, { ...own, token: crypto.randomUUID() })) {
    const remover = read(guard)
    // It was killed between two lines of this function.
    if (remover !== null && !isAlive(remover)) fs.rmSync(guard, { force: true })
    return
  }
  if (read(file)?.token === stale.token) fs.rmSync(file, { force: true })
  fs.rmSync(guard, { force: true })
}

function read(file: string): Holder | null {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Holder
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null
    throw error
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    // Not permitted to signal it, so it is there, and somebody else's.
    if (!isCode(error, 'EPERM')) return false
  }
  // A killed process answers to signals until its parent takes note of its end, which in containers may be late or never.
  if (fieldOf(holder.pid, STATE)?.match(/[ZX]/i)) return false
  const startedAt = startOf(holder.pid)
  return startedAt === null || holder.processStartedAt === null || startedAt === holder.processStartedAt
}

/** When a process started, in ticks since the system did; null where there is no /proc. */
function startOf(pid: number): string | null {
  return fieldOf(pid, STARTED_AT)
}

const STATE = 3
const STARTED_AT = 22

/** A field of what the system says of a process, counted from 1 as its manual does; from the third on. */
function fieldOf(pid: number, field: number): string | null {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name, which may hold spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field - 3] ?? null
  } catch {
    return null
  }
}

function inUse(directory: string, file: string, holder: Holder): BelayError {
  const who = holder.pid === process.pid ? 'this process' : `process ${holder.pid}`
  return new BelayError(
    'directory_in_use',
    `The directory ${path.relative('.', directory) || directory} is in use by ${who} (lock file ${file}). Only one process can work on it at a time: stop that one, choose another directory, or use PostgreSQL to share a store between processes.`,
  )
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
