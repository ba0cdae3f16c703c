// Default imports: bundlers for browsers replace these modules by an empty one, which has no names to import.
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { BelayError } from '@belay/workflow/adapter'

/** A directory that only this process uses. */
export interface DirectoryLock {
  /** The directory's real path. */
  readonly directory: string
  release(): void
}

interface Holder {
  readonly pid: number
  /** When the process started, by the system's count; null if unknown. Distinguishes a process from a later one with the same id. */
  readonly processStartedAt: string | null
  /** Unique for each lock: a lock that was released and taken again is never mistaken for the old one. */
  readonly token: string
}

// Each try fails because another process intervened, so more than a few failures mean that something else is wrong.
const TRIES_MAX = 20

/**
 * Locks a directory for this process, or throws `directory_in_use` and names the holder. PGlite itself lets two processes open one directory and
 * corrupt it. The lock is a file beside the directory. If its process is gone, even by SIGKILL, the lock is taken over at once.
 */
export function lockDirectory(wanted: string): DirectoryLock {
  fs.mkdirSync(wanted, { recursive: true })
  // By its real path: two paths to the same directory must use the same lock.
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
    `The directory ${directory} could not be locked: other processes keep taking its lock file ${file}.`,
    { remedy: 'Let only one process use it, and try again.' },
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

/** Creates a file and its content atomically, so that nobody reads half of it. Returns false if the file exists already. */
function createWith(file: string, holder: Holder): boolean {
  const draft = `${file}.${holder.token}`
  try {
    // On a full disk this makes the file, and then fails.
    fs.writeFileSync(draft, JSON.stringify(holder))
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
 * Removes the lock of a process that is gone. Several processes may find it at once, and a slow one must not remove the new lock that a fast one has
 * created. So a second lock guards the removal of exactly this lock, and the lock is read again under it.
 */
function removeStale(file: string, stale: Holder): void {
  const guard = `${file}.${stale.token}.removal`
  const own: Holder = { ...stale, pid: process.pid, processStartedAt: startOf(process.pid) }
  if (!createWith(guard, { ...own, token: crypto.randomUUID() })) {
    const remover = read(guard)
    // The process was killed between two lines of this function.
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
    // No permission to signal it: so it exists, and belongs to another user.
    if (!isCode(error, 'EPERM')) return false
  }
  // A killed process still answers signals until its parent reaps it, which may be late or never in containers.
  if (fieldOf(holder.pid, STATE)?.match(/[ZX]/i)) return false
  const startedAt = startOf(holder.pid)
  return startedAt === null || holder.processStartedAt === null || startedAt === holder.processStartedAt
}

/** When a process started, in ticks since the system started; null without /proc. */
function startOf(pid: number): string | null {
  return fieldOf(pid, STARTED_AT)
}

const STATE = 3
const STARTED_AT = 22

/** A field of /proc/…/stat, from the third on. Fields count from 1, as in proc(5). */
function fieldOf(pid: number, field: number): string | null {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name, which may contain spaces and parentheses.
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
